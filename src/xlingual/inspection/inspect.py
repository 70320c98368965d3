"""Inspect results: slices of queries that fail, kinds of error and hubs of each encoder, with examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.embed.images import image_vectors
from xlingual.embed.kept import kept_rows
from xlingual.encoders import ImageModelLike
from xlingual.encoders import image_encoder as made_image_encoder
from xlingual.errors import InputError
from xlingual.inspection.encoder import Looked, Shown
from xlingual.inspection.evaluated import data_of
from xlingual.inspection.failures import failures_of
from xlingual.inspection.features import features_of
from xlingual.inspection.judged import asked, encoder_names, measure_of, task_of
from xlingual.inspection.kinds import NEAR_RANK
from xlingual.inspection.slices import ALPHA, Feature
from xlingual.measures import parse_measure
from xlingual.results import Results
from xlingual.results.inspection import Inspection
from xlingual.store import StoreLike, open_store

if TYPE_CHECKING:
    import pyarrow as pa

_TEXTS = 100_000  # whose slices are searched for at the most; of more, a sample
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Inspected:
    """What was found, and what it was found in: `features` are those of text rows [n]."""

    found: Inspection
    looked: Sequence[Looked]
    rows: Ints
    features: Sequence[Feature]

    def failures(self) -> pa.Table:
        """Return all queries of the first samples that failed, the worst first: see `failures_of`."""
        return failures_of(self.looked)


def inspect_results(
    results: Results,
    manifest: ManifestLike | None = None,
    *,
    encoders: Sequence[str] = (),
    measure: str | None = None,
    image_encoder: ImageModelLike | None = None,
    examples: bool = True,
    seed: int = 0,
    store: StoreLike = "default",
    progress: Progress | None = None,
    only_kept: bool = False,
    slices: bool = True,
) -> Inspected:
    """Return where encoders fail, and why.

    Args:
        results: of Backretrieval or cross-lingual retrieval.
        manifest: the data that were evaluated; None: those that the results name.
        encoders: names of those to look at; none: all.
        measure: by which queries fail; None: the first whose values are between 0 and 1.
        image_encoder: makes clusters of images, one kind of slice; None: that of the results, if any.
        examples: keep texts and thumbnails.
        seed: of clusters and shuffles.
        store: where vectors of images are kept.
        progress: called with (what, done, total).
        slices: search slices, which takes longest.
        only_kept: leave out clusters of images where the image encoder of the results would have to work.

    Raises:
        InputError: the data are not those of the results, or a name is not known.

    """
    task, names = task_of(results), encoder_names(results, tuple(encoders))
    measure = measure_of(results, measure)
    data = data_of(results, manifest)
    say = progress or (lambda what, done, total: None)
    of_all = [asked(results, data, name, measure) for name in names]
    rows = np.unique(np.concatenate([one.row for one in of_all]))
    if len(rows) > _TEXTS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, _TEXTS, replace=False))
    named, images, wrong = (
        _images(results, data, rows, image_encoder, store, progress, only_kept)
        if slices
        else (None, None, [])
    )
    say("dividing texts", 0, 1)
    features = features_of(data, rows, images, seed) if slices else []
    say("dividing texts", 1, 1)
    near, shown = NEAR_RANK * _cut(measure), Shown(data, examples)
    found = []
    for place, (name, one) in enumerate(zip(names, of_all, strict=True)):
        say("looking for slices", place, len(names))
        looker = Looked(results, data, shown, name, one, near, matching=task != "backretrieval")
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
        near=near,
        warnings=wrong,
    )
    return Inspected(inspection, [looker for _, looker in found], rows, features)


def _cut(measure: str) -> int:
    """Return the cut-off of a measure, 10 where it has none."""
    return int(getattr(parse_measure(measure), "k", 10) or 10)


def _images(
    results: Results,
    data: Manifest,
    rows: Ints,
    given: ImageModelLike | None,
    store: StoreLike,
    progress: Progress | None,
    only_kept: bool,
) -> tuple[str | None, Vectors | None, list[str]]:
    """Return the image encoder's name, vectors [n, d] of the images of text rows, and what went wrong."""
    spec = given if given is not None else results.request.get("image_encoder")
    shown = np.flatnonzero(data.image[rows] >= 0)
    if spec is None or not len(shown):
        return None, None, []
    try:
        name, encoder = made_image_encoder(spec, languages=data.languages)
        if (
            only_kept
            and given is None
            and not kept_rows(encoder, data.images(rows[shown]), open_store(store)).all()
        ):
            return None, None, []
        found = image_vectors(data, name, encoder, rows[shown], store=open_store(store), progress=progress)
    except InputError as error:
        if given is not None:
            raise
        return None, None, [f"there are no slices by the look of images: {error}"]
    vectors = np.zeros((len(rows), found.shape[1]), dtype=np.float32)
    vectors[shown] = found
    return name, vectors, []
