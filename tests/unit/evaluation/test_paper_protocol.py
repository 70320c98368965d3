"""Section 3.1 of the Backretrieval paper, written out in float64 loops, against `sample=10_000`.

Nothing here is shared with the program but the names of the random streams (docs/reference/samples.md).
"""

import zlib
from functools import cache
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import spearmanr

from xlingual.data.manifest import Manifest
from xlingual.evaluation.metric_validation import validate_backretrieval

ITEMS, SEEDS, K = 46, 25, 10
N = ITEMS // 2  # all that the data give, for the paper's 10,000
LANGUAGES = ("en", "de")


class Texts:
    """Vectors near that of the item, the same for a text however it is asked for."""

    opens_images = False

    def __init__(self, noise, name="texts"):
        self.noise, self.identity = noise, f"{name} {noise}"
        self.ideal = np.random.default_rng(5).standard_normal((ITEMS, 12))

    def encode(self, batch):
        return np.array([self.vector(name) for name in batch.ids], dtype=np.float32)

    def vector(self, name):
        rng = np.random.default_rng(list(f"{self.identity}{name}".encode()))
        return self.ideal[int(name.split(".")[1])] + self.noise * rng.standard_normal(12)


class Images(Texts):
    """Vectors of images: one for each item."""

    def vector(self, name):
        rng = np.random.default_rng([int(name.split(".")[1]), 77])
        return self.ideal[int(name.split(".")[1])] + self.noise * rng.standard_normal(12)


ENCODERS = {"good": Texts(0.3), "middling": Texts(1.0), "poor": Texts(4.0)}
IMAGES = Images(0.5, "images")
PAPER = {"sample": 10_000, "texts_per_item": 1, "seeds": SEEDS}
OPTIONS = {"image_encoder": IMAGES, "pairs": "en:de,de:en", "store": None}


@pytest.fixture(scope="module")
def rows():
    """Return one to four texts of each item and language, in no order, as a photo has several captions."""
    rng = np.random.default_rng(2)
    found = [
        {"id": f"{language}.{item}.{c}", "lang": language, "text": f"{language} {item} {c}", "item": item}
        for item in range(ITEMS)
        for language in LANGUAGES
        for c in range(int(rng.integers(1, 5)))
    ]
    return [found[i] for i in rng.permutation(len(found))]


@pytest.fixture(scope="module")
def manifest(rows):
    return Manifest.of(rows)


def stream(seed, name):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, zlib.crc32(name.encode())])))


def drawn(rows, seed):
    """Return N source items and N others as targets, and the one text of each item in each language."""
    numbered = list(dict.fromkeys(row["item"] for row in rows))  # items count by first appearance
    place = stream(seed, "samples").permutation(ITEMS)
    order = sorted(range(ITEMS), key=lambda number: place[number])
    sources, targets = ([numbered[i] for i in half] for half in (order[:N], order[N : 2 * N]))
    text = {}
    for language in LANGUAGES:
        own = [row for row in rows if row["lang"] == language]
        places = stream(seed, f"texts {language}").permutation(len(own))
        for _, row in sorted(zip(places, own, strict=True), key=lambda pair: -pair[0]):
            text[language, row["item"]] = row["id"]  # the first one of the permutation stays
    return sources, targets, text


@cache
def unit(encoder, name):
    vector = encoder.vector(name).astype(np.float32).astype(np.float64)
    return vector / np.sqrt(vector @ vector)


def cosine(encoder, one, two):
    return float(unit(encoder, one) @ unit(encoder, two))


def xlr(encoder, sources, source, target, text):
    """Return Recall@10 of the matching target document among N."""
    hits = []
    for item in sources:
        query = text[source, item]
        scores = {t: cosine(encoder, query, text[target, t]) for t in sources}
        hits.append(sum(scores[t] > scores[item] for t in sources) < K)
    return fmean(hits)


def bkr(encoder, sources, targets, source, target, text):
    """Return Recall@10 of the query's image among all source images, by the retrieved text's image."""
    image = {item: text["en", item] for item in (*sources, *targets)}
    hits = []
    for item in sources:
        query = text[source, item]
        retrieved = max(targets, key=lambda t: cosine(encoder, query, text[target, t]))
        scores = {s: cosine(IMAGES, image[retrieved], image[s]) for s in sources}
        hits.append(sum(scores[s] > scores[item] for s in sources) < K)
    return fmean(hits)


def corr(encoder, sources, targets, source, target, text):
    """Return Spearman's correlation of text and image distances between sources and targets."""
    pairs = [(text[source, s], text[target, t]) for s in sources for t in targets]
    of_texts, of_images = ([1 - cosine(e, *pair) for pair in pairs] for e in (encoder, IMAGES))
    return float(spearmanr(np.round(of_texts, 9), np.round(of_images, 9)).statistic)


@pytest.fixture(scope="module")
def validation(manifest):
    return validate_backretrieval(manifest, text_encoders=ENCODERS, **PAPER, **OPTIONS)


def test_a_validation_has_the_means_of_the_papers_protocol(rows, validation):
    drawings = [drawn(rows, seed) for seed in range(SEEDS)]
    for pair in validation.pairs:
        where = pair.source, pair.target
        assert (pair.n_source, pair.n_target, pair.n_matching, pair.n_seeds) == (N, N, N, SEEDS)
        assert pair.conditions["sample"] == str(N) and pair.conditions["texts-per-item"] == "1"
        for row in pair.encoders:
            encoder = ENCODERS[row.encoder]
            assert row.scores["BkR"].per_seed == [bkr(encoder, s, t, *where, x) for s, t, x in drawings]
            assert row.scores["XLR"].per_seed == [xlr(encoder, s, *where, x) for s, _, x in drawings]
            for seed in (0, 24):
                s, t, x = drawings[seed]
                assert row.scores["CORR"].per_seed[seed] == pytest.approx(
                    corr(encoder, s, t, *where, x), abs=1e-9
                )
            assert row.scores["BkR"].mean == pytest.approx(fmean(row.scores["BkR"].per_seed))
