"""Is the power that a plan promises what simulations find, at the size of the pilot and at twice as many."""

from __future__ import annotations

from multiprocessing import Pool

import numpy as np

from benchmarks.populations import SIMULATED
from xlingual.stats import paired_test, t_test
from xlingual.stats.power import Growth

SIMULATIONS, PILOTS, REPLICATES, BLOCKS = 5_000, 1_000, 499, 20
ERRORS = 2.4  # the true difference, in standard errors of the pilot
TOLERANCE, WITH_HUBS = (
    0.03,
    0.05,
)  # what hubs cost that more queries do not remove is hard to see in one sample


def main() -> None:
    """Print promised and found power by population; the pool of targets stays as it is."""
    print(f"{PILOTS:,} pilots and {SIMULATIONS:,} simulations of each population and size")
    print(f"{'population':34}" + 2 * f"{'queries':>9}{'promised':>10}{'found':>8}")
    wrong = []
    for name in SIMULATED:
        effect = ERRORS * _usual_error(name)
        cells = []
        for times in (1, 2):
            with Pool(2) as pool:
                found = pool.map(_found, [(name, effect, times, seed) for seed in range(BLOCKS)])
            n, promised = _promised(name, effect, times)
            cells.append((n, promised, float(np.mean(found))))
        (n, one, shown), (more, two, seen) = cells
        print(f"{name:34}{n:>9}{one:>10.1%}{shown:>8.1%}{more:>9}{two:>10.1%}{seen:>8.1%}", flush=True)
        most = WITH_HUBS if "hubs" in name else TOLERANCE
        wrong += [f"{name}, {n}" for n, one, other in cells if abs(one - other) > most]
    print(f"Monte Carlo standard error {np.sqrt(0.25 / SIMULATIONS):.1%} at most")
    assert not wrong, wrong


def _usual_error(name: str) -> float:
    """Return the root mean square of the standard errors of pilots."""
    rng = np.random.default_rng([2, *name.encode()])
    return float(np.sqrt(np.mean([t_test(SIMULATED[name](rng, 0.0))[1] ** 2 for _ in range(200)])))


def _promised(name: str, effect: float, times: int) -> tuple[int, float]:
    """Return the number of queries, and the power for them, mean over pilots."""
    rng = np.random.default_rng([3, *name.encode()])
    powers, n = [], 0
    for _ in range(PILOTS):
        pilot = SIMULATED[name](rng, effect)
        n = len(pilot.a)
        powers.append(Growth.of(pilot, n).power(effect, times * n))
    return times * n, float(np.mean(powers))


def _found(task: tuple[str, float, int, int]) -> float:
    """Return the share of simulations of a block in which the test finds the difference."""
    name, effect, times, seed = task
    rng = np.random.default_rng([4, seed, *name.encode()])
    draw = SIMULATED[name]
    tests = [
        paired_test(draw(rng, effect, times=times), rng=rng, replicates=REPLICATES)
        for _ in range(SIMULATIONS // BLOCKS)
    ]
    return float(np.mean([test.p <= 0.05 for test in tests]))
