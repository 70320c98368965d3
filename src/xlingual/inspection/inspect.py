"""Inspect results: slices of queries that fail, kinds of error and hubs of each encoder, with examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.sides import image_vectors
from xlingual.encoders import EncoderLike
from xlingual.encoders import image_encoder as made_image_encoder
from xlingual.errors import InputError
from xlingual.inspection.encoder import Looked, Shown
from xlingual.inspection.evaluated import data_of, pool_of
from xlingual.inspection.failures import failures_of
from xlingual.inspection.features import features_of
from xlingual.inspection.judged import POOL, TASKS, asked, encoder_names, measure_of, task_of
from xlingual.inspection.kinds import NEAR_RANK
from xlingual.inspection.pools import TextsOfPool, served_in_pool
from xlingual.inspection.served import Served, served_in_pairs
from xlingual.inspection.slices import ALPHA
from xlingual.measures import parse_measure
from xlingual.permission import Permission, limited
from xlingual.results import Results
from xlingual.results.inspection import Inspection
from xlingual.store import StoreLike, open_store

if TYPE_CHECKING:
    import pyarrow as pa

_TEXTS = 100_000  # whose slices are searched for at the most; of more, a sample
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Inspected:
    """What was found, and for each encoder, the best first, what it was found in."""

    found: Inspection
    looked: Sequence[Looked]

    def failures(self) -> pa.Table:
        """Return all queries of the first samples that failed, the worst first: see `failures_of`."""
        return failures_of(self.looked)


def inspect_results(
    results: Results,
    manifest: ManifestLike | MultilingualPool | None = None,
    *,
    encoders: Sequence[str] = (),
    measure: str | None = None,
    image_encoder: EncoderLike | None = None,
    examples: bool = True,
    seed: int = 0,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Inspected:
    """Return where encoders fail, and why.

    Args:
        results: of Backretrieval, cross-lingual retrieval or a multilingual pool.
        manifest: the data that were evaluated, or the pool; None: those that the results name.
        encoders: names of those to look at; none: all.
        measure: by which queries fail; None: the first whose values are between 0 and 1.
        image_encoder: makes clusters of images, one kind of slice; None: that of the results, if any.
        examples: keep texts and thumbnails.
        seed: of clusters and shuffles.
        store: where vectors of images are kept.
        progress: called with (what, done, total).


    Raises:
        InputError: the data are not those of the results, or a name is not known.

    """
    task = task_of(results, (*TASKS, POOL))
    names, measure = encoder_names(results, tuple(encoders)), measure_of(results, measure)
    say = progress or (lambda what, done, total: None)
    data, further, serve = _opened(results, task, manifest, measure)
    served = []
    for place, name in enumerate(names):
        say("looking at queries", place, len(names))
        served.append(serve(name))
    say("looking at queries", len(names), len(names))
    of_all = [one.asked for one in served]
    rows = np.unique(np.concatenate([one.row for one in of_all]))
    if len(rows) > _TEXTS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, _TEXTS, replace=False))
    named, images, wrong = _images(results, data, rows, image_encoder, store, progress)
    say("dividing texts", 0, 1)
    of_texts = {name: of[rows] for name, of in further.items()}
    features = features_of(data, rows, images, seed, of_texts)
    say("dividing texts", 1, 1)
    shown = Shown(data, examples)
    found = []
    for place, (name, each) in enumerate(zip(names, served, strict=True)):
        say("looking for slices", place, len(names))
        looker = Looked(data, shown, name, each)
        found.append((looker.inspected(rows, features, seed), looker))
    say("looking for slices", len(names), len(names))
    found.sort(key=lambda one: -one[0].value)
    inspection = Inspection(
        task=task,
        measure=measure,
        data=data.path.name if data.path is not None else data.source,
        encoders=[one for one, _ in found],
        features={feature.name: len(feature.labels) for feature in features},
        images=named,
        alpha=ALPHA,
        near=NEAR_RANK * _cut(measure),
        warnings=wrong,
    )
    return Inspected(inspection, [looker for _, looker in found])


def _opened(
    results: Results, task: str, given: ManifestLike | MultilingualPool | None, measure: str
) -> tuple[Manifest, Mapping[str, Floats], Callable[[str], Served]]:
    """Return the texts that were evaluated, numbers that divide them too, and what says how each was served.

    The last takes the name of an encoder.
    """
    cut = _cut(measure)
    near = NEAR_RANK * cut
    if task == POOL:
        pool = TextsOfPool(pool_of(results, given))
        return pool.data, pool.further(), lambda name: served_in_pool(results, pool, name, measure, near, cut)
    data = data_of(results, given)

    def serve(name: str) -> Served:
        queries = asked(results, data, name, measure)
        return served_in_pairs(results, data, name, queries, near, matching=task != "backretrieval")

    return data, {}, serve


def _cut(measure: str) -> int:
    """Return the cut-off of a measure, 10 where it has none."""
    return int(getattr(parse_measure(measure), "k", 10) or 10)


def _images(
    results: Results,
    data: Manifest,
    rows: Ints,
    given: EncoderLike | None,
    store: StoreLike,
    progress: Progress | None,
) -> tuple[str | None, Vectors | None, list[str]]:
    """Return the image encoder's name, vectors [n, d] of the images of text rows, and what went wrong."""
    spec = given if given is not None else results.request.get("image_encoder")
    if spec is None:
        return None, None, []
    # files of vectors need no column of images: each row has one then
    shown = np.flatnonzero(data.image[rows] >= 0) if data.has_images else np.arange(len(rows))
    try:
        with nullcontext() if given is not None else limited(Permission()):  # the record may be a stranger's
            name, encoder = made_image_encoder(spec, languages=data.languages)
        found = image_vectors(data, name, encoder, rows[shown], store=open_store(store), progress=progress)
    except InputError as error:
        if given is not None:
            raise
        return None, None, [f"there are no slices by the look of images: {error}"]
    vectors = np.zeros((len(rows), found.shape[1]), dtype=np.float32)
    vectors[shown] = found
    return name, vectors, []
