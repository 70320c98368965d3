"""Product lines: do intervals hold the truth where variants of a product are not declared, and are found.

Catalogues are drawn anew, and evaluated as a user would: Backretrieval and XLR without declared clusters,
with the product lines declared, and with `cluster="near-duplicates"`.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from xlingual import DataWarning, Manifest, backretrieval, crosslingual_retrieval
from xlingual.evaluation.near_duplicates import MATTERS
from xlingual.stats import mean_interval

SIMULATIONS, ITEMS = 240, 240
WAYS = ("undeclared", "declared", "near-duplicates")
MEASURES = ("BkR R@10", "SIM", "XLR R@10")
COVERED, WIDER, FALSE_WIDER = 0.93, 1.15, 1.02
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
        manifest, images = Manifest.of(rows), f"vectors:{folder}/images.npy"
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


def main(simulations: int = SIMULATIONS) -> None:
    """Print coverage and widths for each population, and assert the bounds."""
    wrong = []
    for shop in SHOPS:
        with Pool(2) as pool:
            results = np.stack(pool.starmap(evaluated, [(shop, seed) for seed in range(simulations)]))
        figure = _figure(results)  # of [simulations, ways, measures, 4]
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
    assert not wrong, wrong


def _figure(results: np.ndarray) -> dict:
    """Return coverage by way, and mean widths as ratios to the intervals of undeclared lines."""
    warned = (results[:, 0, :, 3] >= MATTERS).any(axis=1)
    figure: dict = {"simulations": len(results), "warned": float(warned.mean())}
    figure["per_item"] = dict(zip(MEASURES, results[:, 0, :, 3].mean(axis=0).tolist(), strict=True))
    for j, name in enumerate(MEASURES):
        truth = results[:, 0, j, 0].mean()
        low, high = results[:, :, j, 1], results[:, :, j, 2]
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
