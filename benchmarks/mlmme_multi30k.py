"""MLMME without images (β = 0) on the texts of Multi30k: translations against independent descriptions.

`python -m benchmarks mlmme_multi30k` trains on the translations of task 1 and on the five descriptions of
task 2, with several seeds, and holds both against LSA fitted on the same translations: retrieval of
translations (XLR) on test_2016, and textual similarity of image captions (Table 2 of the paper, without
images). Character n-grams, which need no training, stand beside both. Trainings are kept under out/mlmme.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from functools import partial
from pathlib import Path

from benchmarks.experiments import Values, difference, kept_run, marked, mean_of, shown, table, values_of
from xlingual import Manifest, crosslingual_retrieval, sts
from xlingual.errors import DataWarning
from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.workflows.train_mlmme import train_mlmme

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("out/mlmme")
PAIRS = ("en-de", "de-en")
SEEDS = 3
TASKS = {"translations (task 1)": "task1", "descriptions (task 2)": "task2"}
# a description is a positive once an epoch, and task 2 has five for each of task 1's: as many steps for both
EPOCHS = {"task1": 30, "task2": 6}
BASE, LETTERS = "lsa on the translations", "chargram (character n-grams, not trained)"
SIZES = {"word_dim": 128, "state_dim": 256, "joint_dim": 256, "threshold": 2}


def run(task: str, seed: int) -> dict[str, Values]:
    """Train on a task's 29,000 items with a seed; return values of retrieval and of similarity."""
    options = MlmmeOptions(languages=("en", "de"), beta=0.0, seed=seed, contrast="in-batch", **SIZES)
    folder = Path(tempfile.mkdtemp())
    try:
        train_mlmme(
            Manifest.read(DATA / "multi30k" / f"{task}_train.parquet"),
            options,
            folder,
            fit=FitOptions(epochs=EPOCHS[task], seed=seed, threads=1),
            validation=Manifest.read(DATA / "multi30k" / f"{task}_val.parquet", rows="0:500"),
            replace=True,
        )
        return evaluated(f"model:{folder}")
    finally:
        shutil.rmtree(folder)


def evaluated(encoder: str) -> dict[str, Values]:
    """Return the hits of retrieval, and each file's correlation as one value."""
    test = Manifest.read(DATA / "multi30k" / "task1_test_2016_flickr.parquet")
    found = values_of(
        crosslingual_retrieval(test, text_encoders=encoder, pairs=PAIRS, measures=("R@1", "R@10"))
    )
    files = [DATA / "sts_images" / f"sts{year}_images.parquet" for year in (2014, 2015)]
    for entry in sts(files, language="en", text_encoders=encoder).entries:
        if entry.value is not None:
            found[f"{entry.target} {entry.measure}"] = Values([entry.value], [0])
    return found


def main(seeds: int = SEEDS) -> None:
    """Train what is not there yet, and print the tables."""
    warnings.simplefilter("ignore", DataWarning)
    runs = {}
    for name, task in TASKS.items():
        for seed in range(seeds):
            path = OUT / "multi30k" / f"{task} {seed}.json"
            runs.setdefault(name, []).append(kept_run(path, partial(run, task, seed)))
            print(f"{name} seed {seed}", flush=True)
    fit = DATA / "multi30k" / "task1_train.parquet"
    lsa = kept_run(OUT / "multi30k" / "lsa.json", partial(evaluated, f"lsa:?fit={fit}&dim=150"))
    runs[BASE] = [lsa]  # has no seed
    runs[LETTERS] = [kept_run(OUT / "multi30k" / "chargram.json", partial(evaluated, "chargram"))]
    rows = [["", "XLR R@1", "XLR R@10", "against lsa", "STS 2014", "STS 2015"]]
    for name, found in runs.items():
        gap = _gap(found, runs) if name in TASKS else ""
        rows.append([name, *(shown(_hits(found, k)) for k in (1, 10)), gap, *_similar(found)])
    table(f"Multi30k, β = 0, {seeds} seeds", rows)
    assert _hits(runs["translations (task 1)"], 10)[0] > 0.1, "nothing was learnt"


def _keys(k: int) -> list[str]:
    return [f"crosslingual-retrieval {pair.replace('-', ' ')} R@{k}" for pair in PAIRS]


def _hits(found: list[dict[str, Values]], k: int):
    return mean_of([[one[key] for key in _keys(k)] for one in found])


def _gap(found: list[dict[str, Values]], runs: dict[str, list[dict[str, Values]]]) -> str:
    sides = (found, runs[BASE] * len(found))
    return marked(difference(*([[one[key] for key in _keys(10)] for one in side] for side in sides)))


def _similar(found: list[dict[str, Values]]) -> list[str]:
    """Return each file's correlation, mean over seeds and their range."""
    cells = []
    for year in (2014, 2015):
        values = [one[f"sts{year}_images Pearson"].value[0] for one in found]
        spread = f" ({min(values):.3f}–{max(values):.3f})" if max(values) > min(values) else ""
        cells.append(f"{sum(values) / len(values):.3f}{spread}")
    return cells
