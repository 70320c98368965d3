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
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from msgspec import structs

from xlingual import encoders
from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.samples import Sample, SampleLike, Sampler
from xlingual.embed.sides import ImageIndex, embed_images, embed_texts
from xlingual.encoders import ImageModelLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.backretrieval.images import NEAR_IDENTICAL, usual_distance
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, nearest_texts
from xlingual.evaluation.backretrieval.way_back import ways_back
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.near_duplicates import image_links
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.pair_run import PairTask, draw_tasks, rows_with_image, usable_rows
from xlingual.evaluation.run import Options, Progress, Tally
from xlingual.measures import RecallAt
from xlingual.ranking import Ranker, Top, TopK, one_library_thread, rank
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
DIFFERENCE_EFFECT = 0.85  # variance of a difference over the sum of the variances of independent queries
_MOST_QUERIES = 2_000  # of a language pair that are looked at
_MOST_TEXTS = 1_000  # of a language, on each side
_MOST_IMAGES = 20_000  # whose near-duplicates are all looked for
_LETTERS = "chargram"
_ROUNDING = 1e-9
_BETTER, _WORSE = 0.3, 0.2  # shares of the way of two encoders that are to be told apart


@takes_data()
@answers(CheckRequest)
def check_backretrieval(
    manifest: ManifestLike,
    image_encoder: ImageModelLike,
    *,
    pairs: str | Sequence[str] | None = None,
    sample: SampleLike = "all",
    texts_per_item: int | Literal["all"] = "all",
    seed: int = 0,
    k: int = 10,
    threads: int = 1,
    progress: Progress | None = None,
    store: StoreLike = "default",
    skip_broken: bool = False,
    **columns: Unpack[DataOptions],
) -> BackretrievalCheck:
    """Say what Backretrieval can tell on some data, from their images; no text encoder is asked.

    Args:
        manifest: texts with images; with one language its items are divided as if there were a second.
        image_encoder: one spec, path or object that gives vectors.
        pairs: language pairs such as "en-de,de-en"; None takes all ordered pairs.
        sample: items of each side: at most so many, "all", or an `.npz` of fixed samples.
        texts_per_item: texts of an item in a language that take part; or "all".
        seed: seed of the sample, as in `backretrieval`.
        k: K of R@K.
        threads: tiles computed side by side; changes no number.
        progress: called with (what, done, total).
        store: where vectors are kept and found again; "default" is the user's own folder, None keeps none.
        skip_broken: leave out texts whose image is absent, missing or broken, with a warning.

    Returns:
        A yes or no with its figures for each language pair; printed, it is a few sentences.

    Raises:
        InputError: data, spec or options are invalid; the text says what to do.

    """
    data = Manifest.of(manifest)
    options = Options(pairs, sample, 1, seed, threads, progress, skip_broken, open_store(store))
    options = replace(options, texts_per_item=texts_per_item)
    opens = encoders.image_encoder(image_encoder, languages=list(data.languages))[1].opens_images
    usable = usable_rows(data, data.languages) if skip_broken and opens else None
    return checked(data, image_encoder, options, k, usable)


def checked(
    manifest: Manifest,
    image_encoder: ImageModelLike,
    options: Options,
    k: int = 10,
    usable: np.ndarray | None = None,
) -> BackretrievalCheck:
    """Return the check of a manifest, of which the `usable` text rows, bool [n], take part."""
    if k < 1:
        raise InputError(f"{parameter('k')}: expected at least 1, got {k}")
    rows = np.arange(len(manifest)) if usable is None else np.flatnonzero(usable)
    spoken = distinct_values(manifest.language[rows])
    if not len(spoken):
        raise InputError(f"{manifest.source}: no text is left whose image can be read")
    alone = len(spoken) == 1
    tags = [manifest.languages[int(code)] for code in spoken]
    tasks: list[PairTask] = []
    left_out: dict[str, str] = {}
    if not alone:
        sampler = Sampler(
            manifest,
            sample=options.sample,
            seed=options.seed,
            usable=usable,
            texts_per_item=options.texts_per_item,
        )
        strict = options.pairs is not None
        tasks, left_out = draw_tasks(sampler, options.pairs, matching=False, strict=strict)
    tags = tags if alone else [tag for tag in tags if any(tag in task.pair for task in tasks)]
    halves = [task for tag in tags for task in _halves(manifest, tag, rows, options.seed)]
    tasks = halves if alone else tasks
    if not tasks:
        reason = next(iter(left_out.values()), "two items at least need texts and images")
        raise InputError(f"{manifest.source}: no text can be compared with another: {reason}")
    name, encoder = encoders.image_encoder(image_encoder, languages=tags)
    shown = rows_with_image([*tasks, *halves])
    storing: dict[str, Any] = {"store": options.store, "progress": options.progress, "shown": False}
    check = Check(manifest, embed_images(manifest, name, encoder, shown, **storing), options, k)
    distance = usual_distance(check.images)
    n_near, n_looked = check.near_duplicates(shown)
    with one_library_thread():
        of_pairs, languages = check.pairs(tasks), check.languages(halves)
    reasons = [SAME] if distance is None or distance < NEAR_IDENTICAL else []
    if languages and not any(language.related for language in languages):
        reasons.append(UNRELATED)
    return BackretrievalCheck(
        image_encoder=name,
        k=k,
        n_images=len(check.images),
        n_near_duplicates=n_near,
        n_looked=n_looked,
        distance=distance,
        pairs=sorted(of_pairs, key=lambda pair: (not pair.reasons, pair.neighbours or 0.0)),
        languages=languages,
        reasons=reasons,
        one_language=alone,
        left_out=left_out,
    )


