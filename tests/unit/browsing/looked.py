"""Results to look at: sixty items in English, Arabic and Japanese, hostile texts, vectors in files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.browsing.looking import open_looking
from xlingual.browsing.marks import Marks
from xlingual.results import Results

N, DIM, LANGUAGES = 60, 8, ("en", "ar", "ja")
HOSTILE = "<script>alert(1)</script>"
BREAKING = "</script><img src=x onerror=alert(2)>"
FORMULA = '=HYPERLINK("http://evil.example")'
TEXTS = {"en": "red lamp {}", "ar": "مصباح أحمر {}", "ja": "赤いランプ{}"}


def make(folder: Path, task: str = "xlr") -> SimpleNamespace:
    """Write data, vectors and results of two encoders to a folder."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(N):
        texts = {f"text_{tag}": form.format(i) for tag, form in TEXTS.items()}
        if i < 3:
            texts["text_en"] = (HOSTILE, BREAKING, FORMULA)[i]
        path = folder / f"{i}.png"
        if i != 5:  # its file is missing
            Image.fromarray(rng.integers(0, 255, (12, 12, 3), dtype=np.uint8)).save(path)
        rows.append({"id": f"i{i}", **texts, "image": path.name, "category": f"c{i % 3}"})
    pq.write_table(pa.Table.from_pylist(rows), folder / "manifest.parquet")
    base = rng.standard_normal((N, DIM))
    vectors = {}
    for name, noise in (("good", 0.4), ("bad", 1.6)):
        for tag in LANGUAGES:
            vectors[name, tag] = (base + noise * rng.standard_normal((N, DIM))).astype(np.float32)
            np.save(folder / f"{name}.{tag}.npy", vectors[name, tag])
    images = (base + 0.3 * rng.standard_normal((N, DIM))).astype(np.float32)
    np.save(folder / "images.npy", images)
    specs = {name: f"vectors:{folder}/{name}.{{lang}}.npy" for name in ("good", "bad")}
    data = Manifest.read(folder / "manifest.parquet")
    more = {"measures": "R@3", "store": None, "examples": False}
    if task == "xlr":
        results = crosslingual_retrieval(data, specs, **more)
    else:
        results = backretrieval(data, specs, image_encoder=f"vectors:{folder}/images.npy", **more)
    results.write(folder / "out")
    return SimpleNamespace(folder=folder, data=data, vectors=vectors, images=images, out=folder / "out")


def looking(made: SimpleNamespace, marks: Path | None = None, **more: object):
    """Open the results as the command does."""
    file = Marks(marks or made.folder / "marks.json")
    more = {"store": None, "image_encoder": f"vectors:{made.folder}/images.npy"} | more
    return open_looking(Results.read(made.out), made.folder / "manifest.parquet", marks=file, **more)


def cosines(made: SimpleNamespace, name: str, source: str, i: int, target: str) -> np.ndarray:
    """Return the cosines of a text with all of a language, the slow way."""
    query = made.vectors[name, source][i].astype(np.float64)
    others = made.vectors[name, target].astype(np.float64)
    return others @ query / np.linalg.norm(others, axis=1) / np.linalg.norm(query)
