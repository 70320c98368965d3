"""How often the analysis of a blind study is right: intervals, tests, power, looks and agreement."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

SIMULATIONS, REPLICATES, FEW = 4_000, 499, 1_000
SIMULATED = Path(__file__).parents[1] / "tests/unit/study/simulated.py"
POPULATIONS = (  # queries, raters, ratio, share of b, how far raters lean
    (10, 1, 1.0, 0.25, 0.0),
    (20, 1, 1.0, 0.25, 0.0),
    (20, 3, 1.0, 0.25, 0.0),
    (20, 1, 1.0, 0.06, 0.0),
    (20, 5, 1.0, 0.25, 0.3),
    (20, 8, 1.0, 0.25, 1.0),
    (20, 8, 1.0, 0.06, 1.0),
    (20, 1, 2.3, 0.20, 0.0),
    (20, 3, 1.6, 0.25, 0.0),
    (50, 2, 2.3, 0.05, 0.0),
    (20, 5, 2.3, 0.20, 0.3),
    (20, 8, 2.3, 0.20, 1.0),
)


def main() -> None:
    """Print the tables of docs/results/statistics.md."""
    simulated = SimpleNamespace(**run_path(str(SIMULATED)))
    print(f"{SIMULATIONS:,} studies each, {REPLICATES} replicates")
    print("queries raters ratio share lean | ratio  score  wins   | found  promised")
    for values in POPULATIONS:
        found = simulated.rates(simulated.Population(*values), SIMULATIONS, 7, REPLICATES)
        queries, raters, ratio, share, lean = values
        held = " ".join(
            "   –  " if v is None else f"{v:6.1%}" for v in (found.ratio, found.score, found.wins)
        )
        print(
            f"{queries:7} {raters:6} {ratio:5} {share:5} {lean:4} | {held} | "
            f"{found.found:6.1%} {found.promised:6.1%}"
        )
        assert found.ratio >= 0.93
        assert found.found <= 0.06 if ratio == 1 else abs(found.found - found.promised) <= 0.07
    looks = simulated.error_of_looks([0.5, 0.75, 1.0], FEW, 7)
    print(f"looks at 1/2, 3/4 and all: {looks[0]:.1%} with their levels, {looks[1]:.1%} at 5 % each")
    assert looks[0] <= 0.06
    for noise in (0.3, 1.0, 3.0):
        print(f"alpha, noise of raters {noise}: {simulated.agreement_coverage(noise, FEW, 7):.1%}")
