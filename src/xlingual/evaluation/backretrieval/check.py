"""What Backretrieval can tell on some data, before a text encoder is asked: `xlingual data check`.

Images are divided as an evaluation divides them. Whether texts go with their images is looked at within each
language, by character n-grams: texts of one language that are spelt alike are often about like things.

The oracle takes the target whose image is nearest to the query's own, and is high for pure noise too: of two
images that are nearest to each other by luck alone each still leads to the other. A *look-alike* shows the
difference: from a query to the nearest other source image, from there to its nearest target, and back.
Only where neighbours of neighbours are neighbours is the query's own image among the first K more often than
by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.samples import Sample, Sampler
from xlingual.embed.sides import ImageIndex, embed_images, embed_texts
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, nearest_texts
from xlingual.evaluation.backretrieval.way_back import NEAR_IDENTICAL, usual_distance, ways_back
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.pair_run import PairTask, draw_tasks, rows_with_image
from xlingual.evaluation.run import Progress, Storing, Tally
from xlingual.measures import RecallAt
from xlingual.ranking import CPU, Top, TopK, one_library_thread, rank
from xlingual.requests import answers
from xlingual.requests.making import CheckRequest
from xlingual.results.backretrieval_check import (
    FEW_IMAGES,
    FEW_QUERIES,
    FEWEST_NEIGHBOURS,
    NO_NEIGHBOURS,
    NO_ROOM,
    SAME,
    UNRELATED,
    BackretrievalCheck,
    LanguageTexts,
    PairImages,
)
from xlingual.stats.power import Growth, queries_needed
from xlingual.store import StoreLike, open_store
from xlingual.streams import stream
from xlingual.tasks import task_of

# How the figures come about: docs/reference/manifest.md, "What Backretrieval can tell"
ENOUGH = 3.0  # standard errors between oracle and chance, as for normalised values
DESIGN_EFFECT = 1.4  # variance of a BkR over that of as many independent queries
_MOST_QUERIES = 2_000  # of a language pair that are looked at
_MOST_TEXTS = 1_000  # of a language, on each side
_LETTERS = "chargram"
_ROUNDING = 1e-9


@takes_data()
@answers(CheckRequest)
def check_backretrieval(
    manifest: ManifestLike,
    image_encoder: EncoderLike,
    *,
    pairs: str | Sequence[str] | None = None,
    k: int = 10,
    usable: np.ndarray | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> BackretrievalCheck:
    """Say what Backretrieval can tell on some data, from their images; no text encoder is asked.

    `k` is that of R@K; of the text rows the `usable` ones, bool [n], take part. Other arguments are those of
    `backretrieval`.

    Raises:
        InputError: data, spec or options are invalid; the text says what to do.

    """
    manifest = Manifest.of(manifest)
    if k < 1:
        raise InputError(f"{parameter('k')}: expected at least 1, got {k}")
    rows = np.arange(len(manifest)) if usable is None else np.flatnonzero(usable)
    sampler = Sampler(manifest, usable=usable)
    tasks, left_out = draw_tasks(sampler, pairs, matching=False, strict=pairs is not None)
    if not tasks:
        raise InputError(f"{manifest.source}: no text can be compared: {next(iter(left_out.values()))}")
    tags = [tag for tag in manifest.languages if any(tag in task.pair for task in tasks)]
    halves = [task for tag in tags for task in _halves(manifest, tag, rows)]
    name, encoder = encoders.image_encoder(image_encoder, languages=tags)
    shown = rows_with_image([*tasks, *halves])
    storing: Storing = {"store": open_store(store), "progress": progress}
    images = embed_images(manifest, name, encoder, shown, **storing, shown=False)

    def is_large(task: PairTask) -> bool:  # else every query would be a hit
        return len(distinct_values(images.code[task.sample.pool])) > k

    with one_library_thread():
        large = []
        for task in filter(is_large, tasks):
            source = _at_most(task.sample.source, _MOST_QUERIES, "queries")
            large.append(replace(task, sample=replace(task.sample, source=source)))
        alike = [look_alikes(images, task.sample) for task in large]
        looked = _scores(manifest, images, large, alike, k)
        scores = {task.pair: each for task, each in zip(large, looked, strict=True)}
        of_pairs = [_pair(task, images, scores.get(task.pair)) for task in tasks]
        languages = _languages(manifest, images, list(filter(is_large, halves)), k)
    distance = usual_distance(images)
    reasons = [SAME] if distance is None or distance < NEAR_IDENTICAL else []
    if languages and not any(language.related for language in languages):
        reasons.append(UNRELATED)
    return BackretrievalCheck(
        image_encoder=name,
        k=k,
        n_images=len(images),
        distance=distance,
        pairs=sorted(of_pairs, key=lambda pair: (not pair.reasons, pair.neighbours or 0.0)),
        languages=languages,
        reasons=reasons,
        left_out=left_out,
    )


def _halves(manifest: Manifest, tag: str, rows: Ints) -> list[PairTask]:
    """Draw a sample within one language: half of its items are sources and half targets."""
    rows = rows[manifest.language[rows] == manifest.languages.index(tag)]
    items = distinct_values(manifest.item[rows])
    items = items[np.argsort(stream(0, "samples").permutation(manifest.n_items)[items], kind="stable")]
    is_source = np.isin(manifest.item[rows], items[: (len(items) + 1) // 2])
    source, target = rows[is_source], rows[~is_source]
    return [PairTask(tag, tag, Sample(0, source, target, source))] if len(target) else []


def _at_most(rows: Ints, most: int, what: str) -> Ints:
    """Draw so many of the rows at most."""
    return rows[np.sort(stream(0, what).permutation(len(rows))[:most])]


def _languages(
    manifest: Manifest, images: ImageIndex, halves: Sequence[PairTask], k: int
) -> list[LanguageTexts]:
    """Describe whether texts spelt alike have images alike, for each language with images enough."""
    tasks, nearest = list[PairTask](), list[Nearest]()
    for half in halves:
        source = _at_most(half.sample.source, _MOST_TEXTS, "letters of queries")
        target = _at_most(half.sample.target, _MOST_TEXTS, "letters of targets")
        task = replace(half, sample=Sample(0, source, target, source))
        tasks.append(task)
        rows = np.sort(np.concatenate([task.sample.source, task.sample.target]))
        ((name, encoder),) = encoders.text_encoders([_LETTERS], languages=[task.source]).items()
        vectors = embed_texts(manifest, name, encoder, rows)
        nearest += nearest_texts(vectors, [task.sample], ranker=CPU, tally=Tally())
    return [
        LanguageTexts(
            language=task.source,
            n_queries=len(task.sample.source),
            value=value.value,
            ci=value.simultaneous(len(tasks)) or value.interval(),
            chance=baseline.chance or 0.0,
        )
        for task, (value, baseline) in zip(tasks, _scores(manifest, images, tasks, nearest, k), strict=True)
    ]


def _scores(
    manifest: Manifest, images: ImageIndex, tasks: Sequence[PairTask], nearest: Sequence[Nearest], k: int
) -> list[tuple[Score, Baseline]]:
    """Compute R@k of the ways back from nearest texts, and its baseline, for each task."""
    measure, scores = RecallAt(k), {}
    for ranks in ways_back(images, tasks, [nearest], [measure], ranker=CPU, tally=Tally()):
        for number in ranks.numbers:
            texts, sample = nearest[number], tasks[number].sample
            clusters = cluster_ids(manifest, number, sample, texts.single(texts.target))
            value = score(measure, ranks.way_back(0, number).values(measure), clusters)
            scores[number] = value, ranks.baselines(number, [measure], manifest)[measure.name]
    return [scores[number] for number in range(len(tasks))]


def _pair(task: PairTask, images: ImageIndex, scores: tuple[Score, Baseline] | None) -> PairImages:
    """Describe what the images of a language pair tell; `scores` are of look-alikes."""
    n_queries, n_images = len(task.sample.source), len(distinct_values(images.code[task.sample.pool]))
    if scores is None:
        return PairImages(*task.pair, n_queries, n_images, [FEW_IMAGES])
    look, oracle, chance = scores[0], scores[1].oracle, scores[1].chance
    assert oracle is not None
    assert chance is not None
    ci, room, error = look.interval(), oracle.value - chance, oracle.standard_error()
    neighbours = max(0.0, (look.value - chance) / (1 - chance))
    needed = queries_above_chance(chance, room)
    reasons = [
        *([NO_NEIGHBOURS] if ci.low <= chance or neighbours < FEWEST_NEIGHBOURS else []),
        *([NO_ROOM] if room < max(ENOUGH * error, _ROUNDING) else []),
        *([FEW_QUERIES] if needed is None or needed > n_queries else []),
    ]
    return PairImages(
        *(*task.pair, n_queries, n_images, reasons, chance, oracle.value, oracle.interval(), room, error),
        *(look.value, ci, neighbours, needed),
    )


def queries_above_chance(chance: float, room: float) -> int | None:
    """Compute the queries that show an encoder at the verdict's mark to be above chance."""
    mark = task_of("backretrieval").mark
    assert mark is not None
    value, n = chance + mark.value * room, 100  # at which the growth is stated: it changes no answer
    if room <= 0:
        return None
    variance = DESIGN_EFFECT * value * (1 - value)  # of one query
    return queries_needed(mark.value * room, Growth(n, variance / n, 0.0, DESIGN_EFFECT / n))


