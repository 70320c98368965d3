"""What β, further languages and a map of texts for each language bring: MLMME on emoji and on scenes.

`python -m benchmarks mlmme_runs` prints the tables of docs/results/mlmme.md and draws its figures. β is on
the scale of the paper (`pairs` ordered-sum). Every training is kept under out/mlmme, so that what is there is
not done again. Seeds and data sets can be given, and tables made of the seeds that are finished:

    python -c "from benchmarks.mlmme_runs import main; main(['emoji'], seeds=2)"
    python -m benchmarks.mlmme_runs --finished
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.experiments import Values, difference, kept_run, marked, mean_of, shown, table, values_of
from xlingual import (
    Manifest,
    backretrieval,
    crosslingual_retrieval,
    image_sentence,
    multilingual_pool,
    write_scenes,
)
from xlingual.arrays import Ints
from xlingual.data.pools.mix import mix_pool
from xlingual.errors import DataWarning
from xlingual.streams import stream
from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.workflows.train_mlmme import train_mlmme

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("out/mlmme")
KEPT = OUT / "paper-scale"  # values of the trainings
TWO, FIVE = ("en", "de"), ("en", "de", "fr", "es", "ru")
SHARED = ", shared map"
BETAS = (1.0, 0.75, 0.5, 0.25)
SMALL = {"word_dim": 64, "state_dim": 128, "joint_dim": 128, "standardize_pictures": True}


@dataclass(frozen=True)
class Config:
    """A model: its languages and what differs from the defaults."""

    name: str
    languages: tuple[str, ...]
    beta: float
    more: Mapping[str, Any] = field(default_factory=dict)


# one map of texts for each language, as in the paper, or one for all
MAPS = {"": "per-language", SHARED: "shared"}


def configs(betas: Sequence[float]) -> list[Config]:
    """Return the models that are compared: one language, two over β, and five; β as in the paper."""
    alone = [Config(f"{tag} alone", (tag,), 1.0) for tag in TWO]
    several = [
        Config(f"{word} β={beta:g}{name}", tags, beta, {"pairs": "ordered-sum", "text_map": text_map})
        for word, tags, of in (("two", TWO, betas), ("five", FIVE, (1.0, 0.5)))
        for beta in of
        for name, text_map in MAPS.items()
    ]
    return [*alone, *several]


@dataclass(frozen=True)
class Parts:
    """What is trained on, validated on and tested."""

    train: Manifest
    validation: Manifest
    test: Manifest
    epochs: int
    betas: tuple[float, ...]  # of the models of two languages
    only: tuple[str, ...] = ()  # names of the models that are trained; none: all
    images: str = "pixels"  # the image encoder
    patience: int = 15

    @property
    def configs(self) -> list[Config]:
        """Return the models that are trained."""
        return [config for config in configs(self.betas) if not self.only or config.name in self.only]


def emoji(tags: Sequence[str] = FIVE) -> Parts:
    """Return 1,100, 150 and 323 emoji with names and keywords in some languages, and their images."""
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "emoji" / "emoji.parquet")
    rows = [
        {"id": row["id"], "image": row["image_png"]}
        | {f"text_{tag}_1": row[f"name_{tag}"] for tag in tags}
        | {f"text_{tag}_2": row[f"keywords_{tag}"].replace(" | ", " ") for tag in tags}
        for row in table.to_pylist()
    ]
    return _divided(Manifest.from_rows(rows), 1100, 150, 323, epochs=60, betas=(*BETAS, 0.0))


def scenes(epochs: int = 8) -> Parts:
    """Return 10,000, 500 and 1,000 built-in scenes described in five languages."""
    folder = OUT / "scenes-data"
    if not (folder / "manifest.parquet").exists():
        write_scenes(folder, n=11_500, languages=FIVE, seed=1, size=64)
    return _divided(Manifest.read(folder), 10_000, 500, 1000, epochs=epochs, betas=(1.0, 0.5))


def scenes_long() -> Parts:
    """Return the same for three times the epochs, and some models: more languages may only need longer."""
    return replace(scenes(24), only=("en alone", "two β=1", "two β=0.5", "five β=0.5"))


def _divided(manifest: Manifest, *sizes: int, epochs: int, betas: tuple[float, ...]) -> Parts:
    order: Ints = stream(0, "division").permutation(manifest.n_table_rows)
    ends = np.cumsum((0, *sizes))
    parts = [manifest.part(np.sort(order[a:b])) for a, b in pairwise(ends)]
    return Parts(*parts, epochs=epochs, betas=betas)


def run(parts: Parts, config: Config, seed: int) -> dict[str, Values]:
    """Train a model with a seed and return its values on the test set, by task."""
    options = MlmmeOptions(languages=config.languages, beta=config.beta, seed=seed, **SMALL, **config.more)
    eye = parts.images if config.beta > 0 else None
    folder = Path(tempfile.mkdtemp())
    try:
        fit = FitOptions(epochs=parts.epochs, patience=parts.patience, seed=seed, threads=1)
        train_mlmme(
            parts.train,
            options,
            folder,
            fit=fit,
            image_encoder=eye,
            validation=parts.validation,
            replace=True,
            store=OUT / "store",
        )
        return _evaluated(parts, config, f"model:{folder}")
    finally:
        shutil.rmtree(folder)


def _evaluated(parts: Parts, config: Config, model: str) -> dict[str, Values]:
    found: dict[str, Values] = {}
    test, images = parts.test, parts.images
    tags = [tag for tag in TWO if tag in config.languages]
    with_store = {"store": OUT / "store"}
    if config.beta > 0:
        eyes = f"{model}::{images}"
        found |= values_of(
            image_sentence(test, text_encoders=model, image_encoders=eyes, languages=tags, **with_store)
        )
    if len(tags) == 2:
        pairs = [f"{TWO[0]}-{TWO[1]}", f"{TWO[1]}-{TWO[0]}"]
        found |= values_of(crosslingual_retrieval(test, text_encoders=model, pairs=pairs, store=None))
        found |= values_of(
            backretrieval(
                test, text_encoders=model, image_encoder=images, pairs=pairs, examples=False, **with_store
            )
        )
        pool = mix_pool(test, question_languages=TWO, mix=dict.fromkeys(TWO, 1.0), seed=0)
        views = multilingual_pool(pool, text_encoders=model, views="all", examples=False, store=None)
        found |= values_of(views)
    return found


Cell: TypeAlias = Callable[[tuple[float, Any]], str]
Runs: TypeAlias = Mapping[str, list[dict[str, Values]]]  # by model, a run for each seed
IMAGE = {
    "sentence → image R@1": ("{tag} image Success@1",),
    "R@5": ("{tag} image Success@5",),
    "R@10": ("{tag} image Success@10",),
    "image → sentence R@1": ("image {tag} Success@1",),
    "R@5 ": ("image {tag} Success@5",),
    "R@10 ": ("image {tag} Success@10",),
}
ALIGNED = {
    "image–sentence, mean recall": tuple(
        f"image-sentence {ends} Success@{k}"
        for tag in TWO
        for ends in (f"{tag} image", f"image {tag}")
        for k in (1, 5, 10)
    ),
    "XLR Success@10": (
        "crosslingual-retrieval en de Success@10",
        "crosslingual-retrieval de en Success@10",
    ),
    "BkR R@10": ("backretrieval en de R@10", "backretrieval de en R@10"),
    "pool mAP": ("multilingual-pool all pool AP",),
}


def gap_cell(runs: Runs) -> Cell:
    """Return how a difference is shown: of one seed nothing is marked, for another seed may say otherwise."""
    return marked if len(next(iter(runs.values()))) > 1 else shown


def say_seeds(runs: Runs) -> None:
    """Print how many seeds there are."""
    n = len(next(iter(runs.values())))
    alone = ": intervals count queries alone, and another seed may differ by some points" * (n == 1)
    print(f"\n{n} seed{'s' * (n > 1)}{alone}.")


def recalls(runs: Runs, tag: str) -> list[list[str]]:
    """Return Table 1 of a language: one model of that language alone, and differences to it."""
    base = f"{tag} alone"
    others = [name for name, found in runs.items() if f"image-sentence {tag} image Success@1" in found[0]]
    others = [name for name in others if name != base and not name.endswith(SHARED)]
    rows = [["", base, *others]]
    for name, keys in IMAGE.items():
        keys = tuple(f"image-sentence {key.format(tag=tag)}" for key in keys)
        own = [[found[key] for key in keys] for found in runs[base]]
        cells = [shown(mean_of(own))]
        for other in others:
            theirs = [[found[key] for key in keys] for found in runs[other]]
            cells.append(f"{100 * mean_of(theirs)[0]:.1f} ({gap_cell(runs)(difference(theirs, own))})")
        rows.append([name, *cells])
    return rows


def alignment(runs: Runs) -> dict[str, dict[str, tuple[float, Any]]]:
    """Return for each model of two languages or more each kind of alignment that it has numbers of."""
    return {
        name: {
            kind: mean_of([[one[key] for key in keys] for one in found])
            for kind, keys in ALIGNED.items()
            if all(key in found[0] for key in keys)
        }
        for name, found in runs.items()
        if "alone" not in name
    }


def differences(runs: Runs, bases: Mapping[str, str]) -> dict[str, dict[str, tuple[float, Any]]]:
    """Return models' differences to other models (`bases`), query by query, for each alignment of both."""
    return {
        name: {
            kind: difference(*([[one[key] for key in keys] for one in runs[each]] for each in (name, base)))
            for kind, keys in ALIGNED.items()
            if all(key in runs[each][0] for key in keys for each in (name, base))
        }
        for name, base in bases.items()
        if name != base and {name, base} <= set(runs)
    }


