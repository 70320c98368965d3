"""How often a comparison of ten equal encoders finds any difference: against its leader, and in the ranks."""

from __future__ import annotations

import tempfile
import warnings
from multiprocessing import Pool

import numpy as np

from xlingual import Manifest, compare, crosslingual_retrieval

SIMULATIONS, ENCODERS, ITEMS, DIM = 5_000, 10, 200, 8
MOST = 0.055


class Noisy:
    """An encoder with one vector for each row of the manifest."""

    def __init__(self, name: str, vectors: np.ndarray) -> None:
        self.identity, self.vectors = name, vectors.astype(np.float32)

    def encode(self, batch) -> np.ndarray:
        """Return the lines of the rows."""
        (rows,) = [numbering.index for numbering in batch.numberings if numbering.unit == "rows"]
        return self.vectors[rows]


def main(simulations: int = SIMULATIONS) -> None:
    """Print both shares, of XLR R@10 with Holm's correction."""
    with Pool(2) as pool:
        differs = np.array(pool.map(_differs, range(simulations), chunksize=50), dtype=float)
    against, ranks = differs.mean(axis=0)
    print(f"{ENCODERS} encoders of equal quality, {ITEMS} queries, {simulations:,} simulations")
    print(f"any difference from the leader {against:.1%}; any rank interval not 1 to {ENCODERS} {ranks:.1%}")
    if simulations >= 1000:
        assert max(against, ranks) <= MOST


def _differs(seed: int) -> tuple[bool, bool]:
    """Return whether encoders of equal quality are called different, in outcomes and in ranks."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    meaning = np.tile(rng.standard_normal((ITEMS, DIM)), (2, 1))
    rows = [
        {"id": f"{i}", "lang": lang, "text": f"{i}", "item": f"i{i}"}
        for lang in ("en", "de")
        for i in range(ITEMS)
    ]
    encoders = {
        f"e{i}": Noisy(f"e{i}", meaning + rng.standard_normal(meaning.shape)) for i in range(ENCODERS)
    }
    with tempfile.TemporaryDirectory() as folder:
        crosslingual_retrieval(Manifest.of(rows), text_encoders=encoders, pairs="en-de").write(folder)
        board = compare([folder], seed=seed).boards[0]
    outcomes = any(row.outcome in ("better", "worse") for row in board.rows)
    return outcomes, any((row.rank_low, row.rank_high) != (1, ENCODERS) for row in board.rows)
