"""Weak and strong alignment of LAReQA's regimes of batches on XQuAD-R, with several seeds.

`python -m benchmarks.keep multilingual-pool python -m benchmarks regime_alignment` trains a small dual
encoder in each regime, or takes those that `xlingual casestudy lareqa` (docs/results/dual-encoder.md) left
under out/regimes, and evaluates it on the other articles. Intervals count seeds and questions (by paragraph)
as samples. The values are kept under out/regimes/alignment.
"""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path

from benchmarks.experiments import Values, difference, kept_run, marked, mean_of, shown, table
from xlingual import MultilingualPool, multilingual_pool
from xlingual.errors import DataWarning
from xlingual.training.options import FitOptions
from xlingual.training.recipes.dual_options import DualSettings
from xlingual.workflows.regime_models import RegimeTrainings
from xlingual.workflows.regime_study import run_regime_study, trained_and_tested

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "xquad_r"
OUT = Path("out/regimes")
SEEDS, STEPS, RATE = 5, 600, 1e-3
DIVISION = 11  # seed of the division: not one that options were tried on
UNTRAINED = "untrained"
REGIMES = ("x-y", "x-x", UNTRAINED, "x-x-mono", "en-en", "hybrid")
MEASURES = ("AP", "WeakAlignment", "StrongAlignment", "StrongAlignment/strict-own")


def run(test: MultilingualPool, spec: str) -> dict[str, Values]:
    """Return every measure's values of the test questions for a model."""
    found = multilingual_pool(test, text_encoders=spec, measures=MEASURES, views="none", store=None)
    rows = found.per_query.select(["measure", "cluster", "value"]).to_pylist()
    values = {name: Values([], []) for name in MEASURES}
    for row in rows:
        values[row["measure"]].value.append(row["value"])
        values[row["measure"]].cluster.append(row["cluster"])
    return values


def main(seeds: int = SEEDS) -> None:
    """Train what is not there yet, and print the table."""
    warnings.simplefilter("ignore", DataWarning)
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    train, test = trained_and_tested(DATA, OUT, split_seed=DIVISION)
    fit = FitOptions(epochs=1, rate=RATE, threads=1)
    trainings = RegimeTrainings(times=seeds, settings=DualSettings(steps=STEPS), fit=fit)
    study = run_regime_study(train, test, OUT, trainings=trainings)
    specs = {(one.regime, one.seed): one.spec for one in study.trainings}
    runs: dict[str, list[dict[str, Values]]] = {}
    for seed in range(seeds):
        for regime in REGIMES:
            path = OUT / "alignment" / f"{regime} {seed}.json"
            runs.setdefault(regime, []).append(kept_run(path, partial(run, test, specs[regime, seed])))
    rows = [["regime", *(f"{name}{what}" for name in MEASURES for what in ("", ": − untrained"))]]
    for regime in runs:
        row = [regime]
        for name in MEASURES:
            own, other = ([[one[name]] for one in runs[kind]] for kind in (regime, UNTRAINED))
            gap = "" if regime == UNTRAINED else marked(difference(own, other), digits=2)
            row += [shown(mean_of(own)), gap]
        rows.append(row)
    table(f"Weak and strong alignment, XQuAD-R, articles apart, {seeds} seeds", rows)


if __name__ == "__main__":
    main()
