"""Weak and strong alignment of LAReQA's regimes of batches on XQuAD-R, with several seeds.

`python -m benchmarks.keep multilingual-pool python -m benchmarks regime_alignment` trains a small dual
encoder in each regime, as `benchmarks regimes` does, and evaluates it on the other articles. Intervals count
seeds and questions (by paragraph) as samples. What a training gave is kept under out/regimes/alignment.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from functools import partial

from benchmarks.experiments import Values, difference, kept_run, marked, mean_of, shown, table
from benchmarks.regimes import DATA, OUT, RATE, REGIMES, SEEDS, STEPS, divided
from xlingual import MultilingualPool, multilingual_pool
from xlingual.data.pools.parallel_reading import of_pool
from xlingual.errors import DataWarning
from xlingual.training.options import FitOptions
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.workflows.train_dual_encoder import train_dual_encoder

UNTRAINED = "untrained"
TRAINED = (*REGIMES[:1], "hybrid", *REGIMES[1:])
MEASURES = ("AP", "WeakAlignment", "StrongAlignment", "StrongAlignment/strict-own")


def run(train: MultilingualPool, test: MultilingualPool, regime: str, seed: int) -> dict[str, Values]:
    """Train in a regime with a seed; return every measure's values of the test questions."""
    untrained = regime == UNTRAINED
    options = DualOptions(regime="x-y" if untrained else regime, steps=1 if untrained else STEPS, seed=seed)
    fit = FitOptions(epochs=1, rate=1e-9 if untrained else RATE, patience=None, seed=seed, threads=1)
    folder = tempfile.mkdtemp()
    try:
        train_dual_encoder(of_pool(train), folder, options, fit=fit, validation=None, replace=True)
        found = multilingual_pool(
            test, text_encoders=f"model:{folder}", measures=MEASURES, views="none", store=None
        )
    finally:
        shutil.rmtree(folder)
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
    train, test = divided()
    runs: dict[str, list[dict[str, Values]]] = {}
    for seed in range(seeds):
        for regime in (*TRAINED, UNTRAINED):
            path = OUT / "alignment" / f"{regime} {seed}.json"
            runs.setdefault(regime, []).append(kept_run(path, partial(run, train, test, regime, seed)))
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
