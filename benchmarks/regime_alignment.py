"""Weak and strong alignment of LAReQA's regimes: of every model in the folder of `casestudy lareqa`.

    python -m benchmarks.keep multilingual-pool python -m benchmarks.regime_alignment FOLDER

FOLDER holds `pool`, divided into train and test, and `models/REGIME-SEED`. Seeds count where every regime has
a model. Intervals count seeds and questions (by paragraph) as samples; differences are paired by both.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from benchmarks.experiments import Values, difference, marked, mean_of, shown, table
from xlingual import MultilingualPool, multilingual_pool
from xlingual.data.pools.splitting import TEST
from xlingual.errors import DataWarning

UNTRAINED = "untrained"
MEASURES = ("AP", "WeakAlignment", "StrongAlignment")


def models_of(folder: Path) -> dict[str, dict[str, Path]]:
    """Return the models by seed, then regime; only of seeds of which every regime has one."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.glob("*-*/config.json")):
        regime, _, seed = path.parent.name.rpartition("-")
        found.setdefault(seed, {})[regime] = path.parent
    every = {regime for own in found.values() for regime in own}
    return {seed: own for seed, own in found.items() if own.keys() == every}


def evaluated(pool: MultilingualPool, models: dict[str, Path]) -> dict[str, dict[str, Values]]:
    """Return the values of the questions by regime, then measure."""
    specs = {regime: f"model:{path}" for regime, path in models.items()}
    results = multilingual_pool(pool, text_encoders=specs, measures=MEASURES, views="none")
    found: dict[str, dict[str, Values]] = {}
    for row in results.per_query.select(["encoder", "measure", "cluster", "value"]).to_pylist():
        own = found.setdefault(row["encoder"], {}).setdefault(row["measure"], Values([], []))
        own.value.append(row["value"])
        own.cluster.append(row["cluster"])
    return found


def main(folder: Path) -> None:
    """Evaluate the models and print the table, the best regime by strong alignment first."""
    warnings.simplefilter("ignore", DataWarning)
    pool, seeds = MultilingualPool.read(folder / "pool", split=TEST), models_of(folder / "models")
    if not seeds:
        raise SystemExit(f"{folder / 'models'} has no seed with a model of every regime")
    runs = [evaluated(pool, models) for models in seeds.values()]

    def of(regime: str, measure: str) -> list[list[Values]]:
        return [[run[regime][measure]] for run in runs]

    regimes = sorted(runs[0], key=lambda one: -mean_of(of(one, "StrongAlignment"))[0])
    rows = [["regime", *(f"{name}{what}" for name in MEASURES for what in ("", ": − untrained"))]]
    for regime in regimes:
        row = [regime]
        for name in MEASURES:
            gap = difference(of(regime, name), of(UNTRAINED, name)) if regime != UNTRAINED else None
            row += [shown(mean_of(of(regime, name))), "" if gap is None else marked(gap, digits=2)]
        rows.append(row)
    table(f"Alignment of regimes, {len(pool.questions)} questions, {len(runs)} seeds, × 100", rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
