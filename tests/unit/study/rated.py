"""Small studies with known ratings, for tests of the analysis."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from xlingual.study.analysis.scores import RatedPages
from xlingual.study.records import Credit, Query, Rating, Shown, Study, StudyKey, StudyPage

A, B = "a", "b"


def study_of(queries=4, per_system=2, raters=1, systems=(A, B), controls=0, bkr=None, shared=()):
    """Return (study, key): suggestion q0a0 is the first of system a to query q0.

    `shared` are suggestions that the first system made and every other one too. The first `controls` queries
    have a control q0c that nobody made, to be scored 4.
    """
    rows, credits, obvious = [], {}, {}
    for q in range(queries):
        ids = []
        for system in systems:
            for rank in range(per_system):
                name = f"q{q}{system}{rank}"
                if f"q{q}{systems[0]}{rank}" in shared and system != systems[0]:
                    name = f"q{q}{systems[0]}{rank}"
                credits[name] = (*credits.get(name, ()), Credit(system, rank + 1, 0.5))
                if name not in ids:
                    ids.append(name)
        if q < controls:
            ids.append(f"q{q}c")
            obvious[f"q{q}c"] = 4
        rows.append(Query(Shown(f"q{q}", f"text {q}", "en"), tuple(Shown(s, s, "ru") for s in ids)))
    pages = tuple(StudyPage(row.shown.id, tuple(s.id for s in row.suggestions)) for row in rows)
    study = Study(
        "s1", "T", "2026-01-01T00:00:00Z", "en", "ru", tuple(rows), (pages,), per_system, raters, 0, "x"
    )
    signatures = {system: f"sig-{system}" for system in systems}
    return study, StudyKey("s1", signatures, credits, obvious, bkr or {}, "R@10" if bkr else None)


def rate(study, score, raters=("1",), skip=(), occasion=0, seconds=None):
    """Return ratings of all by `score(rater, query, suggestion)`; `skip` names what is left out."""
    found, at = [], 0
    for rater in raters:
        for query in study.queries:
            for each in query.suggestions:
                at += 1
                if (rater, each.id) not in skip and each.id not in skip:
                    value = int(score(rater, query.shown.id, each.id))
                    time = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(seconds=at)
                    found.append(Rating(rater, query.shown.id, each.id, occasion, value, time, seconds))
    return found


def scores_from(relevant, mean=None, seen=None, most=5):
    """Return tables of counts [R, Q, S] of very relevant suggestions."""
    relevant = np.asarray(relevant, dtype=float)
    R, Q, S = relevant.shape
    seen = np.ones((R, Q), dtype=bool) if seen is None else seen
    mean = 4 - 3 * relevant / most if mean is None else np.asarray(mean, dtype=float)
    return RatedPages(
        tuple(f"{r}" for r in range(R)),
        tuple(f"q{q}" for q in range(Q)),
        tuple("abcdef"[:S]),
        relevant * seen[..., None],
        mean * seen[..., None],
        seen,
        np.full((Q, S), most),
        np.zeros((S, 4), dtype=np.int64),
    )
