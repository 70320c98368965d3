"""The table of sentence pairs: what people said and what each encoder says, without the sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from xlingual.data.sentence_pairs import SentencePairs
from xlingual.evaluation.perquery import PerQuery
from xlingual.records import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa


def pair_table(
    files: Sequence[SentencePairs],
    language: str,
    clusters: Sequence[Ints],
    encoders: Sequence[str],
    cosines: Mapping[tuple[str, int], Floats],
) -> pa.Table:
    """Return a row for each encoder, file and pair: encoder, source, target, pair, cluster, score, cosine."""
    import pyarrow as pa

    parts = []
    for encoder in encoders:
        for number, file in enumerate(files):
            n = len(file)
            columns = {
                "encoder": _repeated(encoder, n),
                "source": _repeated(language, n),
                "target": _repeated(file.name, n),
                "pair": pa.array(file.ids, pa.string()),
                "cluster": pa.array(clusters[number], pa.int64()),
                "score": pa.array(file.score, pa.float64()),
                "cosine": pa.array(cosines[encoder, number], pa.float64()),
            }
            parts.append(pa.table(columns))
    return pa.concat_tables(parts).unify_dictionaries()


def no_queries() -> pa.Table:
    """Return the table of queries without a row: a correlation is no mean over queries."""
    nobody = np.empty(0, dtype=np.int64)
    return PerQuery(SimpleNamespace(ids=[], item=nobody, item_ids=[], cluster=nobody, labels={})).table()


def _repeated(word: str, n: int) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, dtype=np.int32)), pa.array([word]))