def look_alikes(images: ImageIndex, sample: Sample) -> Nearest:
    """Find, in the place of an encoder's nearest texts, a target for each query's nearest other image."""

    def top(queries: Ints, candidates: Ints, k: int) -> TopK:
        similarity = images.between(queries, candidates)
        watcher = Top(k, similarity.shape, cap=k)
        rank(similarity, [watcher], CPU)
        return watcher.result()

    points = images.points
    # several images may have one vector
    pool, n_images = np.unique(points[distinct_values(images.code[sample.pool])], return_counts=True)
    queries, query = np.unique(points[images.code[sample.source]], return_inverse=True)
    place = np.searchsorted(pool, queries)
    two = top(queries, pool, 2)
    other = two.candidate != place[two.query]
    nearest = place.copy()
    nearest[two.query[other][::-1]] = two.candidate[other][::-1]  # the first line of each query stays
    asked, which = np.unique(pool[np.where(n_images[place] > 1, place, nearest)], return_inverse=True)
    # a text whose image is nearest to that other image
    targets, position = np.unique(points[images.code[sample.target]], return_index=True)
    best = top(asked, targets, 1)
    of_asked = np.zeros(len(asked), dtype=np.int64)
    of_asked[best.query] = best.candidate
    n = len(sample.source)
    return Nearest(np.arange(n), position[of_asked][which][query], np.ones(n), np.ones(n, dtype=np.int64))
