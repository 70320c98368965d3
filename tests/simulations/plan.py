"""Do simulations have the power that `plan` promises, at the pilot's size and at twice as many queries."""

from __future__ import annotations

from multiprocessing import Pool

import numpy as np
from tests.simulations.populations import SIMULATED

from xlingual.stats import paired_test, t_test
from xlingual.stats.power import Growth

SIMULATIONS, PILOTS, REPLICATES, BLOCKS = 5_000, 1_000, 499, 20
ERRORS = 2.4  # the true difference, in standard errors of the pilot
TOLERANCE, WITH_HUBS = 0.03, 0.05  # one pilot hardly shows what hubs cost


def main(simulations: int = SIMULATIONS) -> None:
    """Print promised and found power by population; the pool of targets stays as it is."""
    print(f"{PILOTS:,} pilots and {simulations:,} simulations of each population and size")
    print(f"{'population':34}" + 2 * f"{'queries':>9}{'promised':>10}{'found':>8}")
    wrong = []
    for name in SIMULATED:
        effect = ERRORS * _usual_error(name)
        cells = []
        for times in (1, 2):
            with Pool(2) as pool:
                blocks = [(name, effect, times, seed, simulations // BLOCKS) for seed in range(BLOCKS)]
                power = float(np.mean(pool.starmap(_power, blocks)))
            cells.append((*_promised(name, effect, times), power))
        print(f"{name:34}" + "".join(f"{n:>9}{promised:>10.1%}{power:>8.1%}" for n, promised, power in cells))
        most = WITH_HUBS if "hubs" in name else TOLERANCE
        if simulations >= 1000:
            wrong += [f"{name}, {n}" for n, promised, power in cells if abs(promised - power) > most]
    print(f"Monte Carlo standard error {np.sqrt(0.25 / simulations):.1%} at most")
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


def _power(name: str, effect: float, times: int, seed: int, simulations: int) -> float:
    """Return the share of simulations of a block in which the test finds the difference."""
    rng = np.random.default_rng([4, seed, *name.encode()])
    draw = SIMULATED[name]
    tests = [
        paired_test(draw(rng, effect, times=times), rng=rng, replicates=REPLICATES)
        for _ in range(simulations)
    ]
    return float(np.mean([test.p <= 0.05 for test in tests]))
