"""Every ranker gives the float64 reference's answer, for every kind of vectors and every reduction.

A new back end adds its rankers to `RANKERS`.
"""

from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xlingual.ranking.resume import Kept

from xlingual.ranking import (
    Adjusted,
    Cosine,
    Counts,
    Cpu,
    GivenScores,
    GroupCounts,
    Offsets,
    Top,
    Transposed,
    UnitVectors,
    reference,
)

SHARED = run_path(str(Path(__file__).parents[1] / "properties" / "test_ranking.py"))
vectors, KINDS, listed = SHARED["vectors"], SHARED["KINDS"], SHARED["listed"]
group_bounds, reference_group_counts = SHARED["group_bounds"], SHARED["reference_group_counts"]


def torch_ranker(device="cpu", **options):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine: its tiles are tested where there is one")
    from xlingual.ranking.torch import TorchRanker

    return TorchRanker(device, **options)


def ray_ranker(**options):
    """Return a ranker of clusters whose tasks run here, at once, and are lost now and then."""
    from xlingual.ranking.cluster import RayRanker

    made = RayRanker(None, None, **options)
    made._ray, made.machines = STANDIN["Ray"](lose=lambda number, job: number % 7 == 3), 1
    return made


STANDIN = run_path(
    str(Path(__file__).parents[1] / "unit" / "ranking" / "cluster" / "standin.py"), run_name="standin"
)
PARTS = TemporaryDirectory()  # one for all: no answer may be found there that is of another question
SMALL = 16000  # bytes: tiles of a few rows, candidates in several blocks
RANKERS = {
    "cpu": lambda: Cpu(),
    "cpu, small tiles, threads": lambda: Cpu(3, 700),
    "torch fp16": lambda: torch_ranker(precision="fp16"),
    "torch fp16, streamed": lambda: torch_ranker(precision="fp16", memory=SMALL),
    "torch bf16": lambda: torch_ranker(precision="bf16"),
    "torch bf16, streamed": lambda: torch_ranker(precision="bf16", memory=SMALL),
    "torch fp32": lambda: torch_ranker(precision="fp32"),
    "torch fp32, streamed": lambda: torch_ranker(precision="fp32", memory=SMALL, threads=2),
    "cuda fp16": lambda: torch_ranker("cuda", precision="fp16"),
    "cuda fp16, streamed": lambda: torch_ranker("cuda", precision="fp16", memory=SMALL),
    "cuda bf16": lambda: torch_ranker("cuda", precision="bf16"),
    "cuda fp32": lambda: torch_ranker("cuda", precision="fp32"),
    "ray": lambda: ray_ranker(),
    "ray, small shards": lambda: ray_ranker(sides=(20, 25)),
    "kept": lambda: Kept(Cpu(2, 700), PARTS.name, least=0, block=1),
}
EXTREME = {
    "subnormal": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.integers(-9, 1, (n, d)),
    "huge": lambda rng, n, d: rng.standard_normal((n, d)) * 1e30,
    "tiny": lambda rng, n, d: rng.standard_normal((n, d)) * 1e-38,
    "one large": lambda rng, n, d: np.where(np.arange(d) == 0, 1e6, rng.standard_normal((n, d))),
    "some zero": lambda rng, n, d: rng.standard_normal((n, d)) * (rng.random((n, 1)) < 0.5),
    "half precision": lambda rng, n, d: rng.standard_normal((n, d)).astype(np.float16),
    "double precision": lambda rng, n, d: rng.standard_normal((n, d)),
}


@pytest.fixture(params=RANKERS)
def ranker(request):
    return RANKERS[request.param]()


class Sorted:
    """A reduction of somebody's own: for each query its exact keys, in order."""

    def __init__(self, shape):
        self.keys = np.zeros(shape, dtype=np.int64)

    def within(self, rows, columns):
        part = Sorted(self.keys[rows, columns].shape)
        part.first = rows.start
        return part

    def update(self, tile):
        i, j = (index.ravel() for index in np.indices(tile.scores.shape))
        keys = tile.exact(i + tile.row, j + tile.column)
        assert (np.abs(keys * 1e-9 - tile.scores[i, j]) <= tile.band / 2).all()
        self.keys[i + tile.row - self.first, j + tile.column] = keys

    def merge(self, parts):
        for part in parts:
            self.keys[part.first : part.first + len(part.keys)] = part.keys

    def result(self):
        return np.sort(self.keys, axis=1)


