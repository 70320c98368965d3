"""XQuAD-R: a dual encoder from scratch aligns languages in the regime x-y, and keeps to its own in x-x."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from xlingual.data.pools.pool import MultilingualPool, split_pool
from xlingual.embed.sides import embed_pool
from xlingual.encoders import text_encoders
from xlingual.training.parallel import of_pool
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.workflows.train_dual_encoder import HeldOut, fit_options, train_dual_encoder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.data,
    pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning"),
]


def test_regimes_on_unseen_articles(real_data: Path, tmp_path: Path) -> None:
    whole = MultilingualPool.read(real_data / "xquad_r", languages=["de", "en", "es"])
    folder = (split_pool(whole, 0.5, by="article")).write(tmp_path / "pool")
    train, test = (MultilingualPool.read(folder, split=part) for part in ("train", "test"))
    held = HeldOut(of_pool(test))
    found = {}
    for regime in ("x-y", "x-x"):
        options = DualOptions(regime=regime, dim=128, steps=60)
        out = tmp_path / regime
        fit = fit_options("words", epochs=1, rate=3e-3, threads=1, device="cpu")
        train_dual_encoder(of_pool(train), out, options, fit=fit, validation=None)
        (encoder,) = text_encoders(f"model:{out}?device=cpu", languages=test.languages).values()
        vectors = embed_pool(test, regime, encoder)
        found[regime] = held.average_precision(
            vectors.questions[held.questions], vectors.candidates[held.candidates]
        )
    assert found["x-y"][0] > found["x-x"][0] + 0.02  # in the pool of all languages
    assert min(own for _, own in found.values()) > 0.4  # chance is below 0.01
