"""A search engine's run is evaluated as the encoder whose ranking it holds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from xlingual import (
    DataWarning,
    InputError,
    Manifest,
    backretrieval,
    compare,
    crosslingual_retrieval,
)
from xlingual.data.runs import SearchRun
from xlingual.encoders import text_specs
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.run_systems import joined

N = 30
MEASURES = ("R@1", "R@5", "RR@10")
IMAGES = np.random.default_rng(5).normal(size=(N, 4)).astype(np.float32)
DATA = Manifest.of([{"id": f"p{i}", "text_en": f"word {i}", "text_de": f"wort {i}"} for i in range(N)])
SCORES = st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=5)


@given(SCORES, st.lists(st.integers(0, 6), min_size=5, max_size=5), st.booleans())
def test_lists_give_the_counts_of_the_scores_as_far_as_they_reach(scores, lengths, ended):
    """What a list lacks ties behind it, or is missed where the list has ended."""
    n, table = len(scores), np.array(scores)
    best = [np.argsort(-row, kind="stable")[:length] for row, length in zip(table, lengths, strict=False)]
    query = np.repeat(np.arange(n), [len(row) for row in best])
    candidate = np.concatenate(best)
    lists = Lists(query, candidate, -table[query, candidate], np.full(n, ended), 6)
    is_listed = np.zeros((n, 6), dtype=bool)
    is_listed[query, candidate] = True
    queries, candidates = np.divmod(np.arange(n * 6), 6)
    above, tied = lists.counts(queries, candidates)
    for i, c, n_above, n_tied in zip(queries, candidates, above, tied, strict=True):
        if is_listed[i, c]:
            expected = [
                (is_listed[i] & (table[i] > table[i, c])).sum(),
                (is_listed[i] & (table[i] == table[i, c])).sum(),
            ]
        else:
            expected = [6, 1] if ended else [lengths[i], 6 - lengths[i]]
        assert [n_above, n_tied] == expected
    assert lists.unsettled(3).tolist() == [not ended and length < 3 for length in lengths[:n]]


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(3)
    en = rng.normal(size=(N, 6))
    de = en + 0.7 * rng.normal(size=(N, 6))
    de[4] = de[9]  # two targets tie
    return {"en": en.astype(np.float32), "de": de.astype(np.float32)}


@pytest.fixture(scope="module")
def ranking(vectors):
    """Gives {query: {candidate: score}} by cosine, of the first `depth` candidates."""
    unit = {
        tag: v / np.linalg.norm(v.astype(np.float64), axis=1, keepdims=True) for tag, v in vectors.items()
    }

    def lists(depth=None, source="en", target="de", name="{tag}:p{i}"):
        scores = np.round(unit[source] @ unit[target].T, 9)
        return {
            name.format(tag=source, i=i): {
                name.format(tag=target, i=j): float(row[j]) for j in np.argsort(-row)[:depth]
            }
            for i, row in enumerate(scores)
        }

    return lists


def xlr(systems, **options):
    systems = {name: SearchRun.of(own) if name == "run" else own for name, own in systems.items()}
    return crosslingual_retrieval(
        DATA, systems, **{"pairs": "en-de", "measures": MEASURES, "store": None} | options
    )


def bkr(systems, **options):
    options = {"measures": ("R@3", "RR", "MedR"), "pairs": "en-de", "examples": False} | options
    systems = {name: SearchRun.of(own) if name == "run" else own for name, own in systems.items()}
    return backretrieval(DATA, systems, image_encoder=IMAGES, store=None, **options)


def values(results, encoder):
    return [(e.measure, e.source, e.value, e.ci, e.n_tied) for e in results.entries if e.encoder == encoder]


def by_query(results, encoder):
    columns = ("measure", "query", "seed", "value", "retrieved", "above", "tied")
    return [[row[c] for c in columns] for row in results.per_query.to_pylist() if row["encoder"] == encoder]


def test_a_run_is_evaluated_as_its_encoder(vectors, ranking):
    both = ranking() | ranking(source="de", target="en")
    for found in (
        xlr({"v": vectors, "run": ranking(12)}),
        xlr({"v": vectors, "run": ranking()}, measures=["RR", "MedR"]),
        bkr({"v": vectors, "run": both}, seeds=2, pairs=None),
    ):
        assert values(found, "run") == values(found, "v") and by_query(found, "run") == by_query(found, "v")
    deep, whole = (bkr({"run": ranking(depth)}, measures="R@3") for depth in (20, None))
    assert values(deep, "run") == values(whole, "run")


def test_queries_without_results_are_misses_that_results_and_comparisons_count(vectors, ranking):
    gone = {f"p{i}" for i in range(0, N, 3)}
    few = {query: own for query, own in ranking().items() if query[3:] not in gone}
    for task in (xlr, bkr):
        with pytest.warns(DataWarning, match="of en-de have no results: they count as misses") as said:
            found = task({"vectors": vectors, "run": few})
        assert found.warnings == [str(said[0].message)] and len(said) == 1
        rows = by_query(found, "run"), by_query(found, "vectors")
        queries = {query for _, query, *_ in rows[0]}
        count, n = len(queries & gone), len(queries)
        for own, whole in zip(*rows, strict=True):
            worst = n + 1 if own[0] == "MedR" else 0.0
            assert own[3] == (worst if own[1] in gone else whole[3])
        assert {e.encoder: e.n_unanswered for e in found.entries} == {"vectors": UNSET, "run": count}
        assert any(f"no results for {count} of {n} queries" in note for note in compare([found]).notes)


def test_what_a_short_run_cannot_tell_is_refused(ranking):
    assert xlr({"run": ranking(5)}, measures=["R@5"]).entries
    (entry,) = xlr({"run": ranking(1)}, measures=["R@1"]).entries
    assert entry.n_tied == 0  # what lists lack is in no known order, which is no tie
    with pytest.raises(InputError, match=r"30 of 30 lists end before rank 10, so R@10 .* up to rank 5"):
        xlr({"run": ranking(5)}, measures=["R@10"])
    for measure in ("RR", "MedR"):
        with pytest.raises(InputError, match=f"end before the last candidate, so {measure} is not known"):
            xlr({"run": ranking(5)}, measures=[measure])
    with pytest.raises(InputError, match="lists end before any of the targets"):
        bkr({"run": ranking(1)}, measures="R@3")


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"x": {"de:p1": 1.0}}, r"none of its 1 queries is known \(first: 'x'\)"),
        ({"en:p1": {"x": 1.0}}, r"none of its 1 candidates is known \(first: 'x'\)"),
        ({"de:p1": {"de:p1": 1.0}}, "none of its 1 queries is one of en-de"),
        ({"en:p1": {"de:p1": 1.0, "p1": 0.5}}, "two names of its candidates are of one text"),
        (
            {f"en:p{i}": {"en:p1": 1.0} for i in range(N)},
            "none of its results is a candidate of en-de",
        ),
    ],
)
def test_runs_that_do_not_belong_to_the_data(lists, message):
    with pytest.raises(InputError, match=message):
        xlr({"run": lists}, measures=["R@1"])


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ("engine=a/bm25.trec", {"engine": "run:a/bm25.trec"}),
        ("a/bm25.{source}-{target}.trec.gz", {"bm25": "run:a/bm25.{source}-{target}.trec.gz"}),
        (Path("a/dense.parquet"), {"dense": "run:a/dense.parquet"}),
        (["a/bm25.run", "x=run:b.json?latency=3"], {"bm25": "run:a/bm25.run", "x": "run:b.json?latency=3"}),
        ({"x": "b.json?latency=3"}, {"x": "run:b.json?latency=3"}),
        ("folder/a=b/run.trec", {"run": "run:folder/a=b/run.trec"}),
    ],
)
@pytest.mark.parametrize("encoders", [(), {"other": "random:?dim=8"}, "other=random:?dim=8"])
def test_files_are_named_by_their_users_or_by_themselves(runs, expected, encoders):
    before = {} if encoders == () else {"other": "random:?dim=8"}
    found = text_specs(joined(encoders, runs), languages=["en", "de"])
    assert list(found.items()) == list((before | expected).items())


@pytest.mark.parametrize(
    ("encoders", "runs", "message"),
    [
        ((), (), "text_encoders=… or runs=… is missing"),
        ("x=random", "x=a.trec", "two encoders or runs are named 'x'"),
        ((), {"x": {"de:1": 1.0}}, "x: the results of query 'de:1' are 1.0"),
        ((), {"x": 3}, "a run is a file, or .* found a int"),
    ],
)
def test_what_names_no_system_is_refused(encoders, runs, message):
    with pytest.raises(InputError, match=message):
        text_specs(joined(encoders, runs), languages=["en", "de"])
