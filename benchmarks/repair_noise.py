"""How often the test of a repair finds a gain where there is none: vectors that know nothing.

Each simulation draws random vectors for a pool of two languages, tries some 35 transforms, chooses the best
and tests it. `python -m benchmarks repair_noise` counts how often the test is significant in 1,000, at
the level .05, and asserts that it is not in more than 6.7 %; `python -m benchmarks.repair_noise 100`: in 100.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from benchmarks.experiments import table
from xlingual import DataWarning, Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.results.repair import BETTER, WORSE
from xlingual.workflows.repairing import repair_encoder

ITEMS, DIM, TAGS = 150, 12, ("de", "en")
MOST = 0.067  # of 1,000 simulations at .05: more is no accident (99 %)


def main(simulations: int = 1000) -> None:
    """Run the simulations, print the counts and assert the bound."""
    rows = [
        {"id": f"{tag}{i}.{n}", "lang": tag, "text": f"{tag} {i} {n}", "item": str(i)}
        for i in range(ITEMS)
        for tag in TAGS
        for n in range(2)
    ]
    pool = mix_pool(Manifest.from_rows(rows))
    outcomes, gains, tried = [], [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for seed in range(simulations):
            spec = f"random:?dim={DIM}&seed={seed}"
            found = repair_encoder(pool, spec, seed=seed, hubs=False, store=None).found
            outcomes.append(found.outcome)
            plain = next(one.value for one in found.tried if one.spec == "none")
            gains.append((found.tried[0].value - plain, found.whole.difference))
            tried = len(found.tried)
    shares = {name: outcomes.count(name) / simulations for name in (BETTER, WORSE)}
    chosen, tested = np.mean(gains, axis=0)
    rows_of = [
        ["transforms tried", str(tried)],
        ["gain where it was chosen, mean", f"{chosen:+.4f}"],
        ["gain where it was tested, mean", f"{tested:+.4f}"],
        ["significantly better", f"{shares[BETTER]:.3f}"],
        ["significantly worse", f"{shares[WORSE]:.3f}"],
    ]
    table(f"{simulations} repairs of vectors that know nothing, level .05", [["what", "value"], *rows_of])
    if simulations >= 1000:
        assert sum(shares.values()) <= MOST, shares


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
