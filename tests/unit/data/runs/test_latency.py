"""The latency of queries: a column of JSON lines and Parquet, or an option."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import InputError, SearchRun
from xlingual.evaluation.run_systems import RunSystem, systems

LINES = [
    {"query_id": "a", "candidate_id": "x", "score": 2, "latency_ms": 12.5},
    {"query_id": "a", "candidate_id": "y", "score": 1, "latency_ms": 12.5},
    {"query_id": "b", "candidate_id": "x", "score": 1, "latency_ms": 40},
    {"query_id": "c", "candidate_id": "x", "score": 1, "latency_ms": None},
]
KNOWN = {"a": 12.5, "b": 40.0}


def written(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["latency_ms", "took", "took_ms"])
def test_lines_and_tables(tmp_path, name):
    rows = [{name if key == "latency_ms" else key: value for key, value in row.items()} for row in LINES]
    assert SearchRun.read(written(tmp_path / "run.jsonl", rows)).latency == KNOWN
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "run.parquet")
    run = SearchRun.read(tmp_path / "run.parquet")
    assert run.latency == KNOWN
    plain = [{key: value for key, value in row.items() if key != name} for row in rows]
    without = SearchRun.read(written(tmp_path / "plain.jsonl", plain))
    assert without.latency == {} and without.digest == run.digest  # it is no result


def test_objects_of_queries(tmp_path):
    rows = [
        {"query_id": "a", "took": 12.5, "results": [{"id": "x", "score": 1}, {"id": "y", "score": 0}]},
        {"query_id": "b", "took": 40, "results": [{"id": "x", "score": 1}]},
    ]
    assert SearchRun.read(written(tmp_path / "run.jsonl", rows)).latency == KNOWN


@pytest.mark.parametrize("value", [-1, "fast"])
def test_what_is_no_time_is_refused(tmp_path, value):
    rows = [{**LINES[0], "latency_ms": value}]
    with pytest.raises(InputError, match=r"latency of query 'a' is -1: expected milliseconds|'fast'"):
        SearchRun.read(written(tmp_path / "run.jsonl", rows))


def test_the_cost_of_a_system(tmp_path):
    times = np.random.default_rng(0).lognormal(3, 1, 50).tolist()
    rows = [
        {"query_id": f"q{i}", "candidate_id": "x", "score": 1, "latency_ms": value}
        for i, value in enumerate(times)
    ]
    path = written(tmp_path / "run.jsonl", rows)
    cost = RunSystem(SearchRun.read(path)).cost
    assert cost == {
        "latency_ms": pytest.approx(sorted(times)[24] / 2 + sorted(times)[25] / 2, abs=1e-3),
        "latency_ms_95": pytest.approx(np.quantile(times, 0.95), abs=1e-3),
        "latency_ms_mean": pytest.approx(sum(times) / 50, abs=1e-3),
        "queries_timed": 50,
    }
    plain = written(
        tmp_path / "plain.jsonl", [{k: v for k, v in row.items() if k != "latency_ms"} for row in rows]
    )
    assert RunSystem(SearchRun.read(plain)).cost == {}
    (given,) = systems(f"run:{plain}?latency=8.5", languages=["en"]).values()
    assert given.cost == {"latency_ms": 8.5}
    (own,) = systems(f"run:{path}?latency=8.5", languages=["en"]).values()
    assert own.cost == cost  # what was measured wins
