"""Studies drawn from populations whose truth is known, and how often the analysis is right about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np

from xlingual.results import Interval
from xlingual.stats.krippendorff import coincidences, ordinal_alpha
from xlingual.streams import stream
from xlingual.study.analysis.pairs import pair_differences
from xlingual.study.analysis.raters import agreement_of
from xlingual.study.analysis.resampling import FEWEST_RATERS, resample
from xlingual.study.analysis.scores import last_ratings

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))


@dataclass(frozen=True)
class Population:
    """So many queries and raters; the ratio of very relevant suggestions, and their share of system b."""

    queries: int
    raters: int
    ratio: float = 1.0
    share: float = 0.25
    lean: float = 0.0  # how far raters lean to one system
    missing: bool = False  # whether all raters but the first leave pages out, the last one most of them


@dataclass(frozen=True)
class Rates:
    """Shares of simulated studies; coverage of what has no known truth here is None."""

    ratio: float  # intervals of the ratio that hold the true one
    score: float | None
    wins: float | None
    found: float  # tests that find a difference


def rates(population: Population, simulations: int, seed: int, replicates: int = 199) -> Rates:
    """Simulate rated. With fewer than five raters the truth is that of these raters, as in the analysis."""
    rng = stream(seed, "simulated studies")
    p, others = population, population.raters >= FEWEST_RATERS
    rows = []
    for i in range(simulations):
        kind = None if others else 0.3 * rng.normal(size=p.raters)
        counts = drawn(rng, p.queries, p.raters, p.ratio, p.share, p.lean, kind)
        seen = np.ones(counts.shape[:2], dtype=bool)
        if p.missing:
            seen[1:] = rng.random((p.raters - 1, p.queries)) < np.linspace(1, 0.3, p.raters - 1)[:, None]
        seen[:, 0] = True  # whoever saw nothing is no rater
        scores = rated.scores_from(counts, seen=seen)
        (pair,) = pair_differences(
            scores,
            resample(scores, [(0, 1)], rng, replicates),
            level=0.95,
            seed=i,
            replicates=replicates,
        )
        shares = true_shares(p.ratio, p.share, kind, p.lean)
        held = pair.ratio_ci is None or holds(pair.ratio_ci, shares[0] / shares[1])
        equal = (holds(pair.score_ci, 0.0), holds(pair.win_ci, 0.5))
        rows.append((held, *equal, pair.outcome != "no difference found"))
    ratio, score, wins, found = (float(v) for v in np.array(rows, dtype=float).mean(axis=0))
    null = p.ratio == 1
    return Rates(ratio, score if null else None, wins if null else None, found)


def holds(interval: Interval, truth: float) -> bool:
    """Return whether an interval holds the truth."""
    return interval.low <= truth <= interval.high


def agreement_coverage(noise: float, simulations: int, seed: int) -> float:
    """Return how often the interval of alpha holds its value in the long run (20 queries, 3 raters)."""
    rng = stream(seed, "simulated agreement")
    truth = float(ordinal_alpha(coincidences(_scored(rng, 8000, noise).reshape(-1, 4)).sum(axis=0)))
    study = rated.study_of(queries=20, per_system=5)
    ids = [each.id for query in study[0].queries for each in query.suggestions]
    held = []
    for i in range(simulations):
        counts = _scored(rng, 20, noise).reshape(-1, 4)
        given = dict(zip(ids, [np.repeat(np.arange(1, 5), row) for row in counts], strict=True))

        def score(rater, query, suggestion, given=given):
            return given[suggestion][int(rater)]

        ratings = last_ratings(*study, rated.rate(study[0], score, raters=("0", "1", "2")))
        found = agreement_of(study[1], ratings, level=0.95, seed=i, replicates=199)
        held.append(holds(found.ci, truth))
    return float(np.mean(held))


def _scored(rng, queries, noise):
    """Return how many of three raters gave each score, [queries, 10, 4]."""
    kind = 0.7 * rng.normal(size=(queries, 1)) + rng.normal(size=(queries, 10))
    score = np.digitize(kind + noise * rng.normal(size=(3, queries, 10)), [-0.7, 0, 0.7])
    return np.stack([(score == value).sum(axis=0) for value in range(4)], axis=-1)


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


def true_shares(ratio, base, severity=None, lean=0.0):
    """Return the shares of both systems that `drawn` has in the long run: of these raters, or of all."""
    from scipy.special import ndtr, ndtri

    centre = ndtri([min(base * ratio, 0.95), base]) * np.sqrt(1.8)
    if severity is not None:
        return ndtr((centre + np.asarray(severity)[:, None]) / np.sqrt(1.8 + 0.09)).mean(axis=0)
    return ndtr(centre / np.sqrt(1.8 + 0.18 + lean**2 / 4))
