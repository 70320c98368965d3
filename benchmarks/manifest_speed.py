"""Processor time of reading 100,000 wide rows as Parquet, CSV and JSON lines, with equal answers.

The base is the plainest way to Python strings: the columns of the Parquet file by pyarrow, as lists. A reader
in Python took 1.47–1.71 s (CSV), .83–.90 s (Parquet) and 1.69–1.91 s (JSON lines) where Arrow takes .45 s,
.39–.47 s and, for JSON lines, .34–.47 of the time, in alternating runs on one busy machine.
"""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timed import Job, measure
from xlingual import Manifest

BASE = "columns as lists"


def columns(n: int) -> dict[str, list[str]]:
    """Make n rows with gaps, quotes, commas and line ends, images, labels and numbers."""
    rng = np.random.default_rng(0)
    words = np.array([*(f"w{k:04x}" for k in range(20_000)), "größe,“", 'say "hi"', "two\nlines", "日本語"])
    texts = [
        ["" if rng.random() < 0.07 else " ".join(rng.choice(words, rng.integers(3, 13))) for _ in range(n)]
        for _ in range(2)
    ]
    return {
        "id": [f"{row:06}" for row in range(n)],
        "text_en": texts[0],
        "text_de": texts[1],
        "image": [f"p/{row % 1000:03}/{row}.jpg" for row in range(n)],
        "category": [f"kind {row % 17}" for row in range(n)],
        "brand": [f"b{row % 5000}" for row in range(n)],
    }


def main(n: int = 100_000) -> None:
    """Print the table of times."""
    made = columns(n)
    texts = [text for pair in zip(made["text_en"], made["text_de"], strict=True) for text in pair if text]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"m.{ending}" for ending in ("parquet", "csv", "jsonl")]
        pq.write_table(pa.table(made), paths[0])
        with paths[1].open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([made, *zip(*made.values(), strict=True)])
        rows = (dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True))
        paths[2].write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
        digest = Manifest.read(paths[0]).digest

        def check(manifest: Manifest) -> None:
            assert manifest.text == texts
            assert manifest.digest == digest
            assert manifest.labels["category"][0] == "kind 0"

        jobs = [Job(BASE, lambda: pq.read_table(paths[0]).to_pydict(), base=None)]
        jobs += [Job(p.suffix[1:], lambda p=p: Manifest.read(p), base=BASE, check=check) for p in paths]
        measure(f"reading {n:,} wide rows", jobs)


if __name__ == "__main__":
    main()
