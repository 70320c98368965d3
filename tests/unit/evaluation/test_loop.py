"""The loop of every evaluation, with a small task of its own: who says the first word of a pair."""

from __future__ import annotations

import numpy as np
import pytest

from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.run import Options, Run
from xlingual.measures import RecallAt, parse_measure
from xlingual.ranking import Counts, Cpu, rank, rows_of, similarity_of
from xlingual.records import RankCounts

N = 40
MEASURES = [RecallAt(3), parse_measure("RR")]


class Table:
    """An encoder by name only: the task below has its vectors."""

    by_role, label = False, ""


def toy(run, vectors, answers):
    """Yield one ranking for each encoder: n questions among n answers, where equal numbers match."""
    places = np.arange(N)
    for name, questions in vectors.items():
        similarity = similarity_of(rows_of(questions), rows_of(answers))
        counts = Counts.of(similarity, places, places)
        rank(similarity, [counts], Cpu(1))
        pool = np.full(N, N)
        found = RankCounts(counts.above, counts.tied, np.ones(N, dtype=np.int64), pool)
        equal = RankCounts(np.zeros_like(pool), pool, np.ones(N, dtype=np.int64), pool)
        yield Ranked(
            encoder=name,
            subject=Subject("questions", "answers"),
            queries=places,
            clusters=[places // 2],
            n_candidates=N,
            values={one.name: one.per_query(found) for one in MEASURES},
            baselines={one.name: Baseline(one.aggregate(one.per_query(equal))) for one in MEASURES},
            conditions={"data": "toy"},
            above=found.above,
            tied=found.tied,
            n_tied=found.n_tied,
        )


@pytest.fixture
def found():
    rng = np.random.default_rng(0)
    answers = rng.standard_normal((N, 8)).astype(np.float32)
    vectors = {"near": answers + 0.3 * rng.standard_normal((N, 8)).astype(np.float32)}
    run = Run("toy", Options())
    run.by_name = dict.fromkeys(vectors, Table())
    run.identities = {name: f"table:{name}" for name in vectors}
    numbers = Numbers("toy", MEASURES, [Subject("questions", "answers")])
    rows = QueryRows([str(i) for i in range(N)], np.arange(N), [str(i) for i in range(N)], np.arange(N) // 2)
    return evaluate(run, numbers, toy(run, vectors, answers), rows, Recording()), vectors, answers


def test_numbers_rows_and_signatures_follow_from_what_is_ranked(found):
    results, vectors, answers = found
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (vectors["near"], answers)]
    scores = unit[0].astype(np.float64) @ unit[1].astype(np.float64).T
    above = (scores > np.diag(scores)[:, None]).sum(axis=1)
    by_measure = {entry.measure: entry for entry in results.entries if entry.encoder == "near"}
    assert by_measure["R@3"].value == pytest.approx((above < 3).mean(), abs=1e-12)
    assert by_measure["RR"].value == pytest.approx((1 / (above + 1)).mean(), abs=1e-12)
    rows = [
        row for row in results.per_query.to_pylist() if (row["encoder"], row["measure"]) == ("near", "R@3")
    ]
    assert [row["above"] for row in rows] == above.tolist()
    assert [row["cluster"] for row in rows] == (np.arange(N) // 2).tolist()
    entry = by_measure["R@3"]
    assert entry.ci.low <= entry.value <= entry.ci.high
    assert entry.signature.startswith("task:toy|data:toy|measure:R@3|ties:expected|")
    assert entry.signature.endswith("encoder:table:near")
