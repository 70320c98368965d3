"""Product lines: do intervals hold the truth where variants of a product are not declared, and are found.

Catalogues are drawn anew, and evaluated as a user would: Backretrieval and XLR without declared clusters,
with the product lines declared, and with `cluster="near-duplicates"`. Then real data: how many
near-duplicates they have, and how much wider intervals become; and what looking for them costs.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from xlingual import DataWarning, Manifest, backretrieval, crosslingual_retrieval, distance_correlation
from xlingual.demo_data.scenes import write_scenes
from xlingual.evaluation.near_duplicates import MATTERS
from xlingual.stats import mean_interval

SIMULATIONS, BLOCKS, ITEMS = int(os.environ.get("SIMULATIONS", "240")), 20, 240
WAYS = ("undeclared", "declared", "near-duplicates")
MEASURES = ("BkR R@10", "SIM", "XLR R@10")
COVERED, WIDER, FALSE_WIDER = 0.93, 1.15, 1.02
FIGURES = Path(__file__).parent.parent / "docs" / "results" / "near-duplicates.json"
DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
IKEA = ("cllsa_2860", "ibm1_lsa_2860", "minilm_ibm1_1000")
DIMENSIONS = 24


@dataclass(frozen=True)
class Shop:
    """A population of catalogues; variances are those of one line's items, of which lines have 1 in all."""

    name: str
    sizes: tuple[int, ...]  # of product lines, each as likely
    images: float  # variance of images within a line
    reworded: float  # chance that an item has words of its own
    short: bool = False  # titles are a type in five words and a colour: all chairs are near-equal


SHOPS = (
    Shop("near-equal images and texts", (1, 1, 2, 3, 5, 8), 0.08, 0.1),
    Shop("near-equal images, other words", (1, 1, 2, 3, 5, 8), 0.08, 1.0),
    Shop("near-equal texts, other images", (1, 1, 2, 3, 5, 8), 0.6, 0.1),
    Shop("near-equal images, titles that chain", (1, 1, 2, 3, 5, 8), 0.08, 1.0, short=True),
    Shop("no product lines", (1,), 0.08, 0.1),
    Shop("no product lines, titles that chain", (1,), 0.08, 1.0, short=True),
)


def catalogue(shop: Shop, rng: np.random.Generator) -> tuple[list[dict[str, str]], dict[str, np.ndarray]]:
    """Return the rows of a wide manifest, and vectors [items, d] of `images`, `en` and `de`."""
    sizes: list[int] = []
    while sum(sizes) < ITEMS:
        sizes.append(int(rng.choice(shop.sizes)))
    line = np.repeat(np.arange(len(sizes)), sizes)[:ITEMS]
    centre = rng.standard_normal((len(sizes), DIMENSIONS))
    own = rng.standard_normal((ITEMS, DIMENSIONS))
    alike = rng.random(ITEMS) >= shop.reworded  # whose text is that of the line
    usual = np.ones(DIMENSIONS)  # what all images share: their cosines lie around .5
    vectors = {"images": usual + centre[line] + np.sqrt(shop.images) * own}
    for language in ("en", "de"):
        said = rng.standard_normal((len(sizes), DIMENSIONS))  # what a line's texts say beside its images
        noise = rng.standard_normal((2, ITEMS, DIMENSIONS))
        said = np.where(alike[:, None], said[line], noise[0])
        vectors[language] = centre[line] + 0.9 * said + 0.15 * own + 0.3 * noise[1]
    texts = {language: list(_texts(shop, line, alike, rng, language)) for language in ("en", "de")}
    rows = [
        {"id": str(i), "line": str(line[i]), "text_en": texts["en"][i], "text_de": texts["de"][i]}
        for i in range(ITEMS)
    ]
    return rows, {name: found.astype(np.float32) for name, found in vectors.items()}


def _texts(
    shop: Shop, line: np.ndarray, alike: np.ndarray, rng: np.random.Generator, language: str
) -> Iterator[str]:
    """Yield the texts: sentences of a line's own words in a frame that all share, and a colour and a size."""
    fixed = np.random.default_rng(list(language.encode()))
    types, colours = _words(fixed, 12), _words(fixed, 10)
    stock = _words(fixed, 400)
    frame = " ".join(_words(fixed, 6))
    kinds = {kind: f"{kind} {' '.join(rng.choice(stock, 4))}" for kind in types}
    lines = [(rng.choice(types), " ".join(rng.choice(stock, 8))) for _ in range(line.max() + 1)]
    for number, same in zip(line.tolist(), alike.tolist(), strict=True):
        kind, words = lines[number]
        colour, size = rng.choice(colours), rng.integers(20, 200)
        if shop.short:
            yield f"{kinds[kind]} {colour}"
            continue
        if not same:
            words = " ".join(rng.choice(stock, 8))
        yield f"{kind} {colour} {size} cm. {frame} {words}."


