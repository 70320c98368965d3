"""Ranking by a search: what it finds is scored exactly, the rest is taken to be below."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from xlingual import extras
from xlingual.errors import InputError, MissingExtraError
from xlingual.ranking import (
    Cosine,
    Counts,
    Cpu,
    GivenScores,
    GroupCounts,
    Top,
    Transposed,
    UnitVectors,
)
from xlingual.ranking.approximate import Approximate, Search

pytest.importorskip("faiss", reason="the extra ann is not installed")

PROPERTIES = runpy.run_path(str(Path(__file__).parents[2] / "properties" / "test_ranking.py"))
KINDS, vectors = PROPERTIES["KINDS"], PROPERTIES["vectors"]
N, M, D = 90, 160, 12
EVERYTHING = 10**6


def similarity(kind="random", seed=0, n=N, m=M):
    rng = np.random.default_rng(seed)
    candidates = vectors(kind, rng, m, D)
    return Cosine(UnitVectors(vectors(kind, rng, n, D)), UnitVectors(candidates))


def requests(over, weights=None, k=3):
    rng = np.random.default_rng(1)
    n, m = over.shape
    query, target = rng.integers(0, n, 200), rng.integers(0, m, 200)
    return [
        Top(k, over.shape, weights=weights, queries=np.arange(0, n, 2)),
        Counts.of(over, query, target, weights=weights),
        Transposed(Top(1, over.shape[::-1])),
    ]


def answers(made):
    top, counts, turned = made
    lists = [
        np.stack([found.query, found.candidate, found.weight, found.above, found.tied])
        for found in (top.result(), turned.inner.result())
    ]
    return [*lists, counts.above, counts.tied]


def ranked(ranker, over, **how):
    made = requests(over, **how)
    ranker.scan(over, made)
    return answers(made)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.cases(6)
def test_an_index_that_is_searched_whole_gives_the_exact_answer(kind, weighted):
    weights = np.random.default_rng(2).integers(0, 3, M) if weighted else None
    whole = Approximate(depth=M, search=Search(probes=EVERYTHING), least=1)
    exact = ranked(Cpu(), similarity(kind), weights=weights)
    for one, other in zip(exact, ranked(whole, similarity(kind), weights=weights), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_graph_that_is_searched_whole_gives_the_exact_answer():
    whole = Approximate(depth=M, search=Search("hnsw", M), least=1)
    exact = ranked(Cpu(), similarity())
    for one, other in zip(exact, ranked(whole, similarity()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_not_found_is_below():
    over = similarity(n=300, m=600)
    exact, found = requests(over), requests(over)
    Cpu().scan(over, exact)
    Approximate(depth=20, search=Search(probes=2), least=1).scan(over, found)
    assert (found[1].above <= exact[1].above).all()
    assert (found[1].above < exact[1].above).any()
    assert found[1].above.max() <= 20
    few = exact[1].above < 3  # where nearly nothing is above, nearly nothing can be missed
    assert np.abs(found[1].above - exact[1].above)[few].max() < 3
    np.testing.assert_array_equal(found[1].keys_given, exact[1].keys_given)
    assert found[1].tied.min() >= 1


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
@pytest.mark.cases(1)
def test_threads_and_repetition_change_nothing(kind):
    def run(threads):
        ranker = Approximate(depth=10, search=Search(kind, 2), least=1, threads=threads)
        return ranked(ranker, similarity(n=2500, m=1500))

    first = run(1)
    for threads in (1, 3):
        for one, other in zip(first, run(threads), strict=True):
            np.testing.assert_array_equal(one, other)


def test_another_seed_gives_another_index():
    def above(seed):
        over = similarity(n=400, m=900)
        made = requests(over)
        Approximate(depth=5, search=Search("ivf", 1, seed), least=1).scan(over, made)
        return made[1].above

    assert (above(0) != above(1)).any()


def test_the_index_of_the_same_candidates_is_built_once(monkeypatch):
    built = []
    from xlingual.ranking.approximate import ranker as module

    usual = module.build
    monkeypatch.setattr(module, "build", lambda *given: built.append(1) or usual(*given))
    ranker = Approximate(depth=5, least=1)
    raw = np.random.default_rng(0).standard_normal((M, D)).astype(np.float32)
    for _ in range(2):
        over = Cosine(UnitVectors(raw), UnitVectors(raw))
        ranker.scan(over, [Top(1, over.shape)])
    assert len(built) == 1
    other = Cosine(UnitVectors(raw), UnitVectors(raw, np.arange(M - 1)))
    ranker.scan(other, [Top(1, other.shape)])
    assert len(built) == 2


def test_groups_of_candidates_have_an_index_each():
    over = similarity(n=200, m=400)
    weights = (np.arange(400) % 4 == 0).astype(np.int64)
    made, exact = Top(1, over.shape, weights=weights), Top(1, over.shape, weights=weights)
    Approximate(depth=1, search=Search(probes=EVERYTHING), least=1).scan(over, [made])
    Cpu().scan(over, [exact])
    np.testing.assert_array_equal(made.result().candidate, exact.result().candidate)


class Counted(Cpu):
    def scan(self, similarity, reductions, *, progress=None):
        self.seen.append(len(reductions))
        super().scan(similarity, reductions, progress=progress)


def counted():
    inner = Counted()
    object.__setattr__(inner, "seen", [])
    return inner


def test_few_candidates_and_given_scores_are_ranked_exactly():
    inner = counted()
    ranker = Approximate(inner, least=M + 1)
    over = similarity(n=M + 5)  # rows are enough for an index, columns are not
    made = requests(over)
    ranker.scan(over, made)
    assert inner.seen == [2]
    scores = np.random.default_rng(0).standard_normal((N, M))
    given = GivenScores((N, M), lambda rows, columns: scores[np.ix_(rows, columns)])
    Approximate(inner, least=1).scan(given, [Top(1, given.shape)])
    assert inner.seen == [2, 1]


def test_a_reduction_that_needs_every_candidate_is_refused():
    over = similarity()
    groups = GroupCounts.of(over, np.array([0]), np.array([0]), np.array([0, 10, M]))
    with pytest.raises(InputError, match="this evaluation needs all of them"):
        Approximate(least=1).scan(over, [groups])


def test_more_than_the_depth_is_refused():
    with pytest.raises(InputError, match="raise the depth to 30"):
        Approximate(depth=20, least=1).scan(similarity(), [Top(30, (N, M))])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"depth": 0}, "depth must be 1"),
        ({"check": 5}, "check must be 100"),
        ({"candidates": 1}, "candidates must be 100"),
    ],
)
def test_settings_that_cannot_be(given, words):
    with pytest.raises(InputError, match=words):
        Approximate(**given)


@pytest.mark.parametrize(("kind", "probes", "words"), [("flat", None, "not known"), ("ivf", 0, "1 probe")])
def test_searches_that_cannot_be(kind, probes, words):
    with pytest.raises(InputError, match=words):
        Search(kind, probes)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(extras, "_installed", lambda package: package != "faiss-cpu")
    with pytest.raises(MissingExtraError, match=r"faiss-cpu.*xlingual\[ann\]"):
        Approximate()


def test_sizes_follow_the_rules():
    assert [Search.lists(n) for n in (1, 38, 780, 10_000, 1_000_000)] == [1, 1, 20, 256, 4000]
    assert Search().probes_of(1_000_000, 100) == 253
    assert Search(probes=9999).probes_of(10_000, 100) == 256
    assert Search("hnsw").probes_of(10_000, 100) == 200
    assert [str(search) for search in (Search(), Search("hnsw", 64), Search(seed=3))] == [
        "ivf",
        "hnsw,probes=64",
        "ivf,seed=3",
    ]


def test_progress_ends_at_all_and_the_work_is_counted():
    steps = []
    over = similarity(n=1100)
    ranker = Approximate(depth=7, search=Search(probes=1), least=1)
    ranker.scan(over, requests(over), progress=lambda done, total: steps.append(done / total))
    assert steps == sorted(steps) and steps[-1] == 1
    assert 0 < over.screened < 2 * 1100 * M  # there and, transposed, back
    assert ranker.about()["search"] == "ivf,probes=1" and ranker.about()["index_lists"] >= 1


def test_deep_searches_are_for_many_candidates():
    assert Approximate().fewest == 30_000
    assert Approximate(depth=1000).fewest == 100_000
    assert Approximate(depth=1000, least=5).fewest == 5
