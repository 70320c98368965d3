"""Small data to train on: items with images, and sentences in two languages."""

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.training.corpus import TextReading, count_vocabularies, pack


class Given:
    """An image encoder that gives each image (its number as bytes) a vector of a table."""

    identity = "given"
    content = ("bytes",)

    def __init__(self, vectors):
        self.vectors = np.asarray(vectors, dtype=np.float32)
        self.asked = 0

    def encode(self, batch):
        self.asked += len(batch)
        return self.vectors[[int(source) for source in batch.source]]


def paired(n, seed=0, texts=1, languages=("en", "de")):
    """Return n items: an image, and `texts` random sentences in each language about each."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n):
        for tag in languages:
            for number in range(texts):
                words = " ".join(f"{tag}{w}" for w in rng.integers(0, 60, rng.integers(2, 7)))
                row = f"{item}-{tag}-{number}"
                rows.append(
                    {"id": row, "lang": tag, "text": words, "item": str(item), "image": str(item).encode()}
                )
    return Manifest.of(rows)


def packed(folder, manifest, languages=("en", "de"), images=None, reading=None, **options):
    """Return the corpus of a manifest, and the vocabularies that were made for it."""
    reading = reading or TextReading()
    vocabularies = count_vocabularies(manifest, languages, reading, **options)
    return pack(folder, manifest, vocabularies, reading, images), vocabularies
