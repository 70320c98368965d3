"""Data for order confidence: four data sets with translations, their encoders, and images made worse.

IKEA has the 24 encoders that come with it; emoji, scenes and recipes have 27 each, fitted on other items than
those that are ranked. An encoder's *family* is the method that made it, whatever it was fitted on, and the
same method on two data sets is one family.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

from benchmarks.blind_spots import ikea as given_ikea
from benchmarks.blind_spots import unit
from benchmarks.calibration_transfer import Layout, Made, _View, encoders
from xlingual import Manifest
from xlingual.arrays import Floats, Ints
from xlingual.data.pools.clusters import joined
from xlingual.demo_data.draws import stream
from xlingual.demo_data.recipes import recipe_rows
from xlingual.demo_data.recipes.dishes import with_jitter
from xlingual.demo_data.recipes.image import paint
from xlingual.demo_data.scenes import write_scenes
from xlingual.encoders import image_encoder
from xlingual.records import Texts

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
EMOJI = (("en", "fr"), ("de", "ja"), ("ru", "tr"))
SCENES = (("en", "de"), ("id", "ru"))
RECIPES = (("en", "es"), ("id", "ru"))
ITEMS, MORE, TO_FIT = 730, 2_400, 800  # items to rank: of real data, of generated ones; to fit encoders on
USUAL, LARGE, SMALL = 365, 1_200, (100, 50)  # queries
FEW = 8  # components of poor images
# methods behind the 24 encoders of IKEA, named as those of the other data sets
FAMILIES = {
    "random": "chance", "doclen": "length", "charhash": "spelling", "mixlsa": "spelling",
    "wordtfidf": "spelling", "ridge": "ridge", "minilm_ridge": "ridge", "procrustes": "rotation",
    "cllsa": "joint", "clesa": "examples", "ibm1": "words", "minilm_ibm1": "words", "wordvec": "words",
    "monolsa": "unaligned", "minilm_direct": "spelling",
}  # fmt: skip


@dataclass(frozen=True)
class Data:
    """n items with an image, their texts in some languages, and the vectors of encoders."""

    name: str
    pairs: tuple[tuple[str, str], ...]  # both directions
    images: Floats  # [n, e]
    second: Floats  # [n, f]: the same images as another encoder sees them
    texts: Mapping[str, Mapping[str, Floats]]  # encoder → language → [n, d]
    family: Mapping[str, str]
    group: Ints  # [n]: items with an equal text have the same


def both_ways(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return each pair and its reverse."""
    return tuple(one for a, b in pairs for one in ((a, b), (b, a)))


