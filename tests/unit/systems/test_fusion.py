"""Fusions rank as slow loops over the same lists do, whatever their parts are and in whatever order."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import DataWarning, InputError, Manifest, backretrieval, crosslingual_retrieval
from xlingual.data.runs import SearchRun
from xlingual.ranking import Cpu, TextPool
from xlingual.ranking.listed import Lists
from xlingual.ranking.vector_lists import vector_lists
from xlingual.systems.fusion import ReciprocalRanks, Scores, fuse

N = 24


def lists_of(rows, m, ended=False):
    """Return Lists of {candidate: score} for each query, equal scores being ties."""
    query, candidate, level, score = [], [], [], []
    for q, row in enumerate(rows):
        levels = sorted(set(row.values()), reverse=True)
        for c in sorted(row, key=lambda c: -row[c]):
            query.append(q)
            candidate.append(c)
            level.append(levels.index(row[c]))
            score.append(row[c])
    columns = (np.array(column, dtype=np.int64) for column in (query, candidate, level))
    return Lists(*columns, np.full(len(rows), ended), m, np.array(score, dtype=float))


def naive_rank(row, c):
    """Return the mean of the ranks that a result has over all orders of those that tie with it."""
    above = sum(s > row[c] for s in row.values())
    tied = sum(s == row[c] for s in row.values())
    return Fraction(sum(range(above + 1, above + tied + 1)), tied)


def naive_points(row, c, points):
    """Transcribe the definitions, a result at a time."""
    if isinstance(points, ReciprocalRanks):
        return float(1 / (points.k + naive_rank(row, c))) if c in row else 0.0
    values = list(row.values()) or [0.0]
    low, high = min(values), max(values)
    if points.scale == "none":
        return row.get(c, min(low, 0.0))
    if points.scale == "minmax":
        return 0.0 if c not in row else 1.0 if high == low else (row[c] - low) / (high - low)
    mean = sum(values) / len(values)
    deviation = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    return 0.0 if high == low else (row.get(c, low) - mean) / deviation


def ranking_of(lists, q):
    """Return (above, tied) of every candidate of a query."""
    every = np.arange(lists.n_candidates)
    return [*zip(*(c.tolist() for c in lists.counts(np.full_like(every, q), every)), strict=True)]


def test_the_zscore_of_one_result_is_zero():
    """One result has no deviation: it counts as what its list lacks, and the other list decides."""
    one, three = lists_of([{4: 7.0}], M), lists_of([{0: 3.0, 1: 2.0, 2: 1.0}], M)
    points, lacking = Scores("zscore").of(one)
    assert (points.tolist(), lacking.tolist()) == ([0.0], [0.0])
    found = fuse([one, three], Scores("zscore"), [1.0, 1.0])
    assert found.candidate.tolist() == [0, 1]  # the last of three has as little as all that is in no list
    assert found.score == pytest.approx([1.5**0.5, 0.0])
    alone = fuse([one, lists_of([{}], M)], Scores("zscore"), [1.0, 1.0])
    assert len(alone.candidate) == 0 and alone.settled.all()


M = 7
ROW = st.dictionaries(st.integers(0, M - 1), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0]), max_size=M)
POINTS = st.sampled_from(
    [ReciprocalRanks(60), ReciprocalRanks(0), *map(Scores, ("minmax", "zscore", "none"))]
)


@settings(max_examples=200, deadline=None)
@given(
    parts=st.lists(st.lists(ROW, min_size=2, max_size=2), min_size=2, max_size=3),
    points=POINTS,
    weights=st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 3),
    ended=st.tuples(*[st.booleans()] * 3),
)
def test_fused_lists_are_those_of_a_loop(parts, points, weights, ended):
    """What is in no list is last with all of its kind, and missed where all lists have ended."""
    lists = [lists_of(rows, M, end) for rows, end in zip(parts, ended, strict=False)]
    found = fuse(lists, points, weights[: len(parts)])
    missing = all(ended[: len(parts)])
    assert (found.ended == missing).all()
    assert (found.settled != missing).all()
    for q in range(2):
        total = all_points = [
            sum(w * naive_points(rows[q], c, points) for w, rows in zip(weights, parts, strict=False))
            for c in range(M)
        ]
        expected = [
            (sum(t > s + 5e-10 for t in total), sum(abs(t - s) < 5e-10 for t in total)) for s in total
        ]
        if missing:
            listed = {c for rows in parts for c in rows[q]}
            total = [total[c] for c in listed]
            expected = [
                (above, sum(abs(t - s) < 5e-10 for t in total)) if c in listed else (M, 1)
                for c, ((above, _), s) in enumerate(zip(expected, all_points, strict=True))
            ]
        assert ranking_of(found, q) == expected


def test_two_lists_by_hand():
    """a is 1st and 3rd, b 2nd and 1st, c only 2nd: b, a, c."""
    one, other = lists_of([{0: 0.9, 1: 0.5}], 4), lists_of([{1: 9.0, 2: 8.0, 0: 1.0}], 4)
    found = fuse([one, other], ReciprocalRanks(60), (1, 1))
    assert found.candidate.tolist() == [1, 0, 2]
    assert found.score.tolist() == pytest.approx([1 / 62 + 1 / 61, 1 / 61 + 1 / 63, 1 / 62])
    assert ranking_of(found, 0)[3] == (3, 1)
    weighted = fuse([one, other], Scores("minmax"), (0.7, 0.3))
    assert weighted.candidate.tolist() == [0, 1, 2]
    assert weighted.score.tolist() == pytest.approx([0.7, 0.3, 0.3 * 7 / 8])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0, 16]))
def test_lists_of_vectors_are_the_first_by_score(depth, seed, tied, few):
    """Both ways: by the ranking core, and by sorting all scores."""
    with patch("xlingual.ranking.vector_lists._FEW", few):
        check_lists_of_vectors(depth, seed, tied)


def check_lists_of_vectors(depth, seed, tied):
    rng = np.random.default_rng(seed)
    queries, candidates = (rng.integers(-2 if tied else -99, 3 if tied else 99, (n, 3)) for n in (5, 9))
    queries[1] = queries[0]
    queries, candidates = (v.astype(np.float32) for v in (queries, candidates))
    found = vector_lists(TextPool.of(queries), TextPool.of(candidates), depth, ranker=Cpu(1))
    unit = [
        v / np.maximum(np.linalg.norm(v.astype(float), axis=1, keepdims=True), 1e-12)
        for v in (queries, candidates)
    ]
    scores = np.round(unit[0] @ unit[1].T, 9)
    for q, row in enumerate(scores):
        own = {c: s for c, s in enumerate(row) if sum(row > s) + sum(row == s) <= depth}
        left_out = {s for c, s in enumerate(row) if c not in own}
        assert found.settled[q] == (not left_out or (len(left_out) == 1 and len(own) < depth))
        here = found.query == q
        assert dict(zip(found.candidate[here].tolist(), found.score[here], strict=True)) == pytest.approx(own)
        assert (np.diff(found.score[here]) <= 1e-12).all()
    order = rng.permutation(9)
    again = vector_lists(TextPool.of(queries), TextPool.of(candidates[order]), depth, ranker=Cpu(1))
    assert sorted(zip(again.query, order[again.candidate], again.score, strict=True)) == sorted(
        zip(found.query, found.candidate, found.score, strict=True)
    )


@pytest.fixture(scope="module")
def manifest():
    rows = [
        {"id": f"p{i}", "text_en": f"n{i} k{i % 5}", "text_de": f"n{i % 20} k{i % 4} x"} for i in range(N)
    ]
    return Manifest.from_rows(rows)


class Counting:
    """An encoder that counts the texts it is given."""

    def __init__(self, seed, constant=False):
        self.seed, self.constant, self.encoded = seed, constant, 0
        self.identity = f"counting-{seed}-{constant}"

    def encode(self, batch):
        self.encoded += len(batch)
        if self.constant:
            return np.ones((len(batch), 3), dtype=np.float32)
        own = [int(text.split()[0][1:]) for text in batch.text]
        rng = np.random.default_rng(self.seed)
        noise = {tag: rng.normal(size=(N, 6)) for tag in ("en", "de")}
        base = np.random.default_rng(0).normal(size=(N, 6))
        return np.array(
            [base[i] + noise[tag][i] for i, tag in zip(own, batch.language, strict=True)], dtype=np.float32
        )


MEASURES = ("R@1", "R@5", "RR")


def xlr(manifest, systems, **options):
    options = {"pairs": "en-de", "measures": MEASURES, "store": None} | options
    return crosslingual_retrieval(manifest, systems, **options)


def values(results, encoder):
    found = [
        (e.measure, e.source, e.value, e.ci and (e.ci.low, e.ci.high), e.n_tied)
        for e in results.entries
        if e.encoder == encoder
    ]
    assert found
    return found


def run_of(vectors):
    """Return the run of all candidates, by cosine."""
    unit = {tag: v / np.linalg.norm(v.astype(float), axis=1, keepdims=True) for tag, v in vectors.items()}
    scores = np.round(unit["en"] @ unit["de"].T, 9)
    return SearchRun.of(
        {f"en:p{i}": {f"de:p{j}": s for j, s in enumerate(row.tolist())} for i, row in enumerate(scores)}
    )


@pytest.mark.parametrize(
    "spec", ["rrf:a+b", "rrf:a+b?k=3&weights=2,1&depth=9", "sum:a+b", "sum:a+b?scale=none"]
)
def test_a_fusion_of_runs_is_that_of_their_encoders(manifest, spec):
    rng = np.random.default_rng(3)
    en = rng.normal(size=(N, 6))
    vectors = {
        name: {"en": en.astype(np.float32), "de": (en + rng.normal(size=(N, 6))).astype(np.float32)}
        for name in "ab"
    }
    vectors["b"]["de"][4] = vectors["b"]["de"][9]  # two targets tie
    expected = values(xlr(manifest, {**vectors, "f": spec}), "f")
    runs = {name: run_of(own) for name, own in vectors.items()}
    assert values(xlr(manifest, {**runs, "f": spec}), "f") == expected
    assert values(xlr(manifest, {"a": vectors["a"], "b": runs["b"], "f": spec}), "f") == expected
    rows = rng.permutation(N)  # texts in another order
    shuffled = Manifest.from_rows(
        [
            {"id": f"p{i}", "text_en": manifest.text[2 * i], "text_de": manifest.text[2 * i + 1]}
            for i in rows.tolist()
        ]
    )
    again = {name: {tag: v[rows] for tag, v in own.items()} for name, own in vectors.items()}
    for mine, theirs in zip(values(xlr(shuffled, {**again, "f": spec}), "f"), expected, strict=True):
        assert mine[2] == pytest.approx(theirs[2], abs=1e-12)


def test_parts_may_come_later_and_are_encoded_once(manifest):
    a, b = Counting(1), Counting(2)
    first = xlr(manifest, {"f": "rrf:a+b", "g": "sum:b+f", "a": a, "b": b})
    assert (a.encoded, b.encoded) == (2 * N, 2 * N)
    c, d = Counting(1), Counting(2)
    later = xlr(manifest, {"a": c, "b": d, "g": "sum:b+f", "f": "rrf:a+b"})
    assert (c.encoded, d.encoded) == (2 * N, 2 * N)
    for name in "abfg":
        assert values(first, name) == values(later, name)
    assert [e.encoder for e in first.entries][:: len(MEASURES)] == ["f", "g", "a", "b"]
    signatures = {
        tuple(sorted(e.signature for e in found.entries if e.encoder in "fg")) for found in (first, later)
    }
    assert len(signatures) == 1


def test_a_constant_part_changes_nothing_and_constant_parts_are_chance(manifest):
    for spec in ("rrf:a+c", "sum:a+c?scale=zscore", "rrf:a+c?depth=10"):
        found = xlr(
            manifest, {"a": Counting(1), "c": Counting(0, constant=True), "f": spec}, measures=["R@1", "R@5"]
        )
        assert [v[2] for v in values(found, "f")] == [v[2] for v in values(found, "a")]
    for depth in (5, 1000):
        systems = {f"c{i}": Counting(i, constant=True) for i in range(2)}
        found = xlr(manifest, {**systems, "f": f"rrf:c0+c1?depth={depth}"})
        assert values(found, "f") == values(found, "c0")


@pytest.mark.filterwarnings("ignore:.*no list holds a right answer")
def test_what_no_part_found_is_missed(manifest):
    """Of 24 queries 20 have no result of either engine: these gain nothing, in expectation or otherwise."""
    runs = {
        name: SearchRun.of(
            {f"en:p{i}": {f"de:p{(i + j + first) % N}": 9.0 - j for j in range(3)} for i in range(4)}
        )
        for name, first in (("a", 0), ("b", 1))
    }
    with pytest.warns(DataWarning, match="20 of 24 queries"):
        found = xlr(manifest, {**runs, "f": "rrf:a+b", "g": "sum:a+b", "h": "rrf:a+f"}, measures=["R@3"])
    assert [values(found, name)[0][2] for name in "afgh"] == [4 / N] * 4
    images = np.random.default_rng(1).normal(size=(N, 4)).astype(np.float32)
    with pytest.warns(DataWarning, match="have no results"):
        found = backretrieval(
            Manifest.from_rows([{"id": f"p{i}", "text_en": f"n{i}", "text_de": f"n{i}"} for i in range(N)]),
            {name: every_target(4) for name in "ab"} | {"f": "rrf:a+b"},
            image_encoder=images, measures=["R@3", "MedR", "RR"], pairs="en-de", store=None, examples=False,
        )  # fmt: skip
    assert [v[2] for v in values(found, "f")] == [v[2] for v in values(found, "a")]
    rows = [row for row in found.per_query.to_pylist() if row["encoder"] == "f"]
    assert {row["retrieved"] for row in rows if row["value"] == 0 and row["measure"] == "R@3"} >= {None}
    sources = len({row["query"] for row in rows})
    ranks = [row["value"] for row in rows if row["measure"] == "MedR"]
    assert max(ranks) == sources + 1
    assert ranks.count(sources + 1) > sources / 2


def every_target(n):
    """Return a run of all candidates, with results for every sixth query of the first 6n."""
    return SearchRun.of({f"en:p{i}": {f"de:p{j}": -abs(i - j) for j in range(N)} for i in range(0, 6 * n, 6)})


def test_what_is_fused_is_in_the_signature(manifest):
    scores = {f"en:p{i}": {f"de:p{j}": -abs(i - j) for j in range(N)} for i in range(N)}
    half = {q: {c: s / 2 for c, s in own.items()} for q, own in scores.items()}
    runs = [SearchRun.of(scores), SearchRun.of(half)]
    assert runs[0].digest == runs[1].digest

    def signatures(run, spec):
        found = xlr(manifest, {"a": Counting(1), "r": run, "f": spec})
        return found.entries[-1].signature

    assert signatures(runs[0], "rrf:a+r") == signatures(runs[1], "rrf:a+r")
    assert signatures(runs[0], "sum:a+r") != signatures(runs[1], "sum:a+r")
    assert "rrf:v1?k=60&depth=1000&weights=1,1::(counting-1-False)+(run:" in signatures(runs[0], "rrf:a+r")
    assert len({signatures(runs[0], f"rrf:a+r{o}") for o in ("", "?k=1", "?depth=9", "?weights=1,2")}) == 4


def test_runs_without_scores_are_fused_by_ranks_alone(manifest):
    scores = {f"en:p{i}": {f"de:p{j}": -abs(i - j) for j in range(N)} for i in range(N)}
    ranks = {q: sorted(own, key=lambda c: -own[c]) for q, own in scores.items()}
    with pytest.raises(InputError, match=r"sum: 'r' has no scores: .*rrf:"):
        xlr(manifest, {"a": Counting(1), "r": SearchRun.of(ranks), "f": "sum:a+r"})
    assert xlr(manifest, {"a": Counting(1), "r": SearchRun.of(ranks), "f": "rrf:a+r"}).entries


def test_backretrieval_of_a_fusion(manifest):
    rng = np.random.default_rng(1)
    rows = [
        {"id": f"p{i}", "text_en": manifest.text[2 * i], "text_de": manifest.text[2 * i + 1]}
        for i in range(N)
    ]
    images = rng.normal(size=(N, 4)).astype(np.float32)
    systems = {
        "a": Counting(1),
        "c": Counting(0, constant=True),
        "f": "rrf:a+c",
        "g": "rrf:c+d",
        "d": "bm25:",
    }
    found = backretrieval(
        Manifest.from_rows(rows),
        systems,
        image_encoder=images,
        measures="R@3",
        seeds=2,
        store=None,
        examples=False,
    )
    assert values(found, "f") == values(found, "a")
    assert values(found, "g") == values(found, "d")
    assert len(found.failures(encoder="f")) == len(found.failures(encoder="a"))


def test_all_that_tie_for_nothing_are_averaged_over(manifest):
    """A part of which all tie has no list at a depth of 5, and its fusion with itself ranks all alike."""
    rows = [{"id": f"p{i}", "text_en": f"n{i}", "text_de": f"n{i}"} for i in range(N)]
    systems = {"c": Counting(0, constant=True), "d": Counting(1, constant=True), "f": "rrf:c+d?depth=5"}
    images = np.random.default_rng(1).normal(size=(N, 4)).astype(np.float32)
    found = backretrieval(
        Manifest.from_rows(rows), systems, image_encoder=images, measures="R@3", store=None, examples=False
    )
    for one, other in zip(values(found, "f"), values(found, "c"), strict=True):
        assert one[2] == pytest.approx(other[2], abs=1e-12)
        assert one[-1] == other[-1] == 12


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"dense": "random", "f": "rrf:dnse+dense"}, r"'f' is made of 'dnse', .*Did you mean 'dense'\?"),
        ({"a": "random", "f": "rrf:a+f"}, r"'f' is made of itself \(f → f\)"),
        ({"a": "random", "f": "rrf:a+g", "g": "sum:f+a"}, r"'f' is made of itself \(f → g → f\)"),
        ({"a": "random", "f": "rrf:a"}, r"rrf:a: expected the names of two systems or more"),
        ({"a": "random", "f": "rrf:a+"}, r"rrf:a\+: expected the names of two systems or more"),
        ({"a": "random", "f": "rrf:a+a"}, r"rrf:a\+a: 'a' is named twice"),
        ({"a": "random", "b": "bm25", "f": "sum:a+b?weights=1"}, r"weights=1 are 1, and there are 2 systems"),
        ({"a": "random", "b": "bm25", "f": "sum:a+b?weights=1,-1"}, r"weights must be numbers of at least 0"),
        ({"a": "random", "b": "bm25", "f": "sum:a+b?scale=max"}, r"scale must be one of minmax, zscore"),
        ({"a": "random", "b": "bm25", "f": "rrf:a+b?k=x"}, r"k must be a whole number"),
    ],
)
def test_what_cannot_be_fused_is_one_clear_line(manifest, systems, message):
    with pytest.raises(InputError, match=message) as caught:
        xlr(manifest, systems)
    assert "\n" not in str(caught.value)
