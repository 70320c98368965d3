"""The image pivot on many items: its search of images, the choice and the fit, against the bare products.

`python -m benchmarks pivot_speed` makes 20,000 items in each of five languages, as many as `train pivot`
draws of more by default, with 768 dimensions of texts and 512 of images. The bare products are those of the
images of each two languages. Pairs are asserted to equal those of a full matrix of scores on a small part.
`python -m benchmarks.pivot_speed 2000 3` takes fewer items and languages.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations

import numpy as np

from benchmarks.timed import table
from xlingual.align.choose import choose
from xlingual.align.fit import CENTRE, NONE, Options, Settings, fit
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import NEAREST, alike, near_pairs
from xlingual.ranking import Cpu
from xlingual.requests.ranking import available_cores
from xlingual.transforms.affine import unit_rows

DIM, IMAGE_DIM, TOPICS = 768, 512, 16


def made(n: int, languages: int) -> Nodes:
    """Return n items of each language, no item with two: topics that images and rotated texts both follow."""
    rng = np.random.default_rng(0)
    item = np.arange(n * languages)
    code = item // n
    topic = rng.normal(size=(len(item), TOPICS)).astype(np.float32)
    image = topic @ rng.normal(size=(TOPICS, IMAGE_DIM)).astype(np.float32)
    text = np.empty((len(item), DIM), dtype=np.float32)
    for each in range(languages):
        own = code == each
        text[own] = topic[own] @ rng.normal(size=(TOPICS, DIM)).astype(np.float32)
    noisy = (part + 2 * part.std() * rng.standard_normal(part.shape, np.float32) for part in (text, image))
    first, second = (unit_rows(part) for part in noisy)
    return Nodes(first, second, code, tuple(f"l{each}" for each in range(languages)), item, item)


def naive(nodes: Nodes) -> set[tuple[int, int]]:
    """Return the near pairs of two languages from the full matrix of scores."""
    image = nodes.image - nodes.image.mean(axis=0)
    image /= np.linalg.norm(image, axis=1, keepdims=True)
    left, right = nodes.of(0), nodes.of(1)
    scores = image[left].astype(np.float64) @ image[right].T
    hub = [np.sort(scores, axis=axis).take(range(-NEAREST, 0), axis=axis).mean(axis=axis) for axis in (1, 0)]
    csls = 2 * scores - hub[0][:, None] - hub[1][None, :]
    there, back = csls.argmax(axis=1), csls.argmax(axis=0)
    rows = np.flatnonzero(back[there] == np.arange(len(left)))
    return set(zip(left[rows].tolist(), right[there[rows]].tolist(), strict=True))


def main(n: int = 20_000, languages: int = 5) -> None:
    """Time the steps, and print them."""
    small = made(300, 2)
    found = near_pairs(small, alike(small, kept=300))
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == naive(small)
    nodes, ranker = made(n, languages), Cpu(threads=available_cores())
    seconds: dict[str, float] = {}

    def timed(name: str, began: float) -> None:
        seconds[name] = time.perf_counter() - began

    began = time.perf_counter()
    for a, b in combinations(range(languages), 2):
        one, other = nodes.image[nodes.of(a)], nodes.image[nodes.of(b)]
        for start in range(0, len(one), 2048):
            one[start : start + 2048] @ other.T
    timed("the bare products of the images", began)
    began = time.perf_counter()
    candidates = alike(nodes, ranker=ranker)
    timed("near images, both ways", began)
    began = time.perf_counter()
    best = choose(nodes, candidates, Options(0), ranker=ranker)[0].settings
    taken = Settings("procrustes", 0.02) if best.kind in (NONE, CENTRE) else best
    timed("choosing a map", began)
    began = time.perf_counter()
    fit(nodes, candidates, taken, Options(0))
    timed(f"fitting {taken.name}", began)
    bare = seconds["the bare products of the images"]
    rows = [[what, f"{took:.1f}", f"{took / bare:.1f}"] for what, took in seconds.items()]
    rows.append(["in all", f"{sum(seconds.values()) - bare:.1f}", ""])
    title = f"{n:,} items in each of {languages} languages, texts {DIM}-d, images {IMAGE_DIM}-d"
    table(title, [["what", "seconds", "times the bare products"], *rows])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
