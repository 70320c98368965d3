"""Backretrieval of the queries of a study, to be compared with the ratings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pyarrow.compute as pc

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.encoders import EncoderLike
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.run_systems import SystemLike
from xlingual.ranking import Ranker
from xlingual.store import StoreLike
from xlingual.streams import stream

MEASURE = "R@10"


def bkr_of_queries(
    manifest: Manifest,
    pair: tuple[str, str],
    queries: Ints,
    systems: Mapping[str, SystemLike],
    image_encoder: EncoderLike,
    *,
    seed: int,
    threads: int,
    ranker: Ranker | None,
    store: StoreLike,
    progress: Progress | None,
) -> dict[str, list[float]]:
    """Return BkR of each query (row of the manifest) by system, on a non-matching sample that has them all.

    The items of the queries are sources; the others are divided as for any evaluation
    (docs/reference/samples.md). Where items have both languages, texts of the sources are thus no targets,
    which in the study they are: the text found may be another one than raters see.
    """
    sources, targets = _sample(manifest, pair, queries, seed)
    with TemporaryDirectory() as folder:
        samples = Path(folder) / "sample.npz"
        np.savez(samples, S=sources[None], T=targets[None])
        results = backretrieval(
            manifest,
            text_encoders=cast("Any", systems),
            image_encoder=image_encoder,
            pairs=[f"{pair[0]}:{pair[1]}"],
            sample=samples,
            measures=[MEASURE],
            threads=threads,
            ranker=ranker,
            examples=False,
            neighbours=False,
            store=store,
            progress=progress,
        )
    rows = manifest.rows_of(pair[0])
    source_rows = rows[np.isin(manifest.item[rows], sources)]  # the order of the queries of the evaluation
    wanted = np.isin(source_rows, queries)
    table = results.per_query
    found = {}
    for name in systems:
        own = pc.and_(pc.equal(table["encoder"], name), pc.equal(table["measure"], MEASURE))
        values = table["value"].filter(own).to_numpy()
        by_row = dict(zip(source_rows[wanted].tolist(), values[wanted].tolist(), strict=True))
        found[name] = [by_row[row] for row in queries.tolist()]
    return found


def _sample(manifest: Manifest, pair: tuple[str, str], queries: Ints, seed: int) -> tuple[Ints, Ints]:
    """Return the items of sources and of targets: those of the queries are sources."""
    source_items, target_items = (np.unique(manifest.item[manifest.rows_of(language)]) for language in pair)
    query_items = np.unique(manifest.item[queries])
    both = np.intersect1d(source_items, target_items)
    free = stream(seed, "study sample").permutation(np.setdiff1d(both, query_items))
    more = max(0, (len(both) + 1) // 2 - len(np.intersect1d(both, query_items)))
    sources = np.union1d(np.setdiff1d(source_items, both), np.union1d(query_items, free[:more]))
    return sources, np.setdiff1d(target_items, sources)
