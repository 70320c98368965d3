"""Product lines: how often intervals hold the truth where variants of a product are not declared, and are found.

Catalogues are drawn anew, and evaluated as a user would: Backretrieval and XLR with the clusters that are declared
in no way, by the product line, and by `cluster="near-duplicates"`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from xlingual import DataWarning, Manifest, backretrieval, crosslingual_retrieval

SIMULATIONS, BLOCKS, ITEMS = int(os.environ.get("SIMULATIONS", "1000")), 20, 240
WAYS = ("undeclared", "declared", "near-duplicates")
MEASURES = ("BkR R@10", "SIM", "XLR R@10")
COVERED, WIDER, FALSE_WIDER = 0.93, 1.15, 1.02
FIGURES = Path(__file__).parent.parent / "docs" / "results" / "near-duplicates.json"
DIMENSIONS = 24


@dataclass(frozen=True)
class Shop:
    """A population of catalogues; variances are those of one line's items, of which lines have 1 in all."""

    name: str
    sizes: tuple[int, ...]  # of product lines, each as likely
    images: float  # variance of images within a line
    reworded: float  # chance that an item has words of its own
    short: bool = False  # titles are a type and a colour: "chair red"


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
    lines = [(rng.choice(types), " ".join(rng.choice(stock, 8))) for _ in range(line.max() + 1)]
    for number, same in zip(line.tolist(), alike.tolist(), strict=True):
        kind, words = lines[number]
        colour, size = rng.choice(colours), rng.integers(20, 200)
        if shop.short:
            yield f"{kind} {colour}"
            continue
        if not same:
            words = " ".join(rng.choice(stock, 8))
        yield f"{kind} {colour} {size} cm. {frame} {words}."


def _words(rng: np.random.Generator, count: int) -> list[str]:
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    return ["".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(count)]


def evaluated(shop: Shop, seed: int) -> np.ndarray:
    """Return value, low, high, near-duplicate clusters and warnings of a catalogue [ways, measures, 5]."""
    rows, vectors = catalogue(shop, np.random.default_rng([seed, *shop.name.encode()]))
    found = np.zeros((len(WAYS), len(MEASURES), 5))
    with tempfile.TemporaryDirectory() as folder:
        for name, array in vectors.items():
            np.save(Path(folder) / f"{name}.npy", array)
        plain, lines = Manifest.from_rows(rows), Manifest.from_rows(rows, cluster_column="line")
        common = {"text_encoders": f"vectors:{folder}/{{lang}}.npy", "pairs": "en-de", "store": None}
        for i, way in enumerate(WAYS):
            manifest = lines if way == "declared" else plain
            cluster = {"cluster": way} if way == "near-duplicates" else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                bkr = backretrieval(
                    manifest, image_encoder=f"vectors:{folder}/images.npy", examples=False, **common, **cluster
                )
                xlr = crosslingual_retrieval(manifest, **common, **cluster)
            for j, (run, entry) in enumerate(
                [(bkr, bkr.entries[0]), (bkr, bkr.entries[1]), (xlr, xlr.entries[0])]
            ):
                near = run.diagnostics["near_duplicates"]
                warned = any("near-duplicates" in text for text in run.warnings)
                found[i, j] = entry.value, entry.ci.low, entry.ci.high, near.get("n_joined", 0), warned
    return found


def main() -> None:
    """Print coverage and widths for each population; write the figures."""
    figures = {}
    wrong = []
    for shop in SHOPS:
        with Pool(2) as pool:
            blocks = pool.map(_block, [(shop, block) for block in range(BLOCKS)])
        found = np.concatenate(blocks)  # [simulations, ways, measures, 5]
        figures[shop.name] = figure = _figure(found)
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
    if "--write" in sys.argv:
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    assert not wrong, wrong


def _figure(found: np.ndarray) -> dict:
    """Return coverage by way, and mean widths as ratios to the intervals of undeclared lines."""
    figure: dict = {"simulations": len(found), "warned": float(found[:, 0, :, 4].max(axis=1).mean())}
    figure["joined"] = float(found[:, 2, 0, 3].mean())
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
        if row["coverage"]["near-duplicates"] < COVERED - luck:
            wrong.append(f"{shop.name}, {name}: covers {row['coverage']['near-duplicates']:.1%}")
        most = FALSE_WIDER if shop.sizes == (1,) else WIDER * row["width"]["declared"]
        if row["width"]["near-duplicates"] > most:
            wrong.append(f"{shop.name}, {name}: {row['width']['near-duplicates']:.3f} times as wide")
    return wrong


def _block(task: tuple[Shop, int]) -> np.ndarray:
    shop, block = task
    each = SIMULATIONS // BLOCKS
    return np.stack([evaluated(shop, block * each + number) for number in range(each)])


if __name__ == "__main__":
    main()
