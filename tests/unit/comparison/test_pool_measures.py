"""Comparing, gating and planning take the measures of a multilingual pool."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs

from xlingual.cli.main import run
from xlingual.comparison.compare import compare
from xlingual.comparison.gate import gate
from xlingual.comparison.plan import plan
from xlingual.comparison.reading import read_aligned
from xlingual.errors import InputError
from xlingual.measures import parse_pool_measures
from xlingual.records import TargetCounts
from xlingual.report import page_of, verdict
from xlingual.report.render.text import as_text
from xlingual.results import Entry, Results
from xlingual.results.gate import Gate
from xlingual.results.views import PoolViews

TASK, N, TARGETS, POOL = "multilingual-pool", 300, 3, 500
MEASURES = parse_pool_measures("AP, AP@20/min, R@10, Success@10")


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
            own = counts.best() if measure.name == "Success@10" else counts
            values = measure.per_query(own)
            signature = f"task:{TASK}|policy:agnostic|measure:{measure.name}|system:|encoder:{encoder}"
            numbers = (measure.aggregate(values), None, 0.01, None, None, None, N, POOL, 0, 0, signature)
            entries.append(
                Entry(TASK, "all", "pool", encoder, None, measure.name, *numbers, views=PoolViews(macro=0.5))
            )
            names = {"task": TASK, "encoder": encoder, "measure": measure.name, "source": "all"}
            columns = {name: [word] * N for name, word in names.items()} | {"target": ["pool"] * N}
            columns |= {"seed": [0] * N, "query": [f"{'ar' if i % 2 else 'de'}:q{i // 2}" for i in range(N)]}
            columns |= {"item": columns["query"], "cluster": np.arange(N) // 4, "value": values}
            columns |= {"retrieved": pa.nulls(N, pa.string()), "retrieved_cluster": pa.nulls(N, pa.int64())}
            columns |= {"above": [0] * N, "tied": [1] * N}
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
    found = compare([folder], measures=["AP", "recall@10"], by=["language"])
    assert {board.measure for board in found.boards} == {"AP", "R@10"}
    text = str(found.to_dict())
    assert "'good'" in text and "'bad'" in text


@pytest.mark.parametrize("measure", [measure.name for measure in MEASURES])
def test_they_are_gated_and_planned(folder, measure):
    worse = gate(folder + "#bad", baseline=folder + "#good", margin=0.01, measure=measure)
    assert worse.outcome == "fail"
    found = plan([folder], effect=0.02, measure=measure)
    assert found.measure == measure and found.rows[0].queries > 0
    assert found.k == (10 if measure in ("R@10", "Success@10") else None)


def test_each_question_language_is_gated(folder, tmp_path):
    good, bad = folder + "#good", folder + "#bad"
    found = gate(good, bad, margin=0.01, by="language", replicates=999)
    assert (found.by, found.per_pair, found.outcome) == ("language", False, "pass")
    assert [(one.part, one.n_queries) for one in found.decisions] == [("ar", N / 2), ("de", N / 2)]
    values = read_aligned([folder], measures=["AP"]).queries[0].slices("language")
    for one in found.decisions:
        assert one.candidate == pytest.approx(values[one.part].means[0], abs=1e-12)
    said = verdict(found)
    assert said[1].startswith("Of 2 slices by language: 2 pass.")
    found.write(tmp_path / "gate.json")
    assert Gate.read(tmp_path / "gate.json") == found


def test_one_language_that_falls_fails_the_gate(tmp_path):
    write(tmp_path / "p", {"old": 5, "new": 5})
    results = Results.read(tmp_path / "p")
    table = results.per_query
    arabic = (table["by.language"].to_numpy() == "ar") & (table["encoder"].to_numpy() == "new")
    value = np.where(arabic, 0.3 * table["value"].to_numpy(), table["value"].to_numpy())
    table = table.set_column(table.schema.get_field_index("value"), "value", pa.array(value))
    encoder, measure = table["encoder"].to_numpy(), table["measure"].to_numpy()
    entries = [
        structs.replace(
            entry, value=float(value[(encoder == entry.encoder) & (measure == entry.measure)].mean())
        )
        for entry in results.entries
    ]
    replace(results, per_query=table, entries=entries).write(tmp_path / "p")
    names = f"{tmp_path / 'p'}#new", f"{tmp_path / 'p'}#old"
    found = gate(*names, margin=0.1, by="language", replicates=999)
    assert [one.outcome for one in found.decisions] == ["fail", found.decisions[1].outcome]
    assert found.decisions[1].outcome != "fail" and found.outcome == "fail"
    assert found.decisions[0].p_fail_adjusted == pytest.approx(min(2 * found.decisions[0].p_fail, 1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"per_pair": True}, "no language pairs.*--by language"),
        ({"per_pair": True, "by": "language"}, "--per-pair and --by language"),
        ({"by": "langauge"}, "no column 'langauge'.*Did you mean 'language'?"),
    ],
)
def test_a_gate_that_cannot_be_divided_so(folder, options, words):
    with pytest.raises(InputError, match=words):
        gate(folder + "#good", folder + "#bad", margin=0.01, **options)


def test_a_plan_tells_clusters(folder, tmp_path):
    found = plan([folder], effect=0.005, measure="AP")
    (row,) = found.rows
    assert (found.n_queries, found.n_clusters) == (N, N / 4)
    assert found.clusters(N) == N / 4 and found.clusters(row.queries) == math.ceil(row.queries / 4)
    said = verdict(found)
    assert f"takes {row.queries:,} queries (about {found.clusters(row.queries):,} clusters); " in said[0]
    assert said[0].endswith("there are 300 (75).")
    assert "further clusters" in " ".join(said)
    alone = structs.replace(found, n_clusters=N)
    assert alone.clusters(N) is None and "cluster" not in " ".join(verdict(alone))
    head, line = (text.split(",") for text in as_text(page_of(found), "csv").splitlines())
    assert dict(zip(head, line, strict=True))["clusters_now"] == "75"


def test_on_the_command_line(folder, tmp_path, capsys):
    assert run(["compare", folder, "--measure", "AP"]) == 0
    assert "AP" in capsys.readouterr().out
    assert run(["plan", folder, "--measure", "AP@20/min", "--effect", "0.02"]) == 0
    assert "AP@20/min" in capsys.readouterr().out
    named = [folder + "#good", folder + "#bad", "--margin", "0.01"]
    assert run(["gate", *named, "--by", "language"]) == 0
    out = capsys.readouterr().out
    assert "language  outcome" in out and [line.split()[:2] for line in out.splitlines()].count(
        ["ar", "pass"]
    )
    assert run(["gate", *named, "--per-pair"]) == 2
    assert "--by language" in capsys.readouterr().err
