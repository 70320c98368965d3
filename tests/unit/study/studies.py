"""Small studies with known ratings, for tests of the analysis; and populations to simulate studies from."""

from __future__ import annotations

import numpy as np

from xlingual.study.analysis.scores import Scores
from xlingual.study.records import Credit, Key, Page, Query, Rating, Shown, Study

A, B = "a", "b"


def study_of(queries=4, per_system=2, raters=1, systems=(A, B), controls=0, bkr=None, shared=()):
    """Return (study, key): suggestion q0-a0 is the first of system a to query q0.

    `shared` are suggestions that the first system made and every other one too. The first `controls` queries
    have a control q0-c that nobody made, to be scored 4.
    """
    rows, credits, obvious = [], {}, {}
    for q in range(queries):
        ids = []
        for system in systems:
            for rank in range(per_system):
                name = f"q{q}-{system}{rank}"
                if f"q{q}-{systems[0]}{rank}" in shared and system != systems[0]:
                    name = f"q{q}-{systems[0]}{rank}"
                credits[name] = (*credits.get(name, ()), Credit(system, rank + 1, 0.5))
                if name not in ids:
                    ids.append(name)
        if q < controls:
            ids.append(f"q{q}-c")
            obvious[f"q{q}-c"] = 4
        rows.append(Query(Shown(f"q{q}", f"text {q}", "en"), tuple(Shown(s, s, "ru") for s in ids)))
    pages = tuple(Page(row.shown.id, tuple(s.id for s in row.suggestions)) for row in rows)
    study = Study(
        "s1", "T", "2026-01-01T00:00:00Z", "en", "ru", tuple(rows), (pages,), per_system, raters, 0, "x"
    )
    signatures = {system: f"sig-{system}" for system in systems}
    return study, Key("s1", signatures, credits, obvious, bkr or {}, "R@10" if bkr else None)


def rate(study, score, raters=("1",), skip=(), occasion=0, seconds=None):
    """Return ratings of all by `score(rater, query, suggestion)`; `skip` names what is left out."""
    found, at = [], 0
    for rater in raters:
        for query in study.queries:
            for each in query.suggestions:
                at += 1
                if (rater, each.id) not in skip and each.id not in skip:
                    value = int(score(rater, query.shown.id, each.id))
                    time = f"2026-01-02T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}Z"
                    found.append(Rating(rater, query.shown.id, each.id, occasion, value, time, seconds))
    return found


def scores_from(relevant, mean=None, seen=None, most=5):
    """Return tables of counts [R, Q, S] of very relevant suggestions."""
    relevant = np.asarray(relevant, dtype=float)
    R, Q, S = relevant.shape
    seen = np.ones((R, Q), dtype=bool) if seen is None else seen
    mean = 4 - 3 * relevant / most if mean is None else np.asarray(mean, dtype=float)
    return Scores(
        tuple(f"{r}" for r in range(R)),
        tuple(f"q{q}" for q in range(Q)),
        tuple("abcdef"[:S]),
        relevant * seen[..., None],
        mean * seen[..., None],
        seen,
        np.full((Q, S), most),
        np.zeros((S, 4), dtype=np.int64),
    )


def drawn(rng, queries, raters, ratio=1.0, base=0.25, lean=0.0, severity=None, most=5):
    """Return counts [R, Q, 2] of a simulated study.

    Queries are hard or easy for both systems and, less so, for one; suggestions differ; raters are strict or
    kind (`severity` [R], drawn where None), lean to one system (standard deviation `lean`) and are unsteady.
    """
    from scipy.special import ndtri

    centre = ndtri([min(base * ratio, 0.95), base]) * np.sqrt(1.8)
    latent = (
        centre + np.sqrt(0.5) * rng.normal(size=(queries, 1)) + np.sqrt(0.3) * rng.normal(size=(queries, 2))
    )
    kind = 0.3 * rng.normal(size=raters) if severity is None else np.asarray(severity)
    leaning = lean * rng.normal(size=raters)[:, None] * np.array([0.5, -0.5])
    shape = (queries, 2, most)
    luck = rng.normal(size=shape) + 0.3 * rng.normal(size=(raters, *shape))
    total = latent[None, :, :, None] + luck + kind[:, None, None, None] + leaning[:, None, :, None]
    return (total > 0).sum(axis=-1).astype(float)


def true_ratio(ratio, base, severity=None, lean=0.0):
    """Return the ratio that `drawn` has in the long run: of these raters, or of all."""
    from scipy.special import ndtr, ndtri

    centre = ndtri([min(base * ratio, 0.95), base]) * np.sqrt(1.8)
    if severity is not None:
        shares = ndtr((centre + np.asarray(severity)[:, None]) / np.sqrt(1.8 + 0.09)).mean(axis=0)
    else:
        shares = ndtr(centre / np.sqrt(1.8 + 0.18 + lean**2 / 4))
    return float(shares[0] / shares[1])
