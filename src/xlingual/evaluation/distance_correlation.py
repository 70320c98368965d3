"""Distance correlation (CORR): do texts lie as far apart as their images.

Spearman's correlation between text and image cosine distances over pairs of a source and a target: the
Backretrieval paper's baseline, without any retrieval. Ranked images serve every encoder, and where the
samples of a language pair overlap, the cosines of their union are computed once and each sample's table is
read off them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import local
from typing import Any, Literal, Unpack

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.data.samples import Sample, SampleLike
from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.encoders import EncoderLike
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.passes import one_pass
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, keeping_warnings
from xlingual.measures import DistanceCorrelation
from xlingual.ragged import sums
from xlingual.ranking import UNIT, Cosine, UnitVectors, one_library_thread
from xlingual.requests import answers
from xlingual.requests.evaluating import DistanceCorrelationRequest
from xlingual.results import Results
from xlingual.stats import RankedTable, ResidualPart, influence_sums, spearman, spearman_influence
from xlingual.store import StoreLike, open_store
from xlingual.streams import stream

NAME = "distance-correlation"
MEASURE = DistanceCorrelation()
EXACT_PAIRS = 4_000_000  # up to so many pairs all are used
SAMPLED_PAIRS = 1_000_000  # above, so many are drawn with replacement
_UNION_BYTES = 1 << 29  # of the keys of a union of samples
_ROWS = 512  # of a union computed at a time
KEPT_BYTES = 1 << 29  # ranked image distances kept for the next encoder

Unit = Callable[[Ints], Any]  # the dense vectors of some codes (text rows, images)


@takes_data()
@answers(DistanceCorrelationRequest)
@keeping_warnings
def distance_correlation(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs,
    *,
    image_encoder: EncoderLike,
    pairs: str | Sequence[str] | None = None,
    sample: SampleLike = "all",
    texts_per_item: int | Literal["all"] = "all",
    seeds: int = 1,
    seed: int = 0,
    skip_broken: bool = False,
    threads: int = 1,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> Results:
    """Evaluate text encoders by the correlation of text and image distances, on a non-matching sample.

    Up to four million pairs all are used; above, a uniform sample of a million, and the entry's note gives
    the standard error that this adds. Arguments as in `backretrieval`.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    options = Options(
        *(pairs, sample, seeds, seed, threads, progress, skip_broken, open_store(store)),
        texts_per_item=texts_per_item,
    )
    run = PairRun(NAME, manifest, options, matching=False, image_spec=image_encoder, roles=False)
    run.prepare(text_encoders)
    image_name, identity, images = run.images()
    numbers = Numbers(NAME, [MEASURE], run.subjects, image_name)
    return evaluate(run, numbers, _ranks(run, images, identity), run.manifest, Recording())


def _ranks(run: PairRun, images: ImageIndex, identity: str) -> Iterator[Ranked]:
    """Correlate the distances of texts with those of images, for each encoder and sample."""
    encoded = ((name, run.without_role(name)) for name in run.text_encoders)
    for name, number, found in correlations(run, encoded, images):
        task = run.tasks[number]
        yield Ranked(
            encoder=name,
            subject=run.subjects[number],
            queries=task.sample.source,
            clusters=(),
            n_candidates=len(task.sample.target),
            values={},
            estimates={} if found.score is None else {MEASURE.name: found.score},
            baselines={MEASURE.name: Baseline(chance=0.0)},
            conditions=run.conditions(task, images=identity),
            system=run.roles_of(name),
            notes={} if found.note is None else {MEASURE.name: found.note},
        )


def correlations(
    run: PairRun, encoded: Iterable[tuple[str, TextVectors]], images: ImageIndex
) -> Iterator[tuple[str, int, Correlation]]:
    """Yield the name of each encoder, the number of each task, and their correlation.

    Images are ranked once for all encoders. Threads work on tasks side by side.
    """
    pairs = [SamplePairs.of(task.sample) for task in run.tasks]
    of_images, cluster = ImageRanks(images, run.tasks, pairs), run.manifest.cluster
    with ThreadPoolExecutor(run.options.threads) as workers:  # a thread starts with its first work
        for name, vectors in encoded:
            report = run.progress(f"correlating distances: {name}")
            for chosen in by_pair(run.tasks).values():
                with run.stage("correlate"), one_library_thread():
                    sides = [(run.tasks[n].sample.source, run.tasks[n].sample.target) for n in chosen]
                    texts = RankedTables(vectors.unit, sides, [pairs[n] for n in chosen])
                    of_images.prepare(chosen)

                    def correlated(number: int, place: int, texts: RankedTables = texts) -> Correlation:
                        ranked = texts[place], of_images.of(number)
                        return correlation(run.tasks[number], pairs[number], *ranked, cluster)

                    alone = min(run.options.threads, len(chosen)) == 1
                    correlations = list(
                        (map if alone else workers.map)(correlated, chosen, range(len(chosen)))
                    )
                for number, each in zip(chosen, correlations, strict=True):
                    yield name, number, each
                    report(number + 1, len(run.tasks))


@dataclass(frozen=True)
class SamplePairs:
    """Pairs of a source and a target of a sample: all of n × m, or the drawn positions."""

    shape: tuple[int, int]
    drawn: tuple[Ints, Ints] | None = None  # (source [p], target [p])

    @classmethod
    def of(cls, sample: Sample) -> SamplePairs:
        """Take all pairs of a sample, or draw some of them where there are too many."""
        n, m = len(sample.source), len(sample.target)
        if n * m <= EXACT_PAIRS:
            return cls((n, m))
        rng = stream(sample.seed, f"pairs {n} {m}")
        return cls((n, m), (rng.integers(0, n, SAMPLED_PAIRS), rng.integers(0, m, SAMPLED_PAIRS)))

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1] if self.drawn is None else len(self.drawn[0])


