"""Leaderboards drawn from the encoders of a cell: the pairs that one states, as in the product.

How often an order is right depends on which pairs are asked for. Neighbours on a board are closer than any
two encoders, and a leader is partly lucky. So boards of 2 encoders to all are drawn, sizes evenly on a
logarithmic scale, and from each the rows of the leader and every other encoder, and of neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

BOARDS = 24  # of a cell


def stated(rows: Mapping[str, np.ndarray], seed: int = 5) -> dict[str, np.ndarray]:
    """Return the rows that boards state; `best` is that of the board, `leader` whether it is ahead."""
    rng = np.random.default_rng(seed)
    names = zip(rows["data"], rows["pair"], rows["condition"], strict=True)
    cell = np.unique(np.array(["|".join(each) for each in names]), return_inverse=True)[1]
    order = np.argsort(cell, kind="stable")
    at, best, leads, sizes = [], [], [], []
    for lines in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
        value: dict[str, float] = {}
        place: dict[tuple[str, str], int] = {}
        for line in lines:
            a, b = rows["a"][line], rows["b"][line]
            value[a], value[b] = rows["a above chance"][line], rows["b above chance"][line]
            place[a, b] = line
        everyone = sorted(value, key=lambda name: -value[name])
        for _ in range(BOARDS):
            size = int(np.exp(rng.uniform(np.log(2), np.log(len(everyone) + 1))))
            board = [everyone[i] for i in np.sort(rng.choice(len(everyone), size, replace=False))]
            for i, name in enumerate(board[1:], start=1):
                for ahead in dict.fromkeys((board[0], board[i - 1])):
                    found = place.get((ahead, name))
                    at.append(place[name, ahead] if found is None else found)
                    best.append(value[board[0]])
                    leads.append(ahead == board[0])
                    sizes.append(size)
    chosen = np.array(at)
    return {name: column[chosen] for name, column in rows.items()} | {
        "best": np.array(best), "leader": np.array(leads), "size": np.array(sizes),
    }  # fmt: skip
