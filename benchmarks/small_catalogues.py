"""`lsa:` on catalogues of short titles: plain axes against those weighted by what held-out items say.

`python -m benchmarks small_catalogues` fits on catalogues in three languages, made of few words, of which
items may lack a language; on built-in scenes; and on the IKEA catalogue. Printed is the share of texts whose
translation is among the ten nearest, of items that were not fitted on, over all pairs of languages: with 20
and 150 plain axes, and with 150 axes as `lsa:` takes them. Where it takes the plain ones, power is 0 and the
numbers are equal.
"""

from __future__ import annotations

import os
import tempfile
from itertools import permutations
from pathlib import Path

import numpy as np

from benchmarks.experiments import table
from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import write_scenes
from xlingual.encoders.lsa import LsaEncoder, LsaModel, fit_lsa
from xlingual.records import Texts

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "ikea"
LANGUAGES = ("de", "en", "fr")
TESTED = 1000
SYLLABLES = ("ka", "lo", "mi", "re", "tu", "sha", "ven", "dor", "pil", "gra", "nes", "bot", "zu", "fi", "wer")


def catalogue(items: int, kinds: dict[str, int], synonyms: int, lacking: float, seed: int = 0) -> Texts:
    """Return short titles: a noun, and attributes of which a quarter is left out, in any order.

    An item lacks each language with the given probability. Of several synonyms the first is said four times
    in five. Equal seeds begin with equal items.
    """
    rng = np.random.default_rng(seed)
    word = {
        (tag, kind, i): ["".join(rng.choice(SYLLABLES, 3)) + tag for _ in range(synonyms)]
        for tag in LANGUAGES
        for kind, size in kinds.items()
        for i in range(size)
    }
    first = [1.0] if synonyms == 1 else [0.8, *[0.2 / (synonyms - 1)] * (synonyms - 1)]
    text, language, item = [], [], []
    for number in range(items):
        thing = [(kind, int(rng.integers(size))) for kind, size in kinds.items()]
        for tag in LANGUAGES:
            said = [
                str(rng.choice(word[tag, kind, i], p=first))
                for kind, i in thing
                if kind == "noun" or rng.random() < 0.75
            ]
            if rng.random() >= lacking:
                text.append(" ".join(rng.permutation(said)))
                language.append(tag)
                item.append(str(number))
    return Texts(text, language, [str(i) for i in range(len(text))], items=item)


def found(model: LsaModel, dim: int, test: Texts) -> tuple[float, float]:
    """Return the share of texts whose translation is among the ten nearest, and that of chance."""
    shares, chances = [], []
    lines = {tag: {} for tag in model.axes}
    for tag, item, text in zip(test.language, test.items, test.text, strict=True):
        lines[tag][item] = text
    for source, target in permutations(lines, 2):
        both = [item for item in lines[source] if item in lines[target]]
        vectors = []
        for tag in (source, target):
            folded = model.fold_in([lines[tag][item] for item in both], tag)[:, :dim]
            vectors.append(folded / np.maximum(np.linalg.norm(folded, axis=1, keepdims=True), 1e-300))
        similarity = vectors[0] @ vectors[1].T
        right = similarity.diagonal()[:, None]
        above, tied = (similarity > right).sum(axis=1), (similarity == right).sum(axis=1)
        shares.append(np.clip((10 - above) / tied, 0, 1).mean())
        chances.append(10 / len(both))
    return float(np.mean(shares)), float(np.mean(chances))


def row(name: str, fit: Texts, test: Texts) -> list[str]:
    """Return the line of a data set."""
    languages = sorted(set(fit.language))
    lsa = LsaEncoder(lambda: fit, languages)
    plain = fit_lsa(lsa.chosen, lsa.languages, lsa.dim, lsa.seed)
    terms = sum(len(axes) for axes in plain.axes.values())
    numbers = [found(plain, 20, test), found(plain, 150, test), found(lsa.model, 150, test)]
    shown = [f"{share:.3f}" for share, _ in numbers]
    return [
        name,
        f"{len(set(lsa.chosen.items)):,}",
        f"{terms:,}",
        f"{numbers[0][1]:.3f}",
        *shown,
        f"{lsa.power:g}",
    ]


def split(texts: Texts, items: int) -> tuple[Texts, Texts]:
    """Return the texts of the first items, and of the others."""
    first = np.array([int(item) < items for item in texts.items])
    return texts.take(np.flatnonzero(first)), texts.take(np.flatnonzero(~first))


def main() -> None:
    """Print the table."""
    rows = []
    for items, nouns, synonyms, lacking in (
        (1700, 4, 1, 0.3),
        (1700, 10, 1, 0.3),
        (1700, 10, 1, 0.0),
        (5000, 10, 1, 0.0),
        (1700, 30, 1, 0.3),
        (1700, 60, 2, 0.3),
        (1700, 800, 3, 0.3),
    ):
        kinds = {"noun": nouns, "colour": 12, "material": 10, "style": 16, "room": 8}
        name = f"titles: {nouns} nouns, synonyms {synonyms}, lacking {lacking:.0%}"
        rows.append(row(name, *split(catalogue(items + TESTED, kinds, synonyms, lacking), items)))
    with tempfile.TemporaryDirectory() as folder:
        path = write_scenes(Path(folder), n=2000, languages=("en", "de", "es", "ja", "ar"))
        parts = [Manifest.read(path, split=name) for name in ("train", "test")]
        rows.append(row("scenes, 5 languages", *(part.texts(np.arange(len(part))) for part in parts)))
    parts = [Manifest.read(DATA / f"ikea_en_de_{name}.parquet") for name in ("train", "eval")]
    rows.append(row("IKEA, en and de", *(part.texts(np.arange(len(part))) for part in parts)))
    head = ["data", "items", "terms", "chance", "20 plain", "150 plain", "`lsa:`", "power"]
    table("R@10 of translations", [head, *rows])
