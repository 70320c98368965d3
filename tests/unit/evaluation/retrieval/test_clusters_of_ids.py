"""Clusters of queries that are ids alone, from a table that may lack some."""

import pytest

from xlingual import runs_against_qrels
from xlingual.data.runs.qrels import query_table
from xlingual.errors import DataWarning, InputError

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d1": 1}}
RUN = {query: {"d1": 2.0, "d2": 1.0} for query in QRELS}


def test_queries_without_a_cluster_are_counted():
    runs_against_qrels(QRELS, {"r": RUN}, measures="R@1", clusters=dict.fromkeys(QRELS, "c"))
    with pytest.warns(DataWarning, match="clusters: 1 of 3 queries of qrels have none"):
        runs_against_qrels(QRELS, {"r": RUN}, measures="R@1", clusters={"q1": "c", "q2": "c"})


@pytest.mark.parametrize("text", ["", "query\tcluster\n"])
def test_a_table_without_rows_is_refused(tmp_path, text):
    path = tmp_path / "queries.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match="holds no rows"):
        query_table(path)
