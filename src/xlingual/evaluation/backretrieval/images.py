"""Images in Backretrieval: which are distinct, how alike any two are, and which are ranked in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints, distinct_values
from xlingual.data.check import MANY, shared_images, shared_sentence
from xlingual.data.images import items_of_images, near_equal, sketched
from xlingual.embed.sides import ImageIndex
from xlingual.encoders.decoding import distinct
from xlingual.encoders.objects import SimilarityFunction
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.pair_run import PairRun, PairTask, rows_with_image
from xlingual.evaluation.passes import one_pass
from xlingual.measures import RankMeasure, RecallAt
from xlingual.ranking import Cosine, FunctionScores, Progress, one_library_thread
from xlingual.ranking.similarity import DECIMALS
from xlingual.records import Images


@dataclass(frozen=True)
class ComparedImages:
    """Images that a function compares; each is a separate point.

    Images are distinct when their bytes differ; where there are no bytes, each row's is one.
    """

    code: Ints  # [rows of the manifest] the image of each text row, -1 where it has none here
    images: Images  # the distinct ones
    function: SimilarityFunction

    @property
    def points(self) -> Ints:
        """The point of each image, itself: those of one point are alike to all others in the same way."""
        return np.arange(len(self.images))

    def between(
        self, rows: Ints, columns: Ints, progress: Callable[[int, int], None] | None = None
    ) -> FunctionScores:
        """Return the similarity of points: `rows` are the queries, `columns` the candidates."""
        opened: dict[int, Images] = {}  # the rows' batch stays, with its opened images, for all columns

        def scores(queries: Ints, candidates: Ints) -> np.ndarray:
            first = int(queries[0])
            if first not in opened:
                opened.clear()
                opened[first] = self.images.take(rows[queries])
            return self.function.similarity(opened[first], self.images.take(columns[candidates]))

        return FunctionScores((len(rows), len(columns)), scores, progress=progress)


NEAR_IDENTICAL = 0.005  # median cosine distance of two images, below which all look the same
_BACKGROUND = 300  # images whose distances from each other are the background
# distinct images and their similarity: by vectors, or by a function
ImageSpace: TypeAlias = ImageIndex | ComparedImages


def image_space(run: PairRun) -> tuple[str, str, ImageSpace]:
    """Return name and identity of the image encoder or similarity, and the images of all tasks.

    Near-duplicates are looked for on the way: among images, where there are vectors of them.
    """
    name, model = encoders.image_model(run.image_spec(), languages=run.languages)
    if not isinstance(model, SimilarityFunction):
        identity, index = run.identity(model), run.embedded(name, model)
        # the image of each text, -1 for none: one number for near-equal images that many items show
        points, image = distinct_values(index.points), np.append(index.points, -1)[index.code]
        image = np.where(image < 0, image, np.searchsorted(points, image))
        parts = [index.pool.vectors.take(points[at : at + 4096]) for at in range(0, len(points), 4096)]
        unit = [sketched(part.stored(np.arange(len(part))) * part.inverse_norms[:, None]) for part in parts]
        groups = near_equal(np.concatenate(unit), items_of_images(image, run.manifest.item), MANY)
        if shared := shared_images(run.manifest, np.append(groups, -1)[image]):
            warn(f"{run.manifest.source}: {shared_sentence(shared)}")
        run.join_near_duplicates(index)
        return name, identity, index
    rows, code = rows_with_image(run.tasks), np.full(len(run.manifest), -1, dtype=np.int64)
    images = run.manifest.images(rows)
    if images.singles() is not None:
        raise InputError(
            f"{name!r} compares images and gives no vectors, of which images=mean takes the mean: choose "
            "images=first, or an image encoder"
        )
    first, code[rows] = distinct(images)
    run.join_near_duplicates()
    return name, model.identity, ComparedImages(code, images.take(first), model)


@dataclass(frozen=True)
class ImagePools:
    """The source images and the target images that are ranked against each other; tasks may share them."""

    sources: Ints  # distinct images, sorted
    targets: Ints  # distinct images, sorted
    target_texts: Ints  # [targets] how many target texts show each
    tasks: list[int]


def groups_of(images: ImageSpace, tasks: Sequence[PairTask]) -> list[list[ImagePools]]:
    """Return groups of pools that share one product: the seeds of a language pair, where that is cheaper.

    Tasks with the same source images and target images are one pair of pools: their ranking is the same.
    """
    distinct_pools: dict[tuple[bytes, bytes, bytes], ImagePools] = {}
    for number, task in enumerate(tasks):
        sources = distinct_values(images.code[task.sample.pool])
        targets, texts = np.unique(images.code[task.sample.target], return_counts=True)
        key = (sources.tobytes(), targets.tobytes(), texts.tobytes())
        pools = ImagePools(sources, targets, texts.astype(np.int64), [])
        distinct_pools.setdefault(key, pools).tasks.append(number)
    by_pair: dict[tuple[str, str], list[ImagePools]] = {}
    for pools in distinct_pools.values():
        by_pair.setdefault(tasks[pools.tasks[0]].pair, []).append(pools)
    groups: list[list[ImagePools]] = []
    for several in by_pair.values():
        together = one_pass([(pools.sources, pools.targets) for pools in several])
        groups += [several] if together else [[pools] for pools in several]
    return groups


class ImagePass:
    """The images of some pools in one similarity: rows are target images, columns source images.

    Rows and columns are distinct *points*: different images may share a vector.
    """

    def __init__(
        self, images: ImageSpace, pools: Sequence[ImagePools], progress: Progress | None = None
    ) -> None:
        self._images, self._code = images, images.points
        self._rows = distinct_values(self._code[np.concatenate([each.targets for each in pools])])
        self._columns = distinct_values(self._code[np.concatenate([each.sources for each in pools])])
        self.similarity = images.between(self._rows, self._columns, progress)

    def among(self, rows: Ints, columns: Ints) -> Cosine | FunctionScores:
        """Return the similarity of some rows and columns alone."""
        return self._images.between(self._rows[rows], self._columns[columns])

    def rows(self, images: Ints) -> Ints:
        """Return the rows of target images."""
        return np.searchsorted(self._rows, self._code[images])

    def columns(self, images: Ints) -> Ints:
        """Return the columns of source images."""
        return np.searchsorted(self._columns, self._code[images])


def refuse_small_pools(
    images: ImageSpace, tasks: Sequence[PairTask], measures: Sequence[RankMeasure]
) -> None:
    """Raise InputError where every query would be a hit: k is not below the number of distinct images."""
    depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=0)
    for task in tasks:
        count = len(distinct_values(images.code[task.sample.pool]))
        if depth >= count:
            raise InputError(
                f"R@{depth} needs more than {depth} distinct source images, pair "
                f"{task.source}-{task.target} has {count} (items with both languages are divided between "
                "sources and targets): every query would be a hit; give more items, "
                f"a smaller k ({parameter('measures', ['R@k'])}), or name other pairs ({parameter('pairs')})"
            )


def usual_distance(images: ImageIndex) -> float | None:
    """Return the median cosine distance of two images, of at most 300; None for fewer than two."""
    lines = np.linspace(0, len(images) - 1, min(len(images), _BACKGROUND)).astype(np.int64)
    if len(lines) < 2:
        return None
    vectors = images.pool.vectors.take(images.points[lines])
    unit = vectors.stored(np.arange(len(lines))) * vectors.inverse_norms[:, None]
    with one_library_thread():  # threads of a library wait busily for more after a product
        cosine = (unit @ unit.T)[np.triu_indices(len(lines), 1)]
    return abs(round(float(np.median(1 - cosine)), DECIMALS))  # the same with any number of threads


def warn_of_near_identical(distance: float | None) -> None:
    """Warn where the image encoder sees hardly a difference between any two images."""
    if distance is not None and distance < NEAR_IDENTICAL:
        warn(
            "to the image encoder all images look nearly the same (the median cosine distance of two is "
            f"{distance:.2g}): neither BkR nor its oracle tells anything, even where the oracle is high; see "
            "xlingual data check MANIFEST --image-encoder SPEC"
        )
