"""Histories of small made data: versions of one encoder on the same queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual import gate
from xlingual import history as changes
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

ITEMS = 80


class Noisy:
    """Vectors that point to their item, with noise of a size, another one in each language."""

    def __init__(self, name: str, noise: float, seed: int = 0) -> None:
        self.name, self.identity, self.noise, self.seed = name, f"noisy:{name}", noise, seed

    def encode(self, batch: Any) -> np.ndarray:
        ideal = np.eye(ITEMS)
        by_language = {
            tag: ideal
            + self.noise / 4 * np.random.default_rng([self.seed, ord(tag[0])]).standard_normal(ideal.shape)
            for tag in set(batch.language)
        }
        return np.stack(
            [by_language[tag][int(row[2:])] for tag, row in zip(batch.language, batch.ids, strict=True)]
        )


class Versions:
    """Evaluates versions of an encoder; equal noise and seed give equal numbers."""

    def __init__(self, folders) -> None:
        self.folders, self.n = folders, 0

    def xlr(self, noise: float, seed: int = 0, *, name: str = "mine", date: str | None = None, **options):
        """Return results whose date is a day later with each call, unless it is given."""
        encoder = Noisy(name, noise, seed)
        options = {"measures": ["R@1", "RR"]} | options
        manifest = options.pop("manifest", None) or self.folders.manifest()
        return self.dated(crosslingual_retrieval(manifest, text_encoders=[encoder], **options), date)

    def bkr(self, noise: float, seed: int = 0, *, name: str = "mine"):
        encoder, images = Noisy(name, noise, seed), self.folders.given("images", 0.1)
        manifest = self.folders.manifest()
        return self.dated(
            backretrieval(manifest, text_encoders=[encoder], image_encoder=images, measures=["R@5"])
        )

    def dated(self, results, date: str | None = None):
        self.n += 1
        results.run["date"] = date or f"2026-01-{self.n:02d}T00:00:00+00:00"
        return results


@pytest.fixture
def versions(folders) -> Versions:
    return Versions(folders)


class History:
    """A folder of results folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(self, results, label: str | None = None) -> Path:
        """Write results into a folder of the history, named by its number unless by a label."""
        path = self.folder / (label or f"{len(list(self.folder.glob('*'))) + 1:03}")
        results.write(path)
        return path

    def trend(self, **options):
        return changes(self.folder, **options)

    def gate(self, candidate, **options):
        return gate(candidate, history=self.folder, margin=0.05, **options)


@pytest.fixture
def history(tmp_path) -> History:
    return History(tmp_path / "history")