def _words(rng: np.random.Generator, count: int) -> list[str]:
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    return ["".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(count)]


def evaluated(shop: Shop, seed: int) -> np.ndarray:
    """Return value, low, high, and near-duplicates of an item, of one catalogue [ways, measures, 4].

    The intervals of undeclared and of declared lines are computed from the table of queries, as a run does.
    """
    rows, vectors = catalogue(shop, np.random.default_rng([seed, *shop.name.encode()]))
    found = np.zeros((len(WAYS), len(MEASURES), 4))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for name, array in vectors.items():
            np.save(Path(folder) / f"{name}.npy", array)
        common = {"text_encoders": f"vectors:{folder}/{{lang}}.npy", "pairs": "en-de", "store": None}
        common["cluster"] = "near-duplicates"
        manifest, images = Manifest.from_rows(rows), f"vectors:{folder}/images.npy"
        bkr = backretrieval(manifest, image_encoder=images, examples=False, **common)
        xlr = crosslingual_retrieval(manifest, **common)
    line = np.array([int(row["line"]) for row in rows])
    for j, (run, number) in enumerate([(bkr, 0), (bkr, 1), (xlr, 0)]):
        entry = run.entries[number]
        table = run.per_query.filter(pc.equal(run.per_query["measure"], entry.measure))
        values = table["value"].to_numpy()
        codes = [_codes(table[name]) for name in ("query", "retrieved")[: 2 if run is bkr else 1]]
        bounds = (-1.0, 1.0) if entry.measure == "SIM" else (0.0, 1.0)
        undeclared = mean_interval(values, codes, bounds=bounds)
        declared = mean_interval(values, [_of(line, way) for way in codes], bounds=bounds)
        per_unit = run.diagnostics["near_duplicates"]["per_unit"]
        for i, ci in enumerate((undeclared, declared, entry.ci)):
            found[i, j] = entry.value, ci.low, ci.high, per_unit
    return found


def _codes(ids) -> np.ndarray:
    """Return items by id; a query without one retrieved text is alone."""
    return np.array([-1 - i if name is None else int(name) for i, name in enumerate(ids.to_pylist())])


def _of(line: np.ndarray, items: np.ndarray) -> np.ndarray:
    return np.where(items < 0, items, line[np.maximum(items, 0)])


def main() -> None:
    """Print costs, real data, coverage and widths for each population; write the figures."""
    figures: dict = {"cost": _costs(), "real": _real(), "simulated": {}}
    wrong = []
    for shop in SHOPS:
        with Pool(2) as pool:
            blocks = pool.map(_block, [(shop, block) for block in range(BLOCKS)])
        found = np.concatenate(blocks)  # [simulations, ways, measures, 4]
        figures["simulated"][shop.name] = figure = _figure(found)
        print(f"{shop.name}: warned of in {figure['warned']:.1%} of the catalogues", flush=True)
        for name in MEASURES:
            row = figure[name]
            cells = "".join(f"{way} {row['coverage'][way]:.1%}  " for way in WAYS)
            print(
                f"  {name:9} mean {row['mean']:.3f}  {cells} width declared {row['width']['declared']:.3f}"
                f"  near-duplicates {row['width']['near-duplicates']:.3f}",
                flush=True,
            )
        wrong += _wrong(shop, figure)
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    assert not wrong, wrong


