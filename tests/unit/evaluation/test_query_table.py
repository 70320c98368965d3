"""The table of queries: what every number is a mean of, readable by other programs."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("cases.py"))))
COLUMNS = {
    *("task", "encoder", "source", "target", "measure", "seed", "query", "item"),
    *("cluster", "retrieved", "retrieved_cluster", "above", "tied", "value"),
}


@pytest.fixture
def case():
    """A case whose texts of both languages have the same ids, as in the wide form."""
    rng = np.random.default_rng(1)
    manifest = Manifest.of([{"id": f"i{i}", "text_en": f"e{i}", "text_de": f"d{i}"} for i in range(24)])
    texts = {"plain": rng.standard_normal((48, 5)).astype(np.float32)}
    return shared.Case(manifest, texts, rng.standard_normal((24, 5)).astype(np.float32)[manifest.item])


def test_its_words_are_distinct_so_that_other_programs_can_read_it(case):
    results = backretrieval(
        case.manifest, text_encoders=case.encoders(), image_encoder=case.image_encoder, measures=["R@3"]
    )
    frame = results.per_query.to_pandas()
    assert set(frame.columns) == COLUMNS
    for row, found in zip(results.per_query.to_pylist(), frame.itertuples(), strict=True):
        assert (row["query"], row["retrieved"]) == (found.query, found.retrieved)


def test_it_tells_the_way_of_each_query(case):
    results = backretrieval(
        case.manifest,
        text_encoders=case.encoders(),
        image_encoder=case.image_encoder,
        measures=["R@3"],
        pairs="de-en",
    )
    (entry, _) = results.entries
    sample = case.sample(entry)
    cosines = shared.oracle.cosines(case.texts["plain"][sample.source], case.texts["plain"][sample.target])
    rows = [row for row in results.per_query.to_pylist() if row["measure"] == "R@3"]
    assert [row["query"] for row in rows] == [case.manifest.ids[r] for r in sample.source]
    assert [row["item"] for row in rows] == [row["query"] for row in rows]
    nearest = sample.target[cosines.argmax(axis=1)]
    assert [row["retrieved"] for row in rows] == [case.manifest.ids[r] for r in nearest]
    assert all(row["value"] == float(row["above"] < 3) and row["tied"] == 1 for row in rows)
    assert {row["seed"] for row in rows} == {0}


def test_retrieval_tells_ranks(case):
    results = crosslingual_retrieval(
        case.manifest, text_encoders=case.encoders(), measures=["RR"], pairs="en-de"
    )
    for row in results.per_query.to_pylist():
        assert row["retrieved"] is None
        assert row["value"] == pytest.approx(1 / (row["above"] + 1))