def ikea() -> Data:
    """Return the IKEA products: 24 encoders, ResNet-50; the second encoder sees half of its dimensions."""
    source = given_ikea()
    rows = source.manifest
    texts = [[rows.text[row] for row in rows.rows_of(tag).tolist()] for tag in source.pair]
    half = np.random.default_rng(0).permutation(source.images.shape[1])[: source.images.shape[1] // 2]

    def family(name: str) -> str:
        longest = max((known for known in FAMILIES if name.startswith(known)), key=len)
        return FAMILIES[longest]

    return Data(
        "IKEA",
        both_ways([source.pair]),
        source.images,
        source.images[:, half],
        source.texts,
        {name: family(name) for name in source.texts},
        joined(np.arange(rows.n_items), *texts),
    )


def emoji() -> Data:
    """Return emoji, named and with keywords, in six languages; half of them are to fit encoders."""
    table = pq.read_table(DATA / "emoji/emoji.parquet").to_pylist()
    order = np.random.default_rng(20).permutation(len(table))
    tags = list(dict.fromkeys(tag for pair in EMOJI for tag in pair))
    texts = {
        tag: [f"{row[f'name_{tag}'] or ''} {row[f'keywords_{tag}'] or ''}".replace("|", " ") for row in table]
        for tag in tags
    }
    test, train = order[:ITEMS], order[ITEMS:]
    return made("emoji", EMOJI, texts, [row["image_png"] for row in table], test, train)


def scenes() -> Data:
    """Return built-in scenes; half of them are to fit encoders."""
    tags = list(dict.fromkeys(tag for pair in SCENES for tag in pair))
    with TemporaryDirectory() as folder:
        path = write_scenes(folder, n=MORE + TO_FIT, languages=tags, seed=21, train=0)
        rows = pq.read_table(path).to_pylist()
        images = [(path.parent / row["image"]).read_bytes() for row in rows]
    texts = {tag: [row[f"text_{tag}"] for row in rows] for tag in tags}
    return made("scenes", SCENES, texts, images, np.arange(MORE), np.arange(MORE, len(rows)))


def recipes() -> Data:
    """Return built-in recipes that all languages describe; half of them are to fit encoders."""
    tags = list(dict.fromkeys(tag for pair in RECIPES for tag in pair))
    texts: dict[str, list[str]] = {tag: [] for tag in tags}
    images = []
    for row in recipe_rows(0, tags, seed=5, parallel=MORE + TO_FIT):
        texts[row.language].append(row.text)
        if row.language == tags[0]:
            rng = stream(5, "recipe-picture-fit", len(images))
            images.append(paint(with_jitter(row.dish, rng), row.size))
    return made("recipes", RECIPES, texts, images, np.arange(MORE), np.arange(MORE, len(images)))


SETS: Mapping[str, Callable[[], Data]] = {"IKEA": ikea, "emoji": emoji, "scenes": scenes, "recipes": recipes}


def made(
    name: str,
    pairs: Sequence[tuple[str, str]],
    texts: Mapping[str, Sequence[str]],
    images: Sequence[bytes],
    test: Ints,
    train: Ints,
) -> Data:
    """Return the items `test`, with encoders fitted on the items `train`; images are pixels and layouts."""
    known = {tag: [own[i] for i in train] for tag, own in texts.items()}
    tested = {tag: [own[i] for i in test] for tag, own in texts.items()}
    found = encoders(known) | unaligned(known)
    rows = [{"id": f"{i}", "image": images[i], "text_en": "x"} for i in test]
    _, eyes = image_encoder("pixels:")
    manifest = Manifest.from_rows(rows)
    batch = manifest.images(np.arange(len(manifest)))
    vectors = {
        one: {tag: encoder.encode(batch_of(own, tag)) for tag, own in tested.items()}
        for one, encoder in found.items()
    }
    return Data(
        name,
        both_ways(pairs),
        np.asarray(eyes.encode(batch), dtype=np.float64),
        np.asarray(Layout().encode(batch), dtype=np.float64),
        vectors,
        {one: one.partition(".")[0] for one in found},
        joined(np.arange(len(test)), *tested.values()),
    )


def batch_of(texts: Sequence[str], language: str) -> Texts:
    """Return texts of one language."""
    return Texts(list(texts), [language] * len(texts), [str(i) for i in range(len(texts))])


def unaligned(train: Mapping[str, Sequence[str]]) -> dict[str, Made]:
    """Return the encoder whose languages share nothing: singular vectors of each language alone."""
    from benchmarks.calibration_transfer import _Terms

    views = {tag: _View(_Terms(list(own)[:800]), list(own)[:800]) for tag, own in train.items()}
    return {"unaligned.1": Made("unaligned", lambda texts, tag: views[tag](texts))}


@dataclass(frozen=True)
class Condition:
    """One way to see the images of a data set, and how many queries there are."""

    name: str
    images: Floats  # [n, e], length 1
    queries: int = USUAL


def conditions(data: Data) -> Iterator[Condition]:
    """Yield images as they are, weakened ones, another encoder's, and smaller samples."""
    rng = np.random.default_rng(0)
    own = unit(data.images)
    middle = unit(own - own.mean(axis=0))
    noise = unit(rng.standard_normal(own.shape))
    yield Condition("own images", own)
    for size in (1, 2, 4, 8):
        yield Condition(f"noise {size}", unit(middle + size * noise))
    axes = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)[2][:FEW]
    yield Condition(f"{FEW} components", unit((own - own.mean(axis=0)) @ axes.T))
    yield Condition("second encoder", unit(data.second))
    permuted = np.stack([rng.permutation(column) for column in data.images.T], axis=1)
    yield Condition("dimensions permuted", unit(permuted))
    for n in (*SMALL, LARGE):
        if 2 * n <= len(own):
            yield Condition(f"{n} queries", own, n)
            if n == LARGE:
                yield Condition(f"{n} queries, noise 4", unit(middle + 4 * noise), n)
