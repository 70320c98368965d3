"""What it costs that evaluations keep the ten nearest targets of each query: time, and size of the file.

`python -m benchmarks neighbours_speed` evaluates 20,000 items by Backretrieval and by cross-lingual
retrieval, with neighbours and without, in turn, and asserts that the numbers are the same. Processor time is
compared, which other work hardly changes: the median ratio of two turns that follow each other.
`python -m benchmarks.neighbours_speed 5000 384`: other numbers of items, and dimensions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.timed import table
from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.results import Results

LIMIT = 1.05
TURNS = 11


class Rows:
    """Gives each text and image the row of its item."""

    def __init__(self, vectors: np.ndarray, noise: float) -> None:
        self.vectors, self.noise, self.identity = vectors, noise, f"rows {noise}"

    def encode(self, batch: object) -> np.ndarray:
        """Return vectors of texts or images."""
        place = [int(own.split("/")[0].split(":")[-1]) for own in batch.ids]  # type: ignore[attr-defined]
        rng = np.random.default_rng(len(place))
        own = self.vectors[place]
        return own + self.noise * rng.standard_normal(own.shape, np.float32)


def main(n: int = 20_000, dim: int = 768) -> None:
    """Time both tasks with neighbours and without."""
    rng = np.random.default_rng(0)
    data = Manifest.of(
        [{"id": f"{i}", "text_en": f"en {i}", "text_de": f"de {i}", "cluster": f"{i}"} for i in range(n)]
    )
    encoder = Rows(rng.standard_normal((n, dim), np.float32), 1.0)
    images = Rows(rng.standard_normal((n, 256), np.float32), 0.0)
    more = {"pairs": "en-de", "threads": 1, "store": None, "cluster": "declared"}
    tasks: dict[str, Callable[..., Results]] = {
        "backretrieval": lambda **kept: backretrieval(data, encoder, image_encoder=images, **more, **kept),
        "crosslingual-retrieval": lambda **kept: crosslingual_retrieval(data, encoder, **more, **kept),
    }
    rows = []
    for name, evaluate in tasks.items():
        seconds: dict[bool, list[float]] = {True: [], False: []}
        evaluate(neighbours=True)  # imports, and tables that are made once
        for turn in range(TURNS):
            found = {}
            for kept in (turn % 2 == 0, turn % 2 == 1):
                began = time.process_time()
                found[kept] = evaluate(neighbours=kept)
                seconds[kept].append(time.process_time() - began)
            assert found[True].entries == found[False].entries
        with TemporaryDirectory() as folder:
            found[True].write(folder)
            size = (Path(folder) / "neighbours.parquet").stat().st_size
        best = {kept: float(np.median(each)) for kept, each in seconds.items()}
        ratio = float(np.median(np.array(seconds[True]) / np.array(seconds[False])))
        assert ratio <= LIMIT, f"{name}: {ratio:.3f} times the time without neighbours"
        queries = found[True].entries[0].n_source
        rows.append(
            [
                name,
                f"{queries:,}",
                f"{best[False]:.2f}",
                f"{best[True]:.2f}",
                f"{ratio:.3f}",
                f"{size / queries:.0f}",
            ]
        )
    heads = ["task", "queries", "processor seconds without", "with", "times", "bytes a query"]
    table(f"Ten nearest targets kept: {n:,} items, {dim} dimensions", [heads, *rows])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
