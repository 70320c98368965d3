"""The lists of Backretrieval: the source images of each query, as its retrieved text's image ranks them.

The retrieval of a text has no right answer among the targets, so what is ranked is the way back, whose one
right answer is the query's own image. Of several targets that tie for nearest, the first by name is taken.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.encoders.objects import SimilarityFunction
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval.nearest import Nearest, nearest_texts
from xlingual.evaluation.pair_run import PairRun
from xlingual.evaluation.rankings import Member, Ranking, images_of, texts_of
from xlingual.evaluation.run import Tally
from xlingual.ranking import UnitVectors


def rankings(run: PairRun, encoder: str) -> Iterator[Ranking]:
    """Yield the lists of an encoder for each task; raise InputError where images have no vectors."""
    manifest = run.manifest
    refuse_function(run)
    name, _, images = run.images()
    run.few.check(f"image encoder {name!r}", images.pool.vectors.raw)
    raw, lines = images.pool.vectors.raw, images.pool.vectors.rows[images.points]
    found = run.found_again(encoder)
    for task in run.tasks:
        sample = task.sample
        targets = texts_of(manifest, sample.target)
        repair = run.repair(encoder, [task.source])
        (nearest,) = nearest_texts(found, [sample], ranker=run.options.ranker, repair=repair, tally=Tally())
        answered = np.flatnonzero(nearest.n_tied > 0)  # a search system may find no target of a query
        retrieved = sample.target[_first_by_name(nearest, targets, len(sample.source))[answered]]
        shown, first = np.unique(images.code[sample.pool], return_index=True)
        own = np.searchsorted(shown, images.code[sample.source[answered]])
        yield Ranking(
            *(encoder, task.source, task.target, sample.seed),
            queries=texts_of(manifest, sample.source[answered]),
            candidates=images_of(manifest, sample.pool[first]),
            relevant=(np.arange(len(own)), own),
            query_vectors=UnitVectors(raw, lines[images.code[retrieved]]),
            candidate_vectors=UnitVectors(raw, lines[shown]),
        )


def refuse_function(run: PairRun) -> None:
    """Raise InputError where images are compared by a function."""
    _, found = encoders.image_model(run.image_spec(), languages=run.languages)
    if isinstance(found, SimilarityFunction):
        raise InputError(
            "runs of Backretrieval need vectors of the images, and these are compared by a function: give an "
            "image encoder, or leave out --trec"
        )


def _first_by_name(nearest: Nearest, targets: list[Member], n: int) -> Ints:
    """Return the nearest target of each query [n], of several the first by name; of none any."""
    order = np.array(sorted(range(len(targets)), key=lambda place: targets[place].name), dtype=np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    best = np.full(n, len(order) - 1, dtype=np.int64)
    np.minimum.at(best, nearest.query, rank[nearest.target])
    return order[best]
