"""LAReQA's regimes of batches on XQuAD-R: which of them aligns languages, from scratch on a CPU.

`python -m benchmarks regimes` divides XQuAD-R by article, trains a small dual encoder in each regime with
several seeds on one half, and evaluates on the other: mAP in the pool of all languages, and in the pool of
the question's own language. Intervals count seeds and questions (by paragraph) as samples. Trainings are kept
under out/regimes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.experiments import Values, difference, kept_run, marked, mean_of, shown, table
from xlingual import MultilingualPool
from xlingual.data.pools.parallel_reading import of_pool
from xlingual.data.pools.splitting import TEST, TRAIN, split_pool
from xlingual.embed import embed_pool
from xlingual.encoders import text_encoders
from xlingual.errors import DataWarning
from xlingual.evaluation.multilingual_pool.language_bias import monolingual_average_precision
from xlingual.evaluation.multilingual_pool.one_pass import one_pass
from xlingual.evaluation.multilingual_pool.relevant_ranks import relevant_ranks
from xlingual.measures import average_precision
from xlingual.training.options import FitOptions
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.workflows.train_dual_encoder import train_dual_encoder

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "xquad_r"
OUT = Path("out/regimes")
REGIMES = ("x-y", "x-x-mono", "en-en", "x-x")  # as the paper orders them on XQuAD-R
SEEDS, STEPS, RATE = 5, 600, 1e-3
KINDS = {"pool": "all languages", "own": "own language"}
DIVISION = 11  # seed of the division: not one that options were tried on


def divided() -> tuple[MultilingualPool, MultilingualPool]:
    """Return the articles that are trained on and those that are tested on."""
    folder = OUT / f"pool-{DIVISION}"
    if not folder.exists():
        pool = split_pool(MultilingualPool.read(DATA), 0.5, DIVISION, by="article")
        MultilingualPool.of(pool).write(folder)
    return MultilingualPool.read(folder, split=TRAIN), MultilingualPool.read(folder, split=TEST)


def run(train: MultilingualPool, test: MultilingualPool, regime: str, seed: int) -> dict[str, Values]:
    """Train in a regime with a seed; return the average precision of each test question in both pools."""
    untrained = regime == "untrained"
    options = DualOptions(regime="x-y" if untrained else regime, steps=1 if untrained else STEPS, seed=seed)
    fit = FitOptions(epochs=1, rate=1e-9 if untrained else RATE, patience=None, seed=seed, threads=1)
    folder = tempfile.mkdtemp()
    try:
        train_dual_encoder(of_pool(train), folder, options, fit=fit, validation=None, replace=True)
        (name, encoder), *_ = text_encoders(f"model:{folder}", languages=test.languages).items()
        vectors = embed_pool(test, name, encoder)
    finally:
        shutil.rmtree(folder)
    counts = one_pass(test, vectors.questions, vectors.candidates).counts
    cluster = counts.cluster.tolist()
    own = monolingual_average_precision(relevant_ranks(counts))
    known = ~np.isnan(own)
    return {
        "pool": Values(average_precision(counts.whole_pool()).tolist(), cluster),
        "own": Values(own[known].tolist(), counts.cluster[known].tolist()),
    }


def _of(runs: dict[str, list[dict[str, Values]]], regime: str, kind: str) -> list[list[Values]]:
    return [[found[kind]] for found in runs[regime]]


def main(seeds: int = SEEDS) -> None:
    """Train what is not there yet, and print the table."""
    warnings.simplefilter("ignore", DataWarning)
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    train, test = divided()
    runs: dict[str, list[dict[str, Values]]] = {}
    for seed in range(seeds):
        for regime in (*REGIMES, "untrained"):
            path = OUT / f"{regime} {seed}.json"
            runs.setdefault(regime, []).append(kept_run(path, partial(run, train, test, regime, seed)))
            print(f"{regime} seed {seed}", flush=True)
    rows = [
        [
            "regime",
            *(f"{pool}{what}" for pool in KINDS.values() for what in (", mAP", ": − next", ": − untrained")),
        ]
    ]
    for regime, following in zip(runs, [*list(runs)[1:], "untrained"], strict=True):
        row = [regime]
        for kind in KINDS:
            row.append(shown(mean_of(_of(runs, regime, kind))))
            for other in (following, "untrained"):
                gap = difference(_of(runs, regime, kind), _of(runs, other, kind))
                row.append("" if regime == "untrained" else marked(gap, digits=2))
        rows.append(row)
    table(f"XQuAD-R, articles apart, {seeds} seeds", rows)
    pooled = {regime: mean_of([[found["pool"]] for found in own])[0] for regime, own in runs.items()}
    assert pooled["x-y"] > pooled["x-x"], pooled
