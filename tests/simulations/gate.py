"""Are intervals and tests true on populations whose truth is known; "inferior" is the test of `gate`."""

from __future__ import annotations

from multiprocessing import Pool

import numpy as np
from tests.simulations.populations import CONTINUOUS, SIMULATED

from xlingual.stats import ResidualPart, interval, paired_test

SIMULATIONS, REPLICATES, BLOCKS = 6_000, 999, 40  # 1,000 simulations and more are asserted
MARGIN = 0.05
COLUMNS = ("mean", "difference", "difference .05", "two-sided", "above", "below", "equivalent", "inferior")


def main(simulations: int = SIMULATIONS) -> None:
    """Print, for each population, how often intervals hold the truth and tests reject a true null."""
    print(f"{simulations:,} simulations of each population, {REPLICATES} replicates")
    print(f"{'population':34}" + "".join(f"{name:>15}" for name in COLUMNS))
    wrong = []
    for name in SIMULATED:
        with Pool(2) as pool:
            blocks = pool.starmap(_block, [(name, seed, simulations // BLOCKS) for seed in range(BLOCKS)])
        rates = np.concatenate(blocks).mean(axis=0)
        print(f"{name:34}" + "".join(f"{rate:15.1%}" for rate in rates), flush=True)
        wrong += [f"{name}: {column}" for column in _wrong(name, rates)] if simulations >= 1000 else []
    error = np.sqrt(0.05 * 0.95 / simulations)
    print(f"Monte Carlo standard error {error:.2%}")
    assert not wrong, wrong


def _wrong(name: str, rates: np.ndarray) -> list[str]:
    """Return the columns that break the promise, beyond what luck explains.

    An interval excludes zero exactly where the two-sided test rejects; tests of hits may be cautious, so that
    their intervals hold a truth of zero more often.
    """
    luck = 2 * np.sqrt(0.05 * 0.95 / SIMULATIONS)
    cautious = "difference" if name not in CONTINUOUS else None
    found = [
        column
        for column, rate in zip(COLUMNS[:3], rates[:3], strict=True)
        if rate < 0.93 or (rate > 0.97 and column != cautious)
    ]
    found += [column for column, rate in zip(COLUMNS[3:], rates[3:], strict=True) if rate > 0.055 + luck]
    if name in CONTINUOUS:
        found += [column for column, rate in zip(COLUMNS[3:6], rates[3:6], strict=True) if rate < 0.04 - luck]
    return found


def _block(name: str, seed: int, simulations: int) -> np.ndarray:
    """Return whether intervals hold and tests reject in each simulation of a block [simulations, columns]."""
    draw = SIMULATED[name]
    rng = np.random.default_rng([seed, *name.encode()])
    rows = []
    for _ in range(simulations):
        none, some = draw(rng, 0.0), draw(rng, MARGIN)
        test = paired_test(none, rng=rng, replicates=REPLICATES)
        lead = paired_test(some, rng=rng, replicates=REPLICATES)
        ci, lead_ci = test.interval(), lead.interval()
        rows.append(
            (
                _mean_held(draw, name, none),
                ci.low <= 0 <= ci.high,
                lead_ci.low <= MARGIN <= lead_ci.high,
                test.p <= 0.05,
                test.p_above(0.0) <= 0.05,
                test.p_below(0.0) <= 0.05,
                lead.p_equivalent(MARGIN) <= 0.05,  # the truth lies on the margin
                lead.p_below(MARGIN) <= 0.05,
            )
        )
    return np.array(rows, dtype=float)


_TRUE_MEANS: dict[str, float] = {}


def _mean_held(draw, name: str, paired) -> bool:
    """Return whether the interval of system a's own mean holds the population's mean."""
    if name not in _TRUE_MEANS:
        rng = np.random.default_rng([1, *name.encode()])
        _TRUE_MEANS[name] = float(np.mean([draw(rng, 0.0).a.mean() for _ in range(20_000)]))
    ways = (paired.own,) if paired.retrieved_a is None else (paired.own, paired.retrieved_a)
    bounds = None if name in CONTINUOUS else (0.0, 1.0)
    mean = float(paired.a.mean())
    found = interval(mean, [ResidualPart((paired.a - mean) / len(paired.a), ways)], bounds=bounds)
    return found.low <= _TRUE_MEANS[name] <= found.high