def check(ranker, queries, candidates, weights, rng, k=3, cap=1000):
    """Let a ranker fill every reduction in one pass, and hold each against the reference."""
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    keys = reference.keys(queries, candidates)
    n, m = keys.shape
    query, target = rng.integers(0, n, 30), rng.integers(0, m, 30)
    back = rng.integers(0, n, 30)
    bounds, bounds_back = group_bounds(rng, m), group_bounds(rng, n)
    some = np.unique(rng.integers(0, n, 4))
    offsets = any_offsets(rng, m)
    less = offsets.scale * keys - offsets.candidates
    made = {
        "top": Top(k, (n, m), weights=weights, cap=cap),
        "top of some": Top(1, (n, m), queries=some),
        "counts": Counts.of(similarity, query, target, weights=weights),
        "one each": Counts.of(similarity, np.arange(n), target[np.arange(n) % 30]),
        "groups": GroupCounts.of(similarity, query, target, bounds, weights=weights),
        "turned top": Top(k, (m, n), cap=cap),
        "turned counts": Counts(target, back, similarity.exact(back, target)),
        "turned groups": GroupCounts(target, back, similarity.exact(back, target), bounds_back),
        "less top": Top(k, (n, m), weights=weights, cap=cap),
        "less counts": Counts(query, target, offsets.exact(similarity, query, target), weights=weights),
        "less groups": GroupCounts(query, target, offsets.exact(similarity, query, target), bounds),
        "less turned top": Top(k, (m, n), cap=cap),
        "own": Sorted((n, m)),
    }
    asked = [Transposed(one) if "turned" in name else one for name, one in made.items()]
    asked = [
        Adjusted(one, offsets) if name.startswith("less") else one
        for name, one in zip(made, asked, strict=True)
    ]
    if hasattr(ranker, "forget"):  # a reduction of somebody's own would have all ranked in one go
        ranker.scan(similarity, [asked.pop()])
    ranker.scan(similarity, asked)
    for name, which, k_best, held in (
        ("top", keys, k, weights),
        ("top of some", keys, 1, None),
        ("turned top", keys.T, k, None),
        ("less top", less, k, weights),
        ("less turned top", less.T, k, None),
    ):
        expected = {
            q: sorted(lines)
            for q, lines in enumerate(reference.top(which, k_best, held))
            if lines and (name != "top of some" or q in some)
        }
        found = {q: sorted(lines) for q, lines in listed(made[name].result()).items()}
        assert found == expected, name
    for name, which, pairs, held in (
        ("counts", keys, (query, target), weights),
        ("one each", keys, (np.arange(n), target[np.arange(n) % 30]), None),
        ("turned counts", keys.T, (target, back), None),
        ("less counts", less, (query, target), weights),
    ):
        found = made[name].above, made[name].tied
        np.testing.assert_array_equal(found, counted(which, *pairs, held), err_msg=name)
    for name, which, pairs, edges, held in (
        ("groups", keys, (query, target), bounds, weights),
        ("turned groups", keys.T, (target, back), bounds_back, None),
        ("less groups", less, (query, target), bounds, None),
    ):
        expected = grouped(which, *pairs, edges, held)
        for one, other in zip(made[name].result(), expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)
    np.testing.assert_array_equal(made["own"].result(), np.sort(keys, axis=1))
    return similarity


def any_offsets(rng, m):
    """Return offsets as a repair of hubs has them: some equal, some apart by less than any screen sees."""
    taken_off = rng.integers(-3, 4, m) * 250_000_000 + rng.integers(-2, 3, m)
    return Offsets(int(rng.integers(1, 3)), taken_off)


def counted(keys, query, target, weights):
    """Return the reference's counts; a target that is not in the group does not tie with itself."""
    return reference.counts(keys, query, target, weights)


def grouped(keys, query, target, bounds, weights):
    return reference_group_counts(keys, query, target, bounds, weights)


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.sampled_from([None, 2, 4]), st.integers(1, 12))
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(8)
def test_any_vectors(name, seed, kind, weighted, k):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(1, 40), rng.integers(1, 60), rng.integers(1, 24)
    candidates = vectors(kind, rng, m, d)
    queries = vectors(kind, rng, n, d)
    queries = queries[:, ::-1].copy() if kind == "orthogonal" else queries
    if kind == "duplicated":
        queries[: min(n, m)] = candidates[: min(n, m)]
    weights = None if weighted is None else rng.integers(0, weighted, m)
    if weights is not None:
        weights[rng.integers(m)] = 1
    check(RANKERS[name](), queries, candidates, weights, rng, k)


@pytest.mark.parametrize(
    ("kind", "d"),
    [
        pytest.param(kind, d, marks=() if i % 3 == j else pytest.mark.slow)
        for i, kind in enumerate(EXTREME)
        for j, d in enumerate((1, 7, 300))
    ],
)
@pytest.mark.cases(16)
def test_extreme_vectors(ranker, kind, d):
    rng = np.random.default_rng(d)
    sides = [EXTREME[kind](rng, size, d) for size in (33, 57)]
    if kind not in ("half precision", "double precision"):
        sides = [side.astype(np.float32) for side in sides]
    check(ranker, *sides, None, rng)


@pytest.mark.cases(5)
def test_many_dimensions(ranker):
    rng = np.random.default_rng(0)
    sides = [np.abs(rng.standard_normal((size, 4096))).astype(np.float32) for size in (20, 30)]
    check(ranker, *sides, None, rng)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1)])
@pytest.mark.cases(16)
def test_one_query_or_one_candidate(ranker, shape):
    rng = np.random.default_rng(0)
    check(ranker, *(rng.standard_normal((size, 5)).astype(np.float32) for size in shape), None, rng)


