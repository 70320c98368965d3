"""A simulation: over seeds that overlap, a 95 % interval holds the truth in about 95 % of populations.

An item is a source in one sample and retrieved in another. One hundred populations have a Monte Carlo error
of about 2 points.
"""

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval

POPULATIONS, ITEMS, SEEDS = 100, 100, 10
LANGUAGES = ("en", "de")


class Numbered:
    """An encoder with one vector for each row of the manifest."""

    def __init__(self, identity, vectors):
        self.identity, self.vectors = identity, vectors.astype(np.float32)

    def encode(self, batch):
        (rows,) = [numbering.index for numbering in batch.numberings if numbering.unit == "rows"]
        return self.vectors[rows]


def evaluated(population):
    """Return the results for a fresh population: a good encoder and a worse one, images close to both."""
    rng = np.random.default_rng(population)
    meaning, common = rng.standard_normal((2, ITEMS, 6))
    good = [meaning + 0.8 * common + 0.3 * rng.standard_normal((ITEMS, 6)) for _ in LANGUAGES]
    good = np.concatenate(good)
    worse = good + rng.standard_normal(good.shape)
    images = np.tile(meaning + 0.5 * rng.standard_normal((ITEMS, 6)), (len(LANGUAGES), 1))
    rows = [
        {"id": f"{i}", "lang": language, "text": f"{i}", "item": f"i{i}"}
        for language in LANGUAGES
        for i in range(ITEMS)
    ]
    return backretrieval(
        Manifest.of(rows),
        text_encoders={"good": Numbered("good", good), "worse": Numbered("worse", worse)},
        image_encoder=Numbered("images", images),
        seeds=SEEDS,
        examples=False,
    )


@pytest.fixture(scope="module")
def simulated():
    """Return, by (measure, encoder or "gap"), arrays [populations]: value, low, high."""
    found = {}
    for population in range(POPULATIONS):
        results = evaluated(population)
        for summary in results.summary:
            if summary.source is None:
                key = summary.measure, summary.encoder
                found.setdefault(key, []).append((summary.value, summary.ci.low, summary.ci.high))
                if summary.behind is not None:
                    gap = summary.behind
                    found.setdefault((key[0], "gap"), []).append((gap.value, gap.ci.low, gap.ci.high))
    return {key: np.array(rows).T for key, rows in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["R@10", "SIM"])
@pytest.mark.parametrize("what", ["good", "worse", "gap"])
def test_intervals_over_ten_overlapping_seeds_hold_the_truth(simulated, measure, what):
    value, low, high = simulated[measure, what]
    truth = value.mean()
    assert len(value) == POPULATIONS
    assert 0.90 <= np.mean((low <= truth) & (truth <= high)) <= 0.995
    assert 0.85 <= np.mean(high - low) / (2 * 1.96) / value.std(ddof=1) <= 1.25
