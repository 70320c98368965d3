"""The image pivot beside what else is trained on the same data: Triplet, TripletXL and MLMME.

All are trained by the library's own functions on the same texts and images, each item in one language, and
are tested by XLR on other items, in both languages. Triplet and TripletXL read titles and bodies, and no
images; MLMME reads images and sentences, and no encoder.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pivot_data import DATA
from benchmarks.pivot_sets import OUT, SPECS, emoji, recipes, scenes
from xlingual import Manifest
from xlingual.data.pools.clusters import joined
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.recipes.triplet_options import FIT, TripletOptions
from xlingual.workflows.pivoting import train_pivot
from xlingual.workflows.train_mlmme import train_mlmme
from xlingual.workflows.train_triplet import train_triplet

Json = dict[str, Any]
Tables = tuple[pa.Table, pa.Table]  # to fit on, and to test on
Item = Mapping[str, Mapping[str, Any]]  # language → title, body, image
BETA, HIGHER_BETA = 0.01, 0.3  # of TripletXL: the paper's, and the one of docs/results/case-study.md
# smaller than by default, and in smaller batches, since there are some hundreds of texts
MLMME: Mapping[str, Any] = {"word_dim": 300, "state_dim": 256, "joint_dim": 512, "batch": 32}
MLMME_EPOCHS = 15
VECTORS = "vectors:"  # of images, in the column "features"


@dataclass(frozen=True)
class Set:
    """Items in two languages, with images, and encoders that were not fitted on them.

    `fitting`: other items, in one language each; without it some of `items` are fitted on.
    """

    name: str
    languages: tuple[str, str]
    items: Sequence[Item]
    encoders: Mapping[str, str]
    fit: int
    test: int
    images: str = "pixels:"
    fitting: Sequence[Item] | None = None

    def parts(self, seed: int) -> Tables:
        """Return texts to fit on, one of each item, and others to test on, in both languages."""
        rng = np.random.default_rng(seed)
        texts = [
            ["\n".join((each[tag]["title"], each[tag]["body"])) for each in self.items]
            for tag in self.languages
        ]
        group = joined(np.arange(len(self.items)), *texts)
        names, place = np.unique(group, return_inverse=True)
        order = np.argsort(rng.permutation(len(names))[place], kind="stable")
        tested, rest = order[: self.test], order[self.test :]
        rest = rest[~np.isin(group[rest], group[tested])]
        if self.fitting is None:
            fitted = [
                (self.items[n], self.languages[at % 2]) for at, n in enumerate(rest[: self.fit].tolist())
            ]
        else:
            drawn = rng.permutation(len(self.fitting))[: self.fit].tolist()
            fitted = [(self.fitting[n], tag) for n in drawn for tag in self.fitting[n]]
        test = [(self.items[n], tag) for n in tested.tolist() for tag in self.languages]
        return _table(fitted), _table(test)


def _table(rows: Sequence[tuple[Item, str]]) -> pa.Table:
    """Return items in a language each, one row a text."""
    found = [
        {"lang": tag, **item[tag], "text": f"{item[tag]['title']}\n{item[tag]['body']}"} for item, tag in rows
    ]
    return pa.Table.from_pylist([{**each, "id": f"{each['item']}-{each['lang']}"} for each in found])


def _halves(text: str) -> tuple[str, str]:
    """Return the first sentence and the rest; the whole twice where there is one only."""
    parts = re.split(r"(?<=[.!?]) +", text.strip(), maxsplit=1)
    return parts[0], parts[-1]


def _item(name: str, image: Any, texts: Mapping[str, tuple[str, str]], **more: Any) -> Item:
    return {
        tag: {"item": name, "title": a, "body": b, "image": image, **more} for tag, (a, b) in texts.items()
    }


def sets() -> Iterator[Set]:
    """Yield IKEA, emoji, scenes and recipes."""
    train = DATA / "ikea/ikea_en_de_train.parquet"
    rows = pq.read_table(DATA / "ikea/ikea_en_de_eval.parquet").to_pylist()
    items = [
        _item(
            row["id"],
            row["image"],
            {tag: _halves(row[f"raw_{tag}"]) for tag in ("en", "de")},
            features=row["image_features"],
        )
        for row in rows
    ]
    specs = {name: f"{SPECS[name]}&fit={train}" for name in ("chargram", "lsa 100")}
    yield Set("IKEA", ("en", "de"), items, specs, 450, 280, VECTORS)

    next(emoji(("chargram",)))
    kept, languages = OUT / "emoji.parquet", ("en", "de")
    rows = pq.read_table(DATA / "emoji/emoji.parquet").to_pylist()
    fitted = pq.read_table(kept, columns=["split"])["split"].to_pylist()
    items = [
        _item(
            row["id"],
            row["image_png"],
            {tag: (row[f"name_{tag}"], row[f"keywords_{tag}"].replace("|", " ")) for tag in languages},
        )
        for row, part in zip(rows, fitted, strict=True)
        if part == "test" and all(row[f"{what}_{tag}"] for what in ("name", "keywords") for tag in languages)
    ]
    specs = {name: f"{SPECS[name]}&fit={kept}#train" for name in ("chargram", "lsa 100")}
    yield Set("emoji", languages, items, specs, 800, 300)

    next(scenes(("chargram",)))
    kept, languages = OUT / "scenes/marked.parquet", ("en", "es")
    rows = [row for row in pq.read_table(kept).to_pylist() if row["split"] == "test"][:2000]
    items = [
        _item(row["id"], _image(kept, row), {tag: _halves(row[f"text_{tag}"]) for tag in languages})
        for row in rows
    ]
    specs = {name: f"{SPECS[name]}&fit={kept}#train" for name in ("chargram", "lsa 300")}
    yield Set("scenes", languages, items, specs, 800, 300)

    next(recipes(("chargram",)))
    kept = OUT / "recipes/manifest.parquet"
    rows = [row for row in pq.read_table(kept).to_pylist() if row["lang"] in languages]
    single = [
        _item(row["item"], _image(kept, row), {row["lang"]: (row["title"], row["body"])})
        for row in rows
        if row["split"] == "test"
    ]
    dishes: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["split"] == "fit":
            own = _item(row["item"], _image(kept, row), {row["lang"]: (row["title"], row["body"])})
            dishes.setdefault(row["item"], {}).update(own)
    specs = {"chargram": f"{SPECS['chargram']}&fit={kept}#train"}
    yield Set("recipes", languages, list(dishes.values()), specs, 800, 300, fitting=single)


def _image(manifest: Path, row: Mapping[str, Any]) -> bytes | None:
    """Return the image of a row; None where it has none, as the texts that are only tested on."""
    return (manifest.parent / row["image"]).read_bytes() if row["image"] else None


def trained(data: Set, seed: int, tables: Tables, folder: Path, encoder: str) -> Json:
    """Return the XLR R@10 of an encoder, and of what is trained on it."""
    began = time.perf_counter()
    fit, test = _manifests(tables, folder)
    spec = data.encoders[encoder]
    pivot = train_pivot(fit, spec, _images(data, folder), held_out=0.0, seed=seed, store=None)
    pivot.write(folder / "pivot")
    models = {
        "none": spec,
        "title and body": f"concat:::{spec}",
        "pivot": f"model:{folder / 'pivot'}::{spec}",
    }
    for name, beta in (("Triplet", 0.0), ("TripletXL", BETA), ("TripletXL .3", HIGHER_BETA)):
        train_triplet(
            fit,
            TripletOptions(beta=beta, seed=seed),
            folder / name.replace(" ", "-"),
            text_encoder=spec,
            fit=FitOptions(seed=seed, **FIT),
            store=None,
        )
        models[name] = f"model:{folder / name.replace(' ', '-')}::{spec}"
    return {
        "chosen": pivot.found.chosen,
        **_tested(test, models),
        "seconds": round(time.perf_counter() - began, 1),
    }


def mlmme(data: Set, seed: int, tables: Tables, folder: Path) -> Json:
    """Return the XLR R@10 of MLMME, trained on the images and texts alone."""
    began = time.perf_counter()
    fit, test = _manifests(tables, folder)
    options = MlmmeOptions(languages=data.languages, seed=seed, **MLMME)
    train_mlmme(
        fit,
        options,
        folder / "mlmme",
        fit=FitOptions(seed=seed, epochs=MLMME_EPOCHS),
        image_encoder=_images(data, folder),
        store=None,
    )
    found = _tested(test, {"MLMME": f"model:{folder / 'mlmme'}"})
    return {**found, "seconds": round(time.perf_counter() - began, 1)}


def _images(data: Set, folder: Path) -> str:
    """Return the image encoder of what is fitted on."""
    return f"{VECTORS}{folder / 'fit.npy'}" if data.images == VECTORS else data.images


def _manifests(tables: Tables, folder: Path) -> tuple[Manifest, Manifest]:
    found = []
    for name, table in zip(("fit", "test"), tables, strict=True):
        if "features" in table.column_names:
            np.save(folder / f"{name}.npy", np.array(table["features"].to_pylist(), dtype=np.float32))
            table = table.drop_columns(["features"])
        pq.write_table(table, folder / f"{name}.parquet")
        found.append(Manifest.read(folder / f"{name}.parquet"))
    return found[0], found[1]


def _tested(test: Manifest, models: Mapping[str, str]) -> Json:
    """Return the R@10 of each model, the mean of both directions, and how many items are tested."""
    found = crosslingual_retrieval(test, models, measures=("R@10",), store=None)
    both = {one.encoder: round(one.value, 5) for one in found.summary if one.source is None}
    return {"xlr": both, "tested": len(np.unique(test.item))}


def runs(seeds: int, of_mlmme: int) -> Iterator[tuple[str, Callable[[], Json]]]:
    """Yield the key of each run, and what makes its record; MLMME, which takes longest, in fewer splits."""
    for data in sets():
        for seed in range(seeds):
            tables = data.parts(seed)
            for name in (*data.encoders, *(["MLMME"] if seed < of_mlmme else [])):

                def run(
                    data: Set = data, seed: int = seed, tables: Tables = tables, name: str = name
                ) -> Json:
                    about = {"data": data.name, "encoder": name, "seed": seed, "fit": len(tables[0])}
                    with TemporaryDirectory() as folder:
                        if name == "MLMME":
                            return {**about, **mlmme(data, seed, tables, Path(folder))}
                        return {**about, **trained(data, seed, tables, Path(folder), name)}

                yield f"trained|{data.name}|{name}|{seed}", run
