"""Folders of results of small made data: encoders of known quality on the same queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation

ITEMS = 80


class Given:
    """Vectors that point to their item, with noise of a size; equal names and sizes give equal vectors."""

    def __init__(self, name: str, noise: float, seed: int = 0) -> None:
        self.name, self.identity, self.noise, self.seed = name, f"given:{name}", noise, seed

    def encode(self, batch: Any) -> np.ndarray:
        ideal = np.eye(ITEMS)[[int(row[2:]) for row in batch.ids]]
        rng = np.random.default_rng([self.seed, len(batch), len("".join(batch.language))])
        return ideal + self.noise * rng.standard_normal(ideal.shape)


def manifest_of(items: int = ITEMS, *, languages=("en", "de"), word: str = "", cluster=None) -> Manifest:
    return Manifest.of(
        [
            {
                "id": f"{lang}{i}",
                "lang": lang,
                "text": f"{word}{lang} {i}",
                "item": i,
                "category": "chair" if i % 2 else "table",
                "size": i % 3,
                "sold": i % 4 == 0,
                "cluster": f"c{i if cluster is None else cluster(i)}",
            }
            for i in range(items)
            for lang in languages
        ]
    )


class Folders:
    """Writes folders of results."""

    given = Given
    manifest = staticmethod(manifest_of)

    def __init__(self, path: Path) -> None:
        self.path = path

    def xlr(self, name: str, encoders: list[Given], *, manifest=None, **options: Any) -> str:
        options.setdefault("measures", ["R@1", "RR"])
        results = crosslingual_retrieval(manifest or manifest_of(), text_encoders=encoders, **options)
        results.write(self.path / name)
        return str(self.path / name)

    def bkr(self, name: str, encoders: list[Given], *, manifest=None, **options: Any) -> str:
        options.setdefault("measures", ["R@5"])
        images = Given("images", 0.1)
        manifest = manifest or manifest_of()
        results = backretrieval(manifest, text_encoders=encoders, image_encoder=images, **options)
        results.write(self.path / name)
        return str(self.path / name)

    def corr(self, name: str, encoders: list[Given]) -> str:
        results = distance_correlation(
            manifest_of(), text_encoders=encoders, image_encoder=Given("images", 0.1)
        )
        results.write(self.path / name)
        return str(self.path / name)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)
