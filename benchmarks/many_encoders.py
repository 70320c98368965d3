"""Ten encoders over one sample: the image product is computed once, not once for each encoder."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.vectors import Given, spectrum, two_languages
from xlingual import backretrieval
from xlingual.ranking import similarity

N, TEXT_DIM, IMAGE_DIM, ENCODERS = 4_000, 128, 2048, 10


def main() -> None:
    """Count the multiplications of image tiles, and compare one run of ten encoders with ten runs."""
    rng = np.random.default_rng(0)
    manifest = two_languages(N)
    images = Given(spectrum(rng, 2 * N, IMAGE_DIM), "images")
    encoders = {f"e{i}": Given(spectrum(rng, 2 * N, TEXT_DIM), f"e{i}") for i in range(ENCODERS)}
    pairs = {"images": 0, "texts": 0}
    tile = similarity.Cosine.tile

    def counted(self, rows, columns, out):
        kind = "images" if self.queries.dim == IMAGE_DIM else "texts"
        pairs[kind] += (rows.stop - rows.start) * (columns.stop - columns.start)
        return tile(self, rows, columns, out)

    similarity.Cosine.tile = counted
    try:
        begun = time.perf_counter()
        together = backretrieval(
            manifest, text_encoders=encoders, image_encoder=images, pairs="en-de", threads=1
        )
        once = time.perf_counter() - begun
    finally:
        similarity.Cosine.tile = tile
    assert pairs == {"images": N * N, "texts": ENCODERS * N * N}, pairs
    begun = time.perf_counter()
    apart = [
        backretrieval(manifest, text_encoders={name: e}, image_encoder=images, pairs="en-de", threads=1)
        for name, e in encoders.items()
    ]
    each = time.perf_counter() - begun
    assert [e.value for e in together.entries] == [e.value for run in apart for e in run.entries]
    print(f"image pairs multiplied: {pairs['images']:,} = N² for {ENCODERS} encoders")
    print(f"ten encoders at once {once:.2f} s, one after the other {each:.2f} s: {each / once:.2f} times")
