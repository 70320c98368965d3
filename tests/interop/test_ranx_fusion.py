"""`rrf:` and `sum:` beside ranx's fusion, on runs without ties."""

import numpy as np
import pytest

from xlingual.data.runs import SearchRun
from xlingual.ranking.listed import Lists
from xlingual.systems.fusion import ReciprocalRanks, Scores, fuse

ranx = pytest.importorskip("ranx")
N, M = 12, 40


@pytest.fixture(scope="module")
def scores():
    """Return three runs in which each query has 15 of the candidates, no score twice."""
    rng = np.random.default_rng(2)
    return [
        {
            f"q{q}": {f"c{c}": float(s) for c, s in zip(rng.permutation(M)[:15], rng.random(15), strict=True)}
            for q in range(N)
        }
        for _ in range(3)
    ]


def lists_of(scores):
    run = SearchRun.of(scores)
    query = np.array([int(name[1:]) for name in run.queries])[run.query]
    candidate = np.array([int(name[1:]) for name in run.candidates])[run.candidate]
    order = np.lexsort((run.level, query))
    columns = (column[order] for column in (query, candidate, run.level))
    return Lists(*columns, np.zeros(N, dtype=bool), M, run.score[order])


@pytest.mark.parametrize(
    ("points", "weights", "theirs"),
    [
        (ReciprocalRanks(60), (1, 1, 1), {"method": "rrf", "params": {"k": 60}}),
        (ReciprocalRanks(5), (1, 1, 1), {"method": "rrf", "params": {"k": 5}}),
        (Scores("minmax"), (1, 1, 1), {"norm": "min-max", "method": "sum"}),
        (
            Scores("minmax"),
            (0.6, 0.3, 0.1),
            {"norm": "min-max", "method": "wsum", "params": {"weights": (0.6, 0.3, 0.1)}},
        ),
        (Scores("none"), (1, 1, 1), {"norm": None, "method": "sum"}),
    ],
)
def test_fused_scores_are_those_of_ranx(scores, points, weights, theirs):
    found = fuse([lists_of(own) for own in scores], points, weights)
    fused = ranx.fuse(runs=[ranx.Run(own) for own in scores], **theirs).to_dict()
    for q in range(N):
        here = found.query == q
        own = {
            f"c{c}": s
            for c, s in zip(found.candidate[here].tolist(), found.score[here].tolist(), strict=True)
        }
        expected = {c: s for c, s in fused[f"q{q}"].items() if s > 1e-9}  # the last of a min-max list has 0
        assert own == pytest.approx(expected, abs=1e-9)
        order = [expected[c] for c in own]  # several may have one sum
        assert order == pytest.approx(sorted(order, reverse=True), abs=1e-12)
