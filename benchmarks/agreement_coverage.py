"""How often intervals of agreement over encoders hold their target, and tests reject.

Encoders have a latent quality, part of which is their family's. XLR is a bent function of it; the measures
are bent functions of it plus luck of their own, half of it the family's. Scores carry noise of items, half of
it common to all encoders. Target: the coefficient in a very large population of families, without that noise.
"""

from __future__ import annotations

import os

import numpy as np

from xlingual.evaluation.metric_validation.agreement import compare_measures
from xlingual.evaluation.metric_validation.encoder_scores import ScoreTable
from xlingual.evaluation.metric_validation.two_way import (
    NoIntervalError,
    accuracy,
    pearson,
    replicated,
    spearman,
    z_interval,
)

SIMULATIONS = int(os.environ.get("SIMULATIONS", "5000"))
REPLICATES = 500  # 2000 outside of simulations
DESIGNS = ((8, 1), (8, 2), (12, 2), (24, 1))  # families, encoders in each
NOISE = {"XLR": 0.015, "BkR": 0.0075, "SIM": 0.0075, "CORR": 0.0075}
FUNCTIONS = {"pearson": pearson, "spearman": spearman, "accuracy": accuracy}


def population(rng: np.random.Generator, families: int, members: int) -> dict[str, np.ndarray]:
    """Return true scores [families, members]; BkR and SIM are equally good, CORR is worse."""

    def mixed(family: float) -> np.ndarray:
        shared = rng.normal(size=(families, 1)) * np.sqrt(family)
        return shared + rng.normal(size=(families, members)) * np.sqrt(1 - family)

    quality = mixed(0.6)
    good = [0.4 / (1 + np.exp(0.8 - 0.9 * quality - 0.2 * mixed(0.5))) for _ in range(2)]
    truth = 1 / (1 + np.exp(-1.2 * quality))
    return {"XLR": truth, "BkR": good[0], "SIM": good[1], "CORR": 0.09 * quality + 0.075 * mixed(0.5)}


def targets() -> dict[tuple[str, str], float]:
    """Return the coefficients of the population; pairs of encoders are of two families."""
    scores = population(np.random.default_rng(1), 400_000, 1)
    found = {}
    for name in ("BkR", "CORR"):
        x, y = scores["XLR"][:, 0], scores[name][:, 0]
        ranks = [np.argsort(np.argsort(v)) for v in (x, y)]
        same = np.sign(x - np.roll(x, 1)) == np.sign(y - np.roll(y, 1))
        found |= {
            (name, "pearson"): np.corrcoef(x, y)[0, 1],
            (name, "spearman"): np.corrcoef(*ranks)[0, 1],
            (name, "accuracy"): np.mean(same),
        }
    return found


def sample(rng: np.random.Generator, families: int, members: int) -> ScoreTable:
    """Return encoders with noisy scores, and what other items would add to these."""
    n = families * members
    mean, moved = {}, {}
    for name, scores in population(rng, families, members).items():
        noise = np.sqrt(0.5) * (rng.normal(size=(REPLICATES + 1, 1)) + rng.normal(size=(REPLICATES + 1, n)))
        mean[name] = scores.ravel() + NOISE[name] * noise[0]
        moved[name] = NOISE[name] * noise[1:]
    family = tuple(f"{i:03d}" for i in np.repeat(np.arange(families), members))
    per_seed = {name: values[None] for name, values in mean.items()}
    return ScoreTable(tuple(map(str, range(n))), family, per_seed, mean, moved)


def covered(table: ScoreTable, name: str, kind: str, target: float, seed: int) -> tuple[float, float]:
    """Return whether z ± t·s and the percentile interval hold the target; NaN where there is none."""
    value = float(FUNCTIONS[kind](table.mean["XLR"], table.mean[name]))
    try:
        drawn = table.draw(seed)
        replicates = replicated(kind, table.replicates("XLR"), table.replicates(name), drawn)
        ci = z_interval(kind, value, replicates, len(table), drawn.n_families)
    except NoIntervalError:
        return np.nan, np.nan
    low, high = np.nanquantile(replicates, [0.025, 0.975])
    return float(ci.low <= target <= ci.high), float(low <= target <= high)


def main() -> None:
    """Print coverage and rejections; assert that nothing is far too bold."""
    truth = targets()
    for families, members in DESIGNS:
        hits: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in truth}
        apart: dict[str, list[float]] = {}
        for seed in range(SIMULATIONS):
            table = sample(np.random.default_rng([families, members, seed]), families, members)
            for (name, kind), target in truth.items():
                hits[name, kind].append(covered(table, name, kind, target, seed))
            for kind in ("pearson", "spearman"):
                equal = compare_measures(table, "BkR", "SIM", kind, seed)
                other = compare_measures(table, "BkR", "CORR", kind, seed)
                gap = truth["BkR", kind] - truth["CORR", kind]
                for label, one, aim in (("covers 0", equal, 0.0), ("covers", other, gap)):
                    if (ci := one.ci) is not None:
                        assert (one.p < 0.05) == (ci.low > 0 or ci.high < 0)  # one method
                        apart.setdefault(f"{kind} difference {label}", []).append(ci.low <= aim <= ci.high)
                if equal.p is not None and other.p is not None:
                    apart.setdefault(f"{kind} rejects a true null", []).append(equal.p <= 0.05)
                    apart.setdefault(f"{kind} rejects a false null", []).append(other.p <= 0.05)
        print(f"{families} families of {members}, {SIMULATIONS} simulations", flush=True)
        for (name, kind), found in hits.items():
            ours, percentile = np.nanmean(found, axis=0)
            print(
                f"  {name:4} {kind:8} target {truth[name, kind]:.3f}  "
                f"z ± t·s {ours:.3f}  percentile {percentile:.3f}"
            )
            assert ours > 0.9 or SIMULATIONS < 1000  # of few, luck decides
        for label, values in apart.items():
            print(f"  {label:35} {np.mean(values):.3f}  of {len(values)}")
            assert "true null" not in label or np.mean(values) < 0.06 or SIMULATIONS < 1000