def to_beta_1(runs: Runs) -> dict[str, str]:
    """Return for each model of two languages or more the one of two with β = 1 and maps of the same kind."""
    return {name: f"two β=1{SHARED * name.endswith(SHARED)}" for name in runs if "alone" not in name}


def aligned_rows(found: Mapping[str, Mapping[str, tuple[float, Any]]], cell: Cell) -> list[list[str]]:
    """Return the rows of a table of them."""
    rows = [
        [model, *(cell(own[kind]) if kind in own else "" for kind in ALIGNED)] for model, own in found.items()
    ]
    return [["", *ALIGNED], *rows]


def draw(data: str, gaps: Mapping[str, Mapping[str, tuple[float, Any]]], path: Path) -> None:
    """Draw what language alignment gains and image alignment loses, over β, against β = 1."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    across, *up = ALIGNED
    figure, axes = plt.subplots(1, len(up), figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True)
    for axis, kind in zip(axes, up, strict=True):
        axis.axhline(0, color="#999999", lw=0.8)
        axis.axvline(0, color="#999999", lw=0.8)
        for end, colour, light, label in (
            ("", "#0072B2", "#9ecae1", "a map for each language"),
            (SHARED, "#D55E00", "#f3c6a5", "one map for all"),
        ):
            _curve(axis, gaps, end, (across, kind), color=colour, ecolor=light, label=label)
        axis.set_title(kind)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("difference to β = 1 (points)")
    axes[0].legend(frameon=False, fontsize="small")
    figure.supxlabel("image–sentence ranking: mean recall, difference to β = 1 (points)", fontsize="medium")
    figure.suptitle(f"{data}, two languages: what β trades, with 95 % intervals of the differences")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _curve(
    axis: Any,
    gaps: Mapping[str, Mapping[str, tuple[float, Any]]],
    end: str,
    kinds: tuple[str, str],
    **style: Any,
) -> None:
    names = [name for name, own in gaps.items() if name.startswith("two") and kinds[0] in own]
    names = [name for name in names if name.endswith(SHARED) == bool(end)]
    if not names:
        return
    places, errors = [], []
    for kind in kinds:
        values = [gaps[name][kind] for name in names]
        places.append([0.0, *(100 * value for value, _ in values)])
        errors.append(
            [
                [0.0, *(100 * (value - ci.low) for value, ci in values)],
                [0.0, *(100 * (ci.high - value) for value, ci in values)],
            ]
        )
    side = "left" if end else "right"
    axis.errorbar(*places, xerr=errors[0], yerr=errors[1], fmt="o-", **style)
    for place, (name, x, y) in enumerate(zip(["two β=1", *names], *places, strict=True)):
        beside = (5 if end else -5, -13 if place % 2 == 0 and place else 5)  # neighbours' names apart
        word = name.removeprefix("two ").removesuffix(SHARED)
        axis.annotate(word, (x, y), textcoords="offset points", xytext=beside, color=style["color"], ha=side)


def runs_of(parts: Parts, name: str, seeds: int, train: bool = True) -> dict[str, list[dict[str, Values]]]:
    """Return the runs of each model, a seed behind the other; those that are not there are trained.

    Without `train`, of the models whose first seed is there, the seeds that all of them have.
    """

    def path(config: Config, seed: int) -> Path:
        return KEPT / name / f"{config.name} {seed}.json"

    models = [config for config in parts.configs if train or path(config, 0).exists()]
    runs: dict[str, list[dict[str, Values]]] = {}
    for seed in range(seeds):
        if not train and not all(path(config, seed).exists() for config in models):
            continue
        for config in models:
            print(f"{name} {config.name} seed {seed}", flush=True, file=sys.stderr)
            found = kept_run(path(config, seed), partial(run, parts, config, seed))
            runs.setdefault(config.name, []).append(_hit_rates(found))
    return runs


def _hit_rates(found: Mapping[str, Values]) -> dict[str, Values]:
    """Return values with R@k of retrieval called Success@k: with one right answer they are one number."""
    task = "crosslingual-retrieval"
    return {
        key.replace(" R@", " Success@") if key.startswith(task) else key: own for key, own in found.items()
    }


SETS = {"emoji": (emoji, 3), "scenes": (scenes, 3), "scenes-long": (scenes_long, 3)}


def main(names: Sequence[str] = tuple(SETS), seeds: int | None = None, train: bool = True) -> None:
    """Train what is not there yet, and print the tables."""
    warnings.simplefilter("ignore", DataWarning)
    for name in names:
        load, usual = SETS[name]
        parts = load()
        runs = runs_of(parts, name, seeds or usual, train)
        gaps = differences(runs, to_beta_1(runs))
        if not gaps:
            print(f"{name}: no two models of two languages are finished", file=sys.stderr)
            continue
        say_seeds(runs)
        for tag in TWO:
            if f"{tag} alone" in runs:
                table(f"{name}, {tag}: {parts.test.n_items} items", recalls(runs, tag))
        found = alignment(runs)
        table(f"{name}: image alignment and language alignment", aligned_rows(found, shown))
        table(f"{name}: differences to two languages, β=1", aligned_rows(gaps, gap_cell(runs)))
        maps = differences(runs, {model: model + SHARED for model in runs})
        if maps:
            table(f"{name}: a map for each language against one for all", aligned_rows(maps, gap_cell(runs)))
        draw(name, gaps, Path(f"docs/images/mlmme-{name}-maps.png"))
        best = {kind: max(own[kind][0] for own in found.values() if kind in own) for kind in ALIGNED}
        assert best["XLR Success@10"] > 10 / len(parts.test) * 5, "nothing was learnt"


if __name__ == "__main__":
    main(train="--finished" not in sys.argv)
