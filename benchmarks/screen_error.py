"""How far float32 tiles are from float64 scores, against the band that decides what is certain."""

from __future__ import annotations

import numpy as np

from benchmarks.vectors import spectrum
from xlingual.ranking import Cosine, UnitVectors


def main() -> None:
    """Print the largest error by dimension and kind of vectors; assert that two fit into the band."""
    rng = np.random.default_rng(0)
    n = 1500
    for d in (32, 300, 768, 2048, 4096):
        kinds = {
            "random": rng.standard_normal((2 * n, d), dtype=np.float32),
            "spectrum": spectrum(rng, 2 * n, d),
            "anisotropic": spectrum(rng, 2 * n, d, shift=3.0),
            "non-negative": np.maximum(rng.standard_normal((2 * n, d), dtype=np.float32), 0),
            "equal steps": np.ones((2 * n, d), dtype=np.float32) / 3
            + rng.standard_normal((2 * n, 1)).astype("f") * 1e-7,
            "constant sign": np.abs(rng.standard_normal((2 * n, d), dtype=np.float32)) + 1,
        }
        for kind, vectors in kinds.items():
            similarity = Cosine(UnitVectors(vectors[:n]), UnitVectors(vectors[n:]))
            screen = similarity.tile(slice(0, n), slice(0, n), np.empty((n, n), dtype=np.float32))
            exact = similarity.block(np.arange(n), np.arange(n))
            error = float(np.abs(screen - exact).max())
            print(f"d {d:5d}  {kind:14s} largest error {error:.2e}, band {similarity.band:.2e}")
            assert 2 * error < similarity.band
