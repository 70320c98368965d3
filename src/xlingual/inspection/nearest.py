"""What the neighbours that results keep add to their queries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.inspection.judged import Asked, found_rows, rows_of
from xlingual.results import Results


@dataclass(frozen=True)
class Nearest:
    """What neighbours add: the nearest text of each query, its score, and who is never found."""

    asked: Asked
    score: Floats  # [q], NaN where it is not known
    kept: bool
    pair: Ints  # of each line of the table, as in `asked`
    query: Ints  # row of the manifest
    neighbour: Ints  # row of the manifest
    scores: Floats  # of the neighbour

    def never(self, data: Manifest) -> tuple[float | None, float | None, list[int]]:
        """Return the share of targets among no query's nearest, that by chance, and these rows.

        Targets are known where queries have their own items among them, so these are looked at: the texts of
        the queries' items in the target language.
        """
        one = self.asked
        if not self.kept:
            return None, None, []
        lost, total, expected, unfound = 0, 0, 0.0, list[int]()
        for pair, (_, target) in enumerate(one.pairs):
            queries = one.row[one.first_sample & (one.pair == pair)]
            rows = data.rows_of(target)
            targets = rows[np.isin(data.item[rows], data.item[queries])]
            listed = self.neighbour[self.pair == pair]
            if not len(targets) or not np.isin(listed, targets).any():
                continue
            missing = np.setdiff1d(targets, listed)
            lost, total = lost + len(missing), total + len(targets)
            expected += len(targets) * (1 - len(listed) / len(queries) / len(targets)) ** len(queries)
            unfound += missing.tolist()
        if not total:
            return None, None, []
        return lost / total, expected / total, list(dict.fromkeys(unfound))


def nearest_of(results: Results, data: Manifest, encoder: str, queries: Asked) -> Nearest:
    """Return what the neighbours of an encoder say; where they were not kept, only what queries say."""
    import pyarrow as pa
    import pyarrow.compute as pc

    score = np.full(len(queries.row), np.nan)
    none = np.empty(0, dtype=np.int64)
    table = results.tables.get("neighbours")
    if table is None:
        return Nearest(queries, score, False, none, none, none, np.empty(0))
    table = table.filter(pc.equal(table["encoder"].cast(pa.string()), encoder))
    rows = rows_of(data)
    place = {pair: number for number, pair in enumerate(queries.pairs)}
    both = zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)
    pair = np.array([place[one] for one in both], dtype=np.int64)
    query = found_rows(rows, table["source"], table["query"])
    neighbour = found_rows(rows, table["target"], table["neighbour"])
    alone = (table["above"].to_numpy() == 0) & (table["tied"].to_numpy() == 1)
    lines = np.flatnonzero(queries.first_sample)
    width = len(data)
    keys = queries.pair[lines] * width + queries.row[lines]
    order = np.argsort(keys)
    best = np.flatnonzero(table["above"].to_numpy() == 0)
    best = best[np.append(True, np.diff(pair[best] * width + query[best]) != 0)]
    at = lines[order[np.searchsorted(keys[order], pair[best] * width + query[best])]]
    numbers = table["score"].to_numpy(zero_copy_only=False).astype(np.float64)
    score[at] = numbers[best]
    retrieved = queries.retrieved.copy()
    retrieved[at] = np.where(alone[best], neighbour[best], -1)
    found = replace(queries, retrieved=retrieved)
    return Nearest(found, score, True, pair, query, neighbour, numbers)