@dataclass(frozen=True)
class Correlation:
    """Spearman's correlation in one sample, or None, and a note: why there is none, or how it was drawn."""

    score: Score | None
    note: str | None = None


def correlation(
    task: PairTask, pairs: SamplePairs, texts: RankedTable, images: RankedTable, cluster: Ints
) -> Correlation:
    """Correlate, with one residual for each item: its rows or its columns of influence."""
    value = spearman(texts, images)
    if value is None:
        what = "text" if texts.is_constant else "image"
        return Correlation(None, f"no correlation: all {what} distances are equal")
    note = None
    if pairs.drawn is None:
        rows, columns, squares = influence_sums(texts, images, value, pairs.shape)
    else:
        influence = spearman_influence(texts, images, value)
        rows, columns = (
            sums(side, influence, size) for side, size in zip(pairs.drawn, pairs.shape, strict=True)
        )
        squares = float(influence @ influence)
        every, error = pairs.shape[0] * pairs.shape[1], squares**0.5 / len(pairs)
        note = f"from {len(pairs):,} of {every:,} pairs, standard error {error:.4f}"
    items = np.concatenate([cluster[task.sample.source], cluster[task.sample.target]])
    part = ResidualPart(np.concatenate([rows, columns]) / len(pairs), (items,))
    twice = squares / len(pairs) ** 2  # a pair's own square, once in its row and once in its column
    return Correlation(Score(value, (part,), (-1.0, 1.0), 2.0, twice), note)


class RankedTables:
    """The ranked cosines of several samples, made on demand; `sides` are codes that `unit` takes."""

    def __init__(self, unit: Unit, sides: Sequence[tuple[Ints, Ints]], pairs: Sequence[SamplePairs]) -> None:
        self.unit, self.sides, self.pairs, self._rooms = unit, sides, pairs, local()
        self._sources, self._targets = (
            distinct_values(np.concatenate(side)) for side in zip(*sides, strict=True)
        )
        size = len(self._sources) * len(self._targets) * 4
        whole = all(p.drawn is None for p in pairs) and len(sides) > 1
        self._keys = self._union() if whole and size <= _UNION_BYTES and one_pass(sides) else None

    def _union(self) -> np.ndarray:
        """Compute the keys of all sources and targets, int32 [sources, targets]: |cosine| ≤ 1 fits."""
        similarity = Cosine(self.unit(self._sources), self.unit(self._targets))
        keys, targets = np.empty(similarity.shape, dtype=np.int32), np.arange(len(self._targets))
        for start in range(0, len(keys), _ROWS):
            scores = similarity.block(np.arange(start, min(start + _ROWS, len(keys))), targets)
            scores /= UNIT
            np.rint(scores, out=keys[start : start + _ROWS], casting="unsafe")
        return keys

    def __getitem__(self, number: int) -> RankedTable:
        """Rank the table of a sample."""
        source, target = self.sides[number]
        if self._keys is not None:
            if (room := getattr(self._rooms, "room", None)) is None:  # of a thread, for any of the samples
                room = self._rooms.room = np.empty(max(map(len, self.pairs)), dtype=np.int64)
            rows, columns = np.searchsorted(self._sources, source), np.searchsorted(self._targets, target)
            return RankedTable.within(self._keys, rows, columns, room)
        similarity, drawn = Cosine(self.unit(source), self.unit(target)), self.pairs[number].drawn
        if drawn is not None:
            return RankedTable.of(similarity.keys(*drawn))
        block = similarity.block(np.arange(len(source)), np.arange(len(target)))
        return RankedTable.of(np.rint(block / UNIT).astype(np.int64).ravel())


class ImageRanks:
    """Ranked image similarities by task: those of equal images are one, kept for the next encoder."""

    def __init__(self, images: ImageIndex, tasks: Sequence[PairTask], pairs: Sequence[SamplePairs]) -> None:
        self.pairs = pairs
        vectors, code = images.pool.vectors, images.pool.code
        self._unit: Unit = lambda chosen: UnitVectors(vectors.raw, vectors.rows[code[chosen]])
        self._sides = [(images.code[task.sample.source], images.code[task.sample.target]) for task in tasks]
        self._keys = [  # with the seed where pairs are drawn
            (source.tobytes(), target.tobytes(), None if of.drawn is None else task.sample.seed)
            for (source, target), of, task in zip(self._sides, pairs, tasks, strict=True)
        ]
        self._kept: dict[tuple[bytes, bytes, int | None], RankedTable] = {}

    def of(self, number: int) -> RankedTable:
        """Look up the table of a task."""
        while (table := self._kept.get(self._keys[number])) is None:  # another thread may have made room
            self.prepare([number])
        return table

    def prepare(self, numbers: Sequence[int]) -> None:
        """Rank the images of these tasks ahead, from one product where that is cheaper."""
        new = {self._keys[n]: n for n in numbers if self._keys[n] not in self._kept}
        if not new:
            return
        chosen = list(new.values())
        tables = RankedTables(self._unit, [self._sides[n] for n in chosen], [self.pairs[n] for n in chosen])
        for position, key in enumerate(new):
            if sum(table.twice.nbytes for table in self._kept.values()) > KEPT_BYTES:
                self._kept.clear()
            self._kept[key] = tables[position]
