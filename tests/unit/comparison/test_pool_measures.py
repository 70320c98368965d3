"""Comparing, gating and planning take the measures of a multilingual pool."""

import numpy as np
import pyarrow as pa
import pytest

from xlingual.cli.main import run
from xlingual.comparison.compare import compare
from xlingual.comparison.gate import gate
from xlingual.comparison.plan import plan
from xlingual.comparison.reading import read_aligned
from xlingual.measures import parse_pool_measures
from xlingual.records import TargetCounts
from xlingual.results import Entry, Results

TASK, N, TARGETS, POOL = "multilingual-pool", 300, 3, 500
MEASURES = parse_pool_measures("AP, AP@20/min, SetR@10, R@10")


def write(folder, sizes):
    """Write results of encoders whose relevant candidates have ranks of a typical size."""
    query = np.repeat(np.arange(N), TARGETS)
    luck = np.random.default_rng(0).exponential(size=len(query))
    entries, tables = [], []
    for number, (encoder, size) in enumerate(sizes.items()):
        noise = np.random.default_rng(1 + number).exponential(size=len(query))
        place = np.minimum(size * (0.7 * luck + 0.3 * noise), POOL - TARGETS - 1).astype(np.int64)
        counts = TargetCounts(query, place + np.tile(np.arange(TARGETS), N), 0 * place + 1, np.full(N, POOL))
        for measure in MEASURES:
            own = counts.best() if measure.name == "R@10" else counts
            values = measure.per_query(own)
            signature = f"task:{TASK}|policy:agnostic|measure:{measure.name}|system:|encoder:{encoder}"
            numbers = (measure.aggregate(values), None, 0.01, None, None, None, N, POOL, 0, 0, signature)
            entries.append(
                Entry(TASK, "all", "pool", encoder, None, measure.name, *numbers, views={"macro": 0.5})
            )
            names = {"task": TASK, "encoder": encoder, "measure": measure.name, "source": "all"}
            columns = {name: [word] * N for name, word in names.items()} | {"target": ["pool"] * N}
            columns |= {"seed": [0] * N, "query": [f"{'ar' if i % 2 else 'de'}:q{i // 2}" for i in range(N)]}
            columns |= {"item": columns["query"], "cluster": np.arange(N) // 4, "value": values}
            columns |= {"retrieved": pa.nulls(N, pa.string()), "above": [0] * N, "tied": [1] * N}
            columns |= {"by.language": ["ar" if i % 2 else "de" for i in range(N)]}
            tables.append(pa.table(columns))
    Results(entries, [], pa.concat_tables(tables)).write(folder)
    return str(folder)


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "pool", {"good": 5, "bad": 15})


def test_all_measures_are_read_with_their_span(folder):
    aligned = read_aligned([folder])
    assert [queries.measure for queries in aligned.queries] == [measure.name for measure in MEASURES]
    assert not aligned.notes
    for queries in aligned.queries:
        assert queries.span == 1 and len(queries) == queries.n_distinct == N and queries.n_clusters == N / 4
    assert [q.measure for q in read_aligned([folder], measures=["map@20/min"]).queries] == ["AP@20/min"]


def test_they_are_compared(folder):
    found = compare([folder], measures=["AP", "set-recall@10"], by=["language"])
    assert {board.measure for board in found.boards} == {"AP", "SetR@10"}
    text = str(found.to_dict())
    assert "'good'" in text and "'bad'" in text


@pytest.mark.parametrize("measure", [measure.name for measure in MEASURES])
def test_they_are_gated_and_planned(folder, measure):
    worse = gate(folder + "#bad", baseline=folder + "#good", margin=0.01, measure=measure)
    assert worse.outcome == "fail"
    found = plan([folder], effect=0.02, measure=measure)
    assert found.measure == measure and found.rows[0].queries > 0
    assert found.k == (10 if measure == "R@10" else None)


def test_on_the_command_line(folder, tmp_path, capsys):
    assert run(["compare", folder, "--measure", "AP"]) == 0
    assert "AP" in capsys.readouterr().out
    assert run(["plan", folder, "--measure", "AP@20/min", "--effect", "0.02"]) == 0
    assert "AP@20/min" in capsys.readouterr().out
