"""How long the parts of a step take: measured once on one core, and scaled by what this machine does now.

Ranking follows docs/explanation/growth.md; all else was measured on `examples/suite.toml` and the demo.
"""

from __future__ import annotations

import os
import time

START = 4.0  # seconds for a run: loading libraries, digests of files, the page over all
STEP = 0.4  # reading the data, near-duplicates, writing
REPORT = 0.1  # for each encoder
PART = 0.03  # for each encoder, language pair and seed: what ranking takes beside its pairs
LETTER = 1.3e-6  # of a text, where words or letters are counted, which is done anew in each step
IMAGE = 3e-3  # of `pixels`
FIT = 2.5e-3  # for each text that an encoder is fitted on
STATISTICS = 5e-5  # for each query and encoder
POOL_QUERY = 8e-4  # for each question of a pool and encoder: statistics of all its languages
COMPARED_QUERY = 6e-4  # for each query and encoder beside another: the resamples of its tests
RATE = 1.25e11  # float32 operations a second
TEXT_PAIR, IMAGE_PAIR = 0.4e-9, 3.0e-9  # for each pair, beside the product
TEXT_DIM, IMAGE_DIM = 768, 2048  # where the dimensions of vectors are not known

_COUNTED, _TOOK = 1_000_000, 0.083  # steps of a loop, and seconds that they took where all this was measured


def pace() -> float:
    """Return how many times as long as there the same work takes here and now, beside what else runs."""
    begun, own, total = time.perf_counter(), time.process_time(), 0
    for number in range(_COUNTED):
        total += number * number % 7
    wall, own = time.perf_counter() - begun, time.process_time() - own
    if not hasattr(os, "getloadavg"):  # Windows
        return wall / _TOOK
    waiting = (os.getloadavg()[0] + 1.0) / (os.cpu_count() or 1)  # processes of the last minute, and this one
    return max(1.0, waiting) * own / _TOOK


def ranking(pairs: float, encoders: int, *, by_images: bool) -> float:
    """Return seconds for the pairs of each encoder; the images of queries are looked at once for all."""
    found = encoders * pairs * (2 * TEXT_DIM / RATE + TEXT_PAIR)
    if by_images:  # queries against the images of all sources
        found += pairs * (2 * IMAGE_DIM / RATE + encoders * IMAGE_PAIR)
    return found
