"""The whole Backretrieval of one encoder against the two bare products it cannot do without.

`python -m benchmarks.backretrieval 30000` takes another number of items.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timed import Job, measure, product
from benchmarks.vectors import Given, keys_of, spectrum, two_languages
from xlingual import Manifest, Results, backretrieval

N, TEXT_DIM, IMAGE_DIM, SHARED = 10_000, 768, 2048, 64
GOAL = 1.15
K = 10
CHECKED = 40  # queries compared with float64 scores
ROUGH = 0.08  # the value of a query with many ties is the mean of a sample of some dozens


def items(n: int, text_dim: int = TEXT_DIM, image_dim: int = IMAGE_DIM) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of 2n texts and images, which share their first dimensions."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, 2 * n, SHARED)
    texts = np.concatenate([meaning, spectrum(rng, 2 * n, text_dim - SHARED)], axis=1)
    return texts, np.concatenate([meaning * 2, spectrum(rng, 2 * n, image_dim - SHARED)], axis=1)


def evaluate(manifest: Manifest, texts: np.ndarray, images: np.ndarray, **options: Any) -> Results:
    """Evaluate English among German items, half of the lines each."""
    return backretrieval(
        manifest,
        text_encoders={"given": Given(texts)},
        image_encoder=Given(images, "images"),
        pairs="en-de",
        threads=1,
        store=None,
        **options,
    )


def check(texts: np.ndarray, images: np.ndarray, results: Results) -> None:
    """Compare the value of some queries with float64 scores; equal keys are ties, and are averaged over."""
    n = len(texts) // 2
    table = results.per_query.filter(np.array(results.per_query["measure"]) == f"R@{K}")
    some = np.linspace(0, n - 1, CHECKED).astype(np.int64)
    keys = keys_of(texts[:n][some], texts[n:])
    for query, row in zip(some, keys, strict=True):
        targets = np.flatnonzero(row == row.max())
        back = keys_of(images[n:][targets], images[:n])
        own = back[:, [query]]
        hits = (K - (back > own).sum(axis=1)) / (back == own).sum(axis=1)
        value = np.clip(hits, 0, 1).mean()
        assert abs(table["value"][int(query)].as_py() - value) <= (ROUGH if len(targets) > 1 else 1e-9), (
            query,
            value,
        )


def main(n: int = N) -> None:
    """Print the ratio, and the seconds of each stage."""
    texts, images = items(n)
    manifest = two_languages(n)
    evaluate(two_languages(50), texts[:100], images[:100])  # so that no import is timed
    stages: list[dict[str, float]] = []

    def run() -> Results:
        results = evaluate(manifest, texts, images)
        stages.append(dict(results.timings))
        return results

    bare = product((texts[:n], texts[n:]), (images[n:], images[:n]))
    whole = Job("Backretrieval", run, goal=GOAL, check=partial(check, texts, images))
    measure(f"{n:,} items, {TEXT_DIM}-d texts, {IMAGE_DIM}-d images", [bare, whole], turns=3)
    least = {stage: min(turn[stage] for turn in stages) for stage in stages[0]}
    print("   wall time: " + ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in least.items()))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:] if word.isdigit()))