@pytest.mark.cases(7)
def test_scores_within_the_error_of_any_screen(ranker):
    """Candidates whose cosines differ by a few 1e-9, so that only float64 tells them apart."""
    rng = np.random.default_rng(1)
    angle = np.pi / 4 + np.concatenate([np.arange(50) * 1.5e-9, rng.random(50) * 1e-7])
    candidates = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    queries = np.stack([np.cos(angle[:20] - 0.7), np.sin(angle[:20] - 0.7)], axis=1)
    similarity = check(ranker, queries, candidates, None, rng)
    assert similarity.decided >= 20


def test_many_candidates_tie_with_the_last_place(ranker):
    """A sample of them is listed, and the others are counted."""
    candidates = np.repeat(np.eye(3, 4, dtype=np.float32), 40, axis=0) * np.arange(1, 121)[:, None]
    queries = np.eye(3, 4, dtype=np.float32)[[0, 2]]
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates.astype(np.float32)))
    plain, found = (Top(2, similarity.shape, cap=7, seed=5) for _ in range(2))
    Cpu().scan(similarity, [plain])
    ranker.scan(similarity, [found])
    assert listed(plain.result()) == listed(found.result())
    assert found.result().unlisted.tolist() == [33, 33]
    assert (found.result().tied == 40).all()


def test_rows_of_a_larger_array_that_is_on_disk(ranker, tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "vectors.npy"
    np.save(path, rng.standard_normal((90, 6)).astype(">f4"))
    raw = np.load(path, mmap_mode="r")
    rows, columns = rng.permutation(90)[:40], rng.permutation(90)[:50]
    similarity = Cosine(UnitVectors(raw, rows), UnitVectors(raw, columns))
    found = Counts.of(similarity, np.arange(40), np.arange(40))
    ranker.scan(similarity, [found])
    expected = reference.counts(reference.keys(raw[rows], raw[columns]), np.arange(40), np.arange(40))
    np.testing.assert_array_equal((found.above, found.tied), expected)


def test_scores_that_are_given(ranker):
    scores = np.random.default_rng(3).random((9, 11))
    similarity = GivenScores(scores.shape, lambda q, c: scores[np.ix_(q, c)])
    found = Top(2, scores.shape)
    ranker.scan(similarity, [found])
    order = np.argsort(-scores, axis=1)[:, :2]
    np.testing.assert_array_equal(found.result().candidate.reshape(9, 2), order)


def test_progress_and_tallies(ranker):
    rng = np.random.default_rng(4)
    similarity = Cosine(*(UnitVectors(rng.standard_normal((size, 8)).astype("f")) for size in (70, 80)))
    steps = []
    found = Counts.of(similarity, np.arange(70), np.arange(70))
    before = similarity.decided
    ranker.scan(similarity, [found], progress=lambda done, every: steps.append((done, every)))
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1] == (5600, 5600)
    assert similarity.screened == 5600
    assert similarity.decided - before >= found.decided >= 0
    assert all(isinstance(value, str | int | float) for value in ranker.about().values())


@pytest.mark.parametrize("weighted", [None, 3])
@pytest.mark.cases(11)
def test_shards_that_are_passes_of_their_own(ranker, weighted):
    """Each pair of shards is ranked as if there were no other; what is seen is put together."""
    rng = np.random.default_rng(5)
    candidates = rng.integers(-2, 3, (90, 4)).astype(np.float32)
    queries = rng.standard_normal((70, 4)).astype(np.float32)
    weights = None if weighted is None else rng.integers(0, weighted, 90)
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    query, target = rng.integers(0, 70, 60), rng.integers(0, 90, 60)
    bounds = group_bounds(rng, 90)

    def requests():
        return [
            Top(3, (70, 90), weights=weights, cap=4),
            Counts.of(similarity, query, target, weights=weights),
            GroupCounts.of(similarity, query, target, bounds, weights=weights),
            Transposed(Top(1, (90, 70))),
        ]

    made, plain = requests(), requests()
    Cpu().scan(similarity, plain)
    for rows in (slice(0, 40), slice(40, 70)):
        seen = []
        for columns in (slice(50, 90), slice(0, 50)):
            shard = Cosine(
                UnitVectors(queries, np.arange(70)[rows]), UnitVectors(candidates, np.arange(90)[columns])
            )
            asked = [one.alone(rows, columns) for one in made]
            ranker.scan(shard, asked)
            seen.append([one.within(rows, columns) for one in made])
            for part, one in zip(seen[-1], asked, strict=True):
                part.restore(one.state())
        for reduction, *parts in zip(made, *seen, strict=True):
            whole = reduction.within(rows, slice(0, 90))
            whole.merge(parts)
            reduction.merge([whole])
    for one, other in ((made[0], plain[0]), (made[3].inner, plain[3].inner)):
        assert listed(one.result()) == listed(other.result())
        np.testing.assert_array_equal(one.result().unlisted, other.result().unlisted)
    np.testing.assert_array_equal((made[1].above, made[1].tied), (plain[1].above, plain[1].tied))
    np.testing.assert_array_equal(made[2].result(), plain[2].result())
