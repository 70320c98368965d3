"""Examples for the report: the best and worst queries of an encoder, with texts and thumbnails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.arrow import table_of
from xlingual.data.images import cut, thumbnails
from xlingual.data.manifest import Manifest
from xlingual.measures import Measure
from xlingual.results import Summary

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_PAIRS = 20  # language pairs with examples
SHOWN = 4  # best and worst queries for each language pair


@dataclass(frozen=True)
class ExampleRows:
    """The queries of one encoder and one sample: text rows of the manifest and how they fared; all [n].

    `retrieved` is -1 where several texts tie for nearest; such queries are not shown.
    """

    labels: Mapping[str, str | int]  # task, encoder, source, target, seed, and the size of the pool
    query: Ints
    retrieved: Ints
    above: Ints
    tied: Ints
    value: Floats
    similarity: Floats

    def chosen(self) -> list[tuple[str, int, int]]:
        """Return (kind, position, query) of the best and worst queries, no retrieved text shown twice."""
        single = np.flatnonzero(self.retrieved >= 0)
        best = single[np.lexsort((-self.similarity[single], self.above[single], -self.value[single]))]
        worst = single[np.lexsort((self.similarity[single], -self.above[single], self.value[single]))]
        shown: list[tuple[str, int, int]] = []
        used: set[int] = set()
        for kind, order in (("best", best), ("worst", worst[self.value[worst] < 1])):
            position = 0
            for query in order.tolist():
                if position == SHOWN:
                    break
                text = int(self.retrieved[query])
                if text not in used:
                    used.add(text)
                    shown.append((kind, position, query))
                    position += 1
        return shown


def leading_encoder(summary: Sequence[Summary], measure: Measure) -> str:
    """Return the encoder that is best by a measure over all pairs."""
    overall = [s for s in summary if s.source is None and s.measure == measure.name and s.value is not None]
    best = max if measure.higher_is_better else min
    return best(overall, key=lambda s: s.value or 0.0).encoder


def example_pairs(summary: Sequence[Summary], encoder: str, measure: Measure) -> list[tuple[str, str]]:
    """Return the language pairs worth looking at, hardest first: all, or the hardest and easiest of many."""
    rows = [
        (s.value, s.source, s.target)
        for s in summary
        if s.encoder == encoder and s.measure == measure.name and s.value is not None
    ]
    rows.sort(key=lambda row: row[0], reverse=not measure.higher_is_better)
    pairs = [(source, target) for _, source, target in rows if source is not None and target is not None]
    half = SHOWN_PAIRS // 2
    return pairs if len(pairs) <= SHOWN_PAIRS else pairs[:half] + pairs[-half:]


def examples_table(manifest: Manifest, blocks: Sequence[ExampleRows]) -> pa.Table:
    """Return the table of examples with thumbnails (JPEG, null where an image cannot be opened)."""
    import pyarrow as pa

    words = ("task", "encoder", "source", "target")
    schema = pa.schema(
        [(name, pa.string()) for name in words]
        + [("seed", pa.int64()), ("kind", pa.string()), ("position", pa.int64())]
        + [("query_id", pa.string()), ("query_text", pa.string()), ("query_picture", pa.binary())]
        + [("retrieved_id", pa.string()), ("retrieved_text", pa.string()), ("retrieved_picture", pa.binary())]
        + [("above", pa.int64()), ("tied", pa.int64()), ("pool", pa.int64())]
        + [("value", pa.float64()), ("similarity", pa.float64())]
    )

    thumbnail = thumbnails(manifest.image_source)
    rows: list[dict[str, object]] = []
    for block in blocks:
        for kind, position, i in block.chosen():
            query, retrieved = int(block.query[i]), int(block.retrieved[i])
            rows.append(
                {
                    **block.labels,
                    "kind": kind,
                    "position": position,
                    "query_id": manifest.ids[query],
                    "query_text": cut(manifest.text[query]),
                    "query_picture": thumbnail(int(manifest.image[query])),
                    "retrieved_id": manifest.ids[retrieved],
                    "retrieved_text": cut(manifest.text[retrieved]),
                    "retrieved_picture": thumbnail(int(manifest.image[retrieved])),
                    "above": int(block.above[i]),
                    "tied": int(block.tied[i]),
                    "value": float(block.value[i]),
                    "similarity": float(block.similarity[i]),
                }
            )
    return table_of(rows, schema)
