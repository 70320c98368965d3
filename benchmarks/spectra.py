"""What real vectors look like, so that synthetic ones can be like them: a power law of their variances.

The vectors of IKEA (24 text encoders, two languages; ResNet-50 images) and of emoji (`chargram` of names,
`pixels` of images) are scaled to unit length; the eigenvalues of their covariance are fitted by
λ_i ∝ 1/i^decay over the first quarter of the dimensions. Vectors of fewer than 49 dimensions, or whose
eigenvalues reach zero there, are left out. Needs XLINGUAL_DATA.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from xlingual import Manifest
from xlingual.workflows.embed import embed

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
LEAST = 49  # dimensions
TEXT_DECAY, IMAGE_DECAY = 0.7, 0.9  # what benchmarks of growth take
IMAGE_SHIFT = 1.17  # standard deviations by which the mean is off zero: (1.17² / (1 + 1.17²)) = 58 %


def ikea() -> Iterator[tuple[str, np.ndarray]]:
    """Yield the vectors of each text encoder, both languages, and of the images."""
    for path in sorted((DATA / "ikea/embeddings").glob("*.en.npy")):
        german = path.with_name(path.name.replace(".en.", ".de."))
        yield (
            f"texts, ikea {path.name.removesuffix('.en.npy')}",
            np.concatenate([np.load(path), np.load(german)]),
        )
    yield "images, ikea ResNet-50", np.load(DATA / "ikea/ikea_en_de_eval_features.npy")


def emoji() -> Iterator[tuple[str, np.ndarray]]:
    """Yield the vectors of the built-in encoders."""
    manifest = Manifest.read(
        DATA / "emoji/emoji.parquet", text_column="name_{lang}", image_column="image_png"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = embed(manifest, folder, text_encoders=["chargram:"], image_encoder="pixels:", store=None)
        for one in done:
            chosen = [
                path for path in one.files if one.kind == "images" or path.endswith((".en.npy", ".ru.npy"))
            ]
            vectors = np.concatenate([np.load(Path(folder, path)) for path in chosen])
            yield f"{one.kind}, emoji {one.name}", vectors


def law(vectors: np.ndarray) -> tuple[float, float, float]:
    """Return (decay, share of the squared length that the mean has, dimensions that count).

    The last is the participation ratio (Σλ)²/Σλ² of the centred vectors.
    """
    wide = vectors.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = np.divide(wide, length, out=np.zeros_like(wide), where=length > 0)
    mean = unit.mean(axis=0)
    variance = np.linalg.svd(unit - mean, compute_uv=False) ** 2 / len(unit)
    first = variance[: min(unit.shape) // 4]
    if first[-1] < 1e-9:
        return np.nan, float(mean @ mean), np.nan
    slope = np.polyfit(np.log(np.arange(1, len(first) + 1)), np.log(first), 1)[0]
    return float(-slope), float(mean @ mean), float(variance.sum() ** 2 / (variance**2).sum())


def main() -> None:
    """Print every fit; assert that what benchmarks assume lies in the middle of what was found."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    found: dict[str, list[float]] = {"texts": [], "images": []}
    for name, vectors in (*ikea(), *emoji()):
        if vectors.shape[1] < LEAST:
            continue
        decay, mean, dimensions = law(vectors)
        print(
            f"{name:36s} {vectors.shape[0]:5d} × {vectors.shape[1]:<5d} decay {decay:5.2f}   "
            f"mean {mean:4.2f} of the squared length   {dimensions:6.1f} dimensions count"
        )
        if np.isfinite(decay):
            found[name.split(",")[0]].append(decay)
    low, middle, high = np.quantile(found["texts"], (0.25, 0.5, 0.75))
    print(f"texts: median decay {middle:.2f}, quartiles {low:.2f} and {high:.2f} of {len(found['texts'])}")
    print(f"images: {', '.join(f'{decay:.2f}' for decay in found['images'])}")
    assert low <= TEXT_DECAY <= high
    assert min(found["images"]) - 0.1 <= IMAGE_DECAY <= max(found["images"]) + 0.1
