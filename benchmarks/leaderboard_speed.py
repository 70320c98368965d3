"""A leaderboard of 50 encoders and 20 columns: how long it takes, with equal ranks on equal data."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec.structs import replace as changed

from xlingual import Manifest, crosslingual_retrieval
from xlingual.comparison.board import Source
from xlingual.comparison.leaderboard import board_of

ITEMS, ENCODERS, COLUMNS, DIM = 500, 50, 20, 24


class Noisy:
    """Vectors of items with noise of a size, another one for each language."""

    def __init__(self, name: str, ideal: np.ndarray, noise: float) -> None:
        self.name, self.identity, self.ideal, self.noise = name, f"noisy:{name}", ideal, noise

    def encode(self, batch) -> np.ndarray:
        """Return a line for each text, whose id ends with the number of its item."""
        lines = self.ideal[[int(row[2:]) for row in batch.ids]]
        rng = np.random.default_rng([ord(letter) for letter in self.name + batch.ids[0]])
        return lines + self.noise * rng.standard_normal(lines.shape)


def main() -> None:
    """Evaluate the encoders once, rename the data for each column, and time the leaderboard."""
    rng = np.random.default_rng(0)
    ideal = rng.standard_normal((ITEMS, DIM))
    encoders = {f"e{i:02}": Noisy(f"e{i:02}", ideal, 0.3 + 0.03 * i) for i in range(ENCODERS)}
    rows = [
        {"id": f"{lang}{i}", "lang": lang, "text": f"{lang} {i}", "item": i}
        for i in range(ITEMS)
        for lang in ("en", "de")
    ]
    manifest = Manifest.of(rows)
    run = crosslingual_retrieval(manifest, text_encoders=encoders, measures=["RR"], pairs="en-de")
    given = []
    for k in range(COLUMNS):
        own = [changed(one, signature=one.signature.replace("|data:", f"|data:{k}-")) for one in run.entries]
        given.append(Source(f"c{k}", Path(f"c{k}"), replace(run, entries=own)))
    begun = time.perf_counter()
    board = board_of(given)
    took = time.perf_counter() - begun
    assert (len(board.columns), len(board.encoders)) == (COLUMNS, ENCODERS)
    for column in board.columns:
        best, last = column.known[0], column.known[-1]
        assert best.top, column.name
        assert (last.rank_low or 1) > 1, column.name
        lows = [cell.rank_low for cell in column.known]
        assert lows == [cell.rank_low for cell in board.columns[0].known], "equal data, equal ranks"
    print(f"{ENCODERS} encoders, {COLUMNS} columns, {ITEMS} queries each: {took:.1f} s")


if __name__ == "__main__":
    main()
