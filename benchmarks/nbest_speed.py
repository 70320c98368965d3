"""k-best MIRA on 1,000 lists of 20: an epoch, against the published algorithm, one by one."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from runpy import run_path

import numpy as np

from xlingual.nbest.mira import Mira, mira
from xlingual.streams import stream

SENTENCES, HYPOTHESES, FEATURES = 1000, 20, 14
EPOCHS = 10
PUBLISHED = Path(__file__).resolve().parents[1] / "tests" / "unit" / "nbest" / "slow_mira.py"


def made() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, BLEU counts and offsets of lists as long as those of a decoder."""
    random = np.random.default_rng(0)
    number = SENTENCES * HYPOTHESES
    length = random.integers(8, 25, number)
    totals = length[:, None] - np.arange(4)
    quality = random.beta(4, 3, (number, 1)) ** np.arange(1, 5)
    matches = np.floor(totals * quality).astype(np.int64)
    reference = np.repeat(random.integers(8, 25, SENTENCES), HYPOTHESES)
    features = random.normal(size=(number, FEATURES))
    features[:, 0] += 3 * quality[:, 0]
    return (
        features,
        np.column_stack([matches, totals, length, reference]),
        np.arange(SENTENCES + 1) * HYPOTHESES,
    )


def main() -> None:
    """Time an epoch of both, and assert that they find the same weights."""
    features, counts, offsets = made()
    begun = time.perf_counter()
    found = mira(features, counts, offsets, Mira(epochs=EPOCHS))
    fast = (time.perf_counter() - begun) / EPOCHS
    slow = run_path(str(PUBLISHED))["mira"]
    lists = [(features[a:b].tolist(), counts[a:b].tolist()) for a, b in pairwise(offsets)]
    begun = time.perf_counter()
    random, order, orders = stream(0, "mira order"), np.arange(SENTENCES), []
    for _ in range(EPOCHS):
        random.shuffle(order)
        orders.append(order.tolist())
    weights, bleu, epoch, history = slow(lists, orders)
    published = (time.perf_counter() - begun) / EPOCHS
    np.testing.assert_allclose(found.weights, weights, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.history, history, rtol=1e-9)
    assert found.epoch == epoch
    assert abs(found.bleu - bleu) < 1e-9
    assert fast < 0.5, fast
    print(
        f"{SENTENCES:,} lists of {HYPOTHESES}, {FEATURES} features: {fast * 1000:.0f} ms an epoch, "
        f"{published / fast:.0f} times as fast as hypothesis by hypothesis, weights equal"
    )