def _real() -> dict:
    """Return, for real data and generated scenes, the near-duplicates and how much wider intervals become."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        write_scenes(folder, n=1500, languages=["en", "de"], seed=0)
        lsa = {name: f"vectors:{DATA}/ikea/embeddings/{name}.{{lang}}.npy" for name in IKEA}
        chargram = {"chargram": "chargram:", "chargram 2": "chargram:?n=2-2"}
        emoji = {"text_column": "name_{lang}", "image_column": "image_png"}
        ikea = f"vectors:{DATA}/ikea/ikea_en_de_eval_features.npy"
        for name, path, columns, pair, texts, images in (
            ("IKEA en-de", DATA / "ikea/ikea_en_de_eval.parquet", {}, "en-de", lsa, ikea),
            ("emoji es-pt", DATA / "emoji/emoji.parquet", emoji, "es-pt", chargram, "pixels:"),
            ("scenes en-de", Path(folder) / "manifest.parquet", {}, "en-de", chargram, "pixels:"),
        ):
            manifest = Manifest.read(path, **columns)
            figures[name] = _wider(manifest, texts, images, pair)
            print(name, figures[name], flush=True)
    return figures


def _wider(manifest: Manifest, texts: dict[str, str], images: str, pair: str) -> dict:
    common = {"text_encoders": texts, "pairs": pair, "store": None}
    found: dict = {}
    for task, extra in (
        (backretrieval, {"image_encoder": images, "examples": False}),
        (crosslingual_retrieval, {"measures": ["R@1", "R@10"]}),
        (distance_correlation, {"image_encoder": images}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            plain = task(manifest, **common, **extra)
            joined = task(manifest, **common, **extra, cluster="near-duplicates")
        about = joined.diagnostics["near_duplicates"]
        of_task = {key: about[key] for key in ("n_units", "n_near", "per_unit", "n_joined", "largest_share")}
        of_task["warned"] = any("near-duplicates" in text for text in plain.warnings)
        for measure in dict.fromkeys(entry.measure for entry in plain.entries):
            pairs = [
                (a.ci, b.ci)
                for a, b in zip(plain.entries, joined.entries, strict=True)
                if a.measure == measure
            ]
            ratios = [(b.high - b.low) / (a.high - a.low) for a, b in pairs]
            of_task[f"width {measure}"] = [min(ratios), max(ratios)]
        found[task.__name__] = of_task
    return found


def _costs() -> dict:
    """Return the time that looking for near-duplicates takes, as a share of the rest of an evaluation."""
    figures = {}
    rng = np.random.default_rng(0)
    ikea = Manifest.read(DATA / "ikea/ikea_en_de_eval.parquet")
    texts = {name: f"vectors:{DATA}/ikea/embeddings/{name}.{{lang}}.npy" for name in IKEA}
    figures["IKEA, 3 encoders"] = _cost(ikea, texts, f"vectors:{DATA}/ikea/ikea_en_de_eval_features.npy")
    line, alike = np.arange(10_000), np.ones(10_000, dtype=bool)
    said = [list(_texts(SHOPS[0], line, alike, rng, tag)) for tag in ("en", "de")]
    large = Manifest.from_rows(
        [{"id": str(i), "text_en": a, "text_de": b} for i, (a, b) in enumerate(zip(*said, strict=True))]
    )
    with tempfile.TemporaryDirectory() as folder:
        for dim in (768, 2048):
            for name in ("en", "de", "images"):
                np.save(f"{folder}/{name}.npy", rng.standard_normal((10_000, dim), dtype=np.float32))
            figures[f"10,000 items, {dim} dimensions"] = _cost(
                large, {"one": f"vectors:{folder}/{{lang}}.npy"}, f"vectors:{folder}/images.npy"
            )
    return figures


def _cost(manifest: Manifest, texts: dict[str, str], images: str) -> dict:
    found: dict[str, list[float]] = {"Backretrieval": [], "XLR": []}
    common = {"text_encoders": texts, "pairs": "en-de", "store": None}
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            for name, seconds in (
                ("Backretrieval", backretrieval(manifest, image_encoder=images, **common).timings),
                ("XLR", crosslingual_retrieval(manifest, **common).timings),
            ):
                looked = seconds.pop("near-duplicates")
                found[name].append(looked / sum(seconds.values()))
    figure = {name: sorted(ratios)[1] for name, ratios in found.items()}
    print(figure, flush=True)
    return figure


def _figure(found: np.ndarray) -> dict:
    """Return coverage by way, and mean widths as ratios to the intervals of undeclared lines."""
    warned = (found[:, 0, :, 3] >= MATTERS).any(axis=1)
    figure: dict = {"simulations": len(found), "warned": float(warned.mean())}
    figure["per_item"] = dict(zip(MEASURES, found[:, 0, :, 3].mean(axis=0).tolist(), strict=True))
    for j, name in enumerate(MEASURES):
        truth = found[:, 0, j, 0].mean()
        low, high = found[:, :, j, 1], found[:, :, j, 2]
        held = ((low <= truth) & (truth <= high)).mean(axis=0)
        width = (high - low).mean(axis=0)
        figure[name] = {
            "mean": float(truth),
            "coverage": dict(zip(WAYS, held.tolist(), strict=True)),
            "width": dict(zip(WAYS, (width / width[0]).tolist(), strict=True)),
        }
    return figure


def _wrong(shop: Shop, figure: dict) -> list[str]:
    wrong = []
    luck = 2 * np.sqrt(0.05 * 0.95 / figure["simulations"])
    for name in MEASURES:
        row = figure[name]
        unseen = name.startswith("XLR") and shop.reworded == 1  # XLR has no images
        if not unseen and row["coverage"]["near-duplicates"] < COVERED - luck:
            wrong.append(f"{shop.name}, {name}: covers {row['coverage']['near-duplicates']:.1%}")
        most = FALSE_WIDER if shop.sizes == (1,) else WIDER * row["width"]["declared"]
        if row["width"]["near-duplicates"] > most:
            wrong.append(f"{shop.name}, {name}: {row['width']['near-duplicates']:.3f} times as wide")
    return wrong


def _block(task: tuple[Shop, int]) -> np.ndarray:
    shop, block = task
    each = SIMULATIONS // BLOCKS
    return np.stack([evaluated(shop, block * each + number) for number in range(each)])