def _halves(manifest: Manifest, tag: str, rows: Ints, seed: int) -> list[PairTask]:
    """Return a sample within one language: half of its items are sources and half targets."""
    rows = rows[manifest.language[rows] == manifest.languages.index(tag)]
    items = distinct_values(manifest.item[rows])
    order = stream(seed, "samples").permutation(manifest.n_items)[items]
    items = items[np.argsort(order, kind="stable")]
    is_source = np.isin(manifest.item[rows], items[: (len(items) + 1) // 2])
    source, target = rows[is_source], rows[~is_source]
    return [PairTask(tag, tag, Sample(seed, source, target, source))] if len(target) else []


def _at_most(rows: Ints, most: int, seed: int, what: str) -> Ints:
    """Draw so many of the rows at most, by a seed."""
    return rows[np.sort(stream(seed, what).permutation(len(rows))[:most])]


@dataclass(frozen=True)
class Check:
    """The figures of a check: a manifest, its images, and how they are looked at."""

    manifest: Manifest
    images: ImageIndex
    options: Options
    k: int

    def near_duplicates(self, rows: Ints) -> tuple[int, int]:
        """Count the images that another one is near-equal to, and those that were looked at."""
        codes, first = np.unique(self.images.code[rows], return_index=True)
        shows, queries = rows[first], None
        if len(codes) > _MOST_IMAGES:
            queries = _at_most(shows, _MOST_QUERIES, 0, "near-duplicates")
        if len(codes) < 2:
            return 0, len(codes)
        links, _ = image_links(self.images, shows, queries, self.options.ranker)
        apart = links.first != links.second
        ends = np.concatenate([links.first[apart], links.second[apart]])
        if queries is not None:
            ends = ends[np.isin(ends, queries)]
        return len(distinct_values(ends)), len(codes) if queries is None else len(queries)

    def pairs(self, tasks: Sequence[PairTask]) -> list[PairImages]:
        """Describe what the images of each language pair tell, in the order of the tasks."""
        large = []
        for task in filter(self._is_large, tasks):
            source = _at_most(task.sample.source, _MOST_QUERIES, task.sample.seed, "queries")
            large.append(replace(task, sample=replace(task.sample, source=source)))
        nearest = []
        for done, task in enumerate(large):
            self._tell("comparing images", done, len(large))
            nearest.append(look_alikes(self.images, task.sample, self.options.ranker))
        scores = dict(zip([task.pair for task in large], self._scores(large, nearest), strict=True))
        return [self._pair(task, scores.get(task.pair)) for task in tasks]

    def languages(self, tasks: Sequence[PairTask]) -> list[LanguageTexts]:
        """Describe whether texts spelt alike have images alike, for each language with images enough."""
        small = []
        for task in tasks:
            sides = task.sample.source, task.sample.target
            words = "letters of queries", "letters of targets"
            source, target = (
                _at_most(rows, _MOST_TEXTS, task.sample.seed, word)
                for rows, word in zip(sides, words, strict=True)
            )
            small.append(replace(task, sample=Sample(task.sample.seed, source, target, source)))
        small = list(filter(self._is_large, small))
        nearest: list[Nearest] = []
        for done, task in enumerate(small):
            self._tell("comparing texts by their letters", done, len(small))
            rows = np.sort(np.concatenate([task.sample.source, task.sample.target]))
            ((name, encoder),) = encoders.text_encoders([_LETTERS], languages=[task.source]).items()
            vectors = embed_texts(self.manifest, name, encoder, rows)
            nearest += nearest_texts(vectors, [task.sample], ranker=self.options.ranker, tally=Tally())
        return [
            LanguageTexts(
                language=task.source,
                n_queries=len(task.sample.source),
                value=value.value,
                ci=value.simultaneous(len(small)) or value.interval(),
                chance=baseline.chance or 0.0,
            )
            for task, (value, baseline) in zip(small, self._scores(small, nearest), strict=True)
        ]

    def _is_large(self, task: PairTask) -> bool:
        """Return whether not every query would be a hit."""
        return len(distinct_values(self.images.code[task.sample.pool])) > self.k

    def _tell(self, what: str, done: int, total: int) -> None:
        """Report progress."""
        if self.options.progress is not None:
            self.options.progress(what, done, total)

    def _scores(self, tasks: Sequence[PairTask], nearest: Sequence[Nearest]) -> list[tuple[Score, Baseline]]:
        """Compute R@k of the ways back from nearest texts, and its baseline, for each task."""
        measure, scores = RecallAt(self.k), {}
        ranked = (
            ways_back(self.images, tasks, [nearest], [measure], ranker=self.options.ranker, tally=Tally())
            if tasks
            else ()
        )
        for ranks in ranked:
            for number in ranks.pools.tasks:
                texts = nearest[number]
                values = ranks.way_back(0, number).values(measure)
                clusters = cluster_ids(self.manifest, number, tasks[number], texts.single(texts.target))
                baseline = ranks.baselines(number, [measure], self.manifest)[measure.name]
                scores[number] = score(measure, values, clusters), baseline
        return [scores[number] for number in range(len(tasks))]

    def _pair(self, task: PairTask, scores: tuple[Score, Baseline] | None) -> PairImages:
        """Describe what the images of a language pair tell; `scores` are of look-alikes."""
        sample, code = task.sample, self.images.code
        n_images, n_targets = (len(distinct_values(code[rows])) for rows in (sample.pool, sample.target))
        pair = PairImages(*task.pair, len(sample.source), n_images, n_targets, 0, [FEW_IMAGES])
        if scores is None:
            return pair
        look, baseline = scores
        oracle, chance = baseline.oracle, baseline.chance
        assert oracle is not None
        assert chance is not None
        ci, room, error = look.interval(), oracle.value - chance, oracle.standard_error()
        neighbours = max(0.0, (look.value - chance) / (1 - chance))
        needed = queries_above_chance(chance, room)
        reasons = []
        if ci.low <= chance or neighbours < FEWEST_NEIGHBOURS:
            reasons.append(NO_NEIGHBOURS)
        if room < max(ENOUGH * error, _ROUNDING):
            reasons.append(NO_ROOM)
        if needed is None or needed > len(sample.source):
            reasons.append(FEW_QUERIES)
        return structs.replace(
            pair,
            n_looked=min(len(sample.source), _MOST_QUERIES),
            reasons=reasons,
            chance=chance,
            oracle=oracle.value,
            oracle_ci=oracle.interval(),
            room=room,
            room_error=error,
            look_alikes=look.value,
            look_alikes_ci=ci,
            neighbours=neighbours,
            queries_needed=needed,
            queries_apart=queries_apart(chance, room),
        )


def queries_above_chance(chance: float, room: float) -> int | None:
    """Return the queries that show an encoder at the verdict's mark to be above chance."""
    mark = task_of("backretrieval").mark
    assert mark is not None
    value = chance + mark.value * room
    return _queries(mark.value * room, DESIGN_EFFECT * value * (1 - value))


def queries_apart(chance: float, room: float) -> int | None:
    """Return the queries that show two encoders apart which close 20 % and 30 % of the way."""
    values = [chance + part * room for part in (_BETTER, _WORSE)]
    return _queries(values[0] - values[1], DIFFERENCE_EFFECT * sum(v * (1 - v) for v in values))


def _queries(effect: float, variance: float) -> int | None:
    """Return the queries that show an effect; `variance` is that of one query."""
    if effect <= 0:
        return None
    n = 100  # at which the growth is stated: it changes no answer
    return queries_needed(effect, Growth(n, variance / n, 0.0, DESIGN_EFFECT / n))


def look_alikes(images: ImageIndex, sample: Sample, ranker: Ranker) -> Nearest:
    """Return, in the place of an encoder's nearest texts, a target for each query's nearest other image."""

    def top(queries: Ints, candidates: Ints, k: int) -> TopK:
        similarity = images.between(queries, candidates)
        watcher = Top(k, similarity.shape, cap=k)
        rank(similarity, [watcher], ranker)
        return watcher.result()

    points = images.points
    pool, n_images = np.unique(
        points[distinct_values(images.code[sample.pool])], return_counts=True
    )  # several images may have one vector
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
