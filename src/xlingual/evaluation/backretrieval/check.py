"""What Backretrieval can tell on some data, before a text encoder is asked: `xlingual data check`.

Images are divided as an evaluation divides them. Whether texts go with their images is looked at within each
language, by character n-grams: texts of one language that are spelt alike are often about like things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Unpack

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.samples import Sample, Sampler, resolve_pairs
from xlingual.embed.sides import ImageIndex, embed_images, embed_texts
from xlingual.encoders import ImageModelLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.backretrieval.baselines import reference
from xlingual.evaluation.backretrieval.look_alikes import NEAR_IDENTICAL, look_alikes, usual_distance
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, nearest_texts
from xlingual.evaluation.backretrieval.way_back import WaysFound, ways_back
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.near_duplicates import image_links
from xlingual.evaluation.pair_run import PairTask, rows_with_image, usable_rows
from xlingual.evaluation.run import Progress, Tally
from xlingual.measures import RecallAt
from xlingual.ranking import Cpu, Ranker, one_library_thread
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
from xlingual.store import Store, StoreLike, open_store
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
    sample_size: int | None = None,
    or_fewer: bool = False,
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
        sample_size: items drawn for each side; None takes all.
        or_fewer: where a language pair has fewer items than `sample_size`, take as many as it has.
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
    given = Manifest.of(manifest)
    how = Looked(sample_size, or_fewer, texts_per_item, seed, k, Cpu(threads), open_store(store), progress)
    opens = encoders.image_encoder(image_encoder, languages=list(given.languages))[1].opens_images
    usable = usable_rows(given, given.languages) if skip_broken and opens else None
    return checked(given, image_encoder, pairs, how, usable)


@dataclass(frozen=True)
class Looked:
    """How data are looked at: the arguments of `check_backretrieval`."""

    sample_size: int | None = None
    or_fewer: bool = False
    texts_per_item: int | Literal["all"] = "all"
    seed: int = 0
    k: int = 10
    ranker: Ranker = field(default_factory=Cpu)
    store: Store | None = None
    progress: Progress | None = None

    def tell(self, what: str, done: int, total: int) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(what, done, total)


def checked(
    manifest: Manifest,
    image_encoder: ImageModelLike,
    pairs: str | Sequence[str] | None,
    how: Looked,
    usable: np.ndarray | None = None,
) -> BackretrievalCheck:
    """Return the check of a manifest, of which the `usable` text rows, bool [n], take part."""
    if how.k < 1:
        raise InputError(f"{parameter('k')}: expected at least 1, got {how.k}")
    rows = np.arange(len(manifest)) if usable is None else np.flatnonzero(usable)
    spoken = distinct_values(manifest.language[rows])
    if not len(spoken):
        raise InputError(f"{manifest.source}: no text is left whose image can be read")
    alone = len(spoken) == 1
    tags = [manifest.languages[int(code)] for code in spoken]
    tasks, left_out = ([], {}) if alone else _tasks(manifest, pairs, how, usable)
    tags = tags if alone else [tag for tag in tags if any(tag in task.pair for task in tasks)]
    within = [task for tag in tags for task in _within(manifest, tag, rows, how)]
    if alone:
        tasks = within
    if not tasks:
        reason = next(iter(left_out.values()), "two items at least need texts and images")
        raise InputError(f"{manifest.source}: no text can be compared with another: {reason}")
    name, encoder = encoders.image_encoder(image_encoder, languages=tags)
    shown = distinct_values(np.concatenate([rows_with_image(tasks), rows_with_image(within or tasks)]))
    images = embed_images(manifest, name, encoder, shown, store=how.store, progress=how.progress, shown=False)
    distance = usual_distance(images)
    near, n_looked = _near_duplicates(images, shown, how.ranker)
    with one_library_thread():
        found = [*_pairs(manifest, images, tasks, how)]
        languages = _languages(manifest, images, within, how)
    reasons = [SAME] if distance is None or distance < NEAR_IDENTICAL else []
    if languages and not any(one.related for one in languages):
        reasons.append(UNRELATED)
    return BackretrievalCheck(
        image_encoder=name,
        k=how.k,
        n_images=len(images),
        n_near_duplicates=near,
        n_looked=n_looked,
        distance=distance,
        pairs=sorted(found, key=lambda one: (not one.reasons, one.neighbours or 0.0)),
        languages=languages,
        reasons=reasons,
        one_language=alone,
        left_out=left_out,
    )


def _tasks(
    manifest: Manifest, pairs: str | Sequence[str] | None, how: Looked, usable: np.ndarray | None
) -> tuple[list[PairTask], dict[str, str]]:
    """Return the sample of each language pair as an evaluation draws it, and why some have none."""
    sampler = Sampler(
        manifest,
        size=how.sample_size,
        seed=how.seed,
        usable=usable,
        or_fewer=how.or_fewer,
        texts_per_item=how.texts_per_item,
    )
    tasks, left_out = [], {}
    for source, target in resolve_pairs(pairs, manifest.languages):
        try:
            tasks += [PairTask(source, target, sample) for sample in sampler.non_matching(source, target)]
        except InputError as error:
            if pairs is not None:
                raise
            left_out[f"{source}-{target}"] = str(error)
    return tasks, left_out


def _within(manifest: Manifest, tag: str, rows: Ints, how: Looked) -> list[PairTask]:
    """Return a sample within one language: half of its items are sources and half targets."""
    own = rows[manifest.language[rows] == manifest.languages.index(tag)]
    items = distinct_values(manifest.item[own])
    order = stream(how.seed, "samples").permutation(manifest.n_items)[items]
    items = items[np.argsort(order, kind="stable")]
    half = (len(items) + 1) // 2
    sides = (own[np.isin(manifest.item[own], part)] for part in (items[:half], items[half:]))
    source, target = sides
    return [PairTask(tag, tag, Sample(how.seed, source, target, source))] if len(target) else []


def _fewer(task: PairTask, most: int) -> PairTask:
    """Return a task with so many of its queries at most, drawn by its seed; its pool stays."""
    sample = task.sample
    if len(sample.source) <= most:
        return task
    drawn = stream(sample.seed, "queries").permutation(len(sample.source))[:most]
    return replace(task, sample=replace(sample, source=sample.source[np.sort(drawn)]))


def _near_duplicates(images: ImageIndex, rows: Ints, ranker: Ranker) -> tuple[int, int]:
    """Return how many images another one is near-equal to, and how many were looked at."""
    codes, first = np.unique(images.code[rows], return_index=True)
    shows = rows[first]
    queries = None
    if len(codes) > _MOST_IMAGES:
        drawn = stream(0, "near-duplicates").permutation(len(codes))[:_MOST_QUERIES]
        queries = shows[np.sort(drawn)]
    if len(codes) < 2:
        return 0, len(codes)
    links, _ = image_links(images, shows, queries, ranker)
    apart = links.first != links.second
    ends = np.concatenate([links.first[apart], links.second[apart]])
    if queries is not None:
        ends = ends[np.isin(ends, queries)]
    return len(distinct_values(ends)), len(codes) if queries is None else len(queries)


def _pairs(
    manifest: Manifest, images: ImageIndex, tasks: Sequence[PairTask], how: Looked
) -> list[PairImages]:
    """Return what the images of each language pair tell, in the order of the tasks."""
    measure, found = RecallAt(how.k), {}
    few = [task for task in tasks if len(distinct_values(images.code[task.sample.pool])) <= how.k]
    large = [_fewer(task, _MOST_QUERIES) for task in tasks if task not in few]
    nearest = []
    for done, task in enumerate(large):
        how.tell("comparing images", done, len(large))
        nearest.append(look_alikes(images, task.sample, how.ranker))
    if large:
        for ranks in ways_back(images, large, [nearest], [measure], ranker=how.ranker, tally=Tally()):
            for number in ranks.pools.tasks:
                one, known = nearest[number], reference(ranks, number, [measure])
                back = WaysFound(one, ranks.routes(0, number)).values(measure)
                clusters = cluster_ids(manifest, number, large[number], one.single())
                of_oracle = cluster_ids(manifest, number, large[number], known.oracle_target)
                found[large[number].pair] = (
                    score(measure, back, clusters),
                    score(measure, known.oracle[measure.name], of_oracle),
                    known.chance[measure.name],
                    len(back),
                )
    return [_pair(images, task, found.get(task.pair)) for task in tasks]


def _pair(images: ImageIndex, task: PairTask, found: tuple[Score, Score, float, int] | None) -> PairImages:
    """Return what the images of a language pair tell; `found`: look-alikes, oracle, chance and queries."""
    sample = task.sample
    n_images, n_targets = (len(distinct_values(images.code[rows])) for rows in (sample.pool, sample.target))
    sizes = len(sample.source), n_images, n_targets
    if found is None:
        return PairImages(task.source, task.target, *sizes, 0, [FEW_IMAGES])
    look, oracle, chance, n_looked = found
    ci, room, error = look.interval(), oracle.value - chance, oracle.standard_error()
    neighbours = max(0.0, (look.value - chance) / (1 - chance))
    needed = _needed(chance, room)
    reasons = []
    if ci.low <= chance or neighbours < FEWEST_NEIGHBOURS:
        reasons.append(NO_NEIGHBOURS)
    if room < max(ENOUGH * error, _ROUNDING):
        reasons.append(NO_ROOM)
    if needed is None or needed > len(sample.source):
        reasons.append(FEW_QUERIES)
    return PairImages(
        task.source,
        task.target,
        *sizes,
        n_looked,
        reasons,
        chance=chance,
        oracle=oracle.value,
        oracle_ci=oracle.interval(),
        room=room,
        room_error=error,
        look_alikes=look.value,
        look_alikes_ci=ci,
        neighbours=neighbours,
        queries_needed=needed,
        queries_apart=_needed_apart(chance, room),
    )


def _needed(chance: float, room: float) -> int | None:
    """Return the queries that show an encoder at the verdict's mark to be above chance."""
    mark = task_of("backretrieval").mark
    assert mark is not None
    value = chance + mark.value * room
    return _queries(mark.value * room, DESIGN_EFFECT * value * (1 - value), DESIGN_EFFECT)


def _needed_apart(chance: float, room: float) -> int | None:
    """Return the queries that show two encoders apart which close 20 % and 30 % of the way."""
    values = [chance + part * room for part in (_BETTER, _WORSE)]
    variance = DIFFERENCE_EFFECT * sum(value * (1 - value) for value in values)
    return _queries(values[0] - values[1], variance, DESIGN_EFFECT)


def _queries(effect: float, variance: float, design: float) -> int | None:
    """Return the queries that show an effect; `variance` is that of one query."""
    if effect <= 0:
        return None
    n = 100  # at which the growth is stated: it changes no answer
    return queries_needed(effect, Growth(n, variance / n, 0.0, design / n))


def _languages(
    manifest: Manifest, images: ImageIndex, tasks: Sequence[PairTask], how: Looked
) -> list[LanguageTexts]:
    """Return whether texts spelt alike have images alike, for each language with images enough."""
    measure, found = RecallAt(how.k), {}
    tasks = [_at_most(task, _MOST_TEXTS) for task in tasks]
    tasks = [task for task in tasks if len(distinct_values(images.code[task.sample.pool])) > how.k]
    nearest: list[Nearest] = []
    for done, task in enumerate(tasks):
        how.tell("comparing texts by their letters", done, len(tasks))
        rows = np.sort(np.concatenate([task.sample.source, task.sample.target]))
        ((name, encoder),) = encoders.text_encoders([_LETTERS], languages=[task.source]).items()
        vectors = embed_texts(manifest, name, encoder, rows)
        nearest += nearest_texts(vectors, [task.sample], ranker=how.ranker, tally=Tally())
    if tasks:
        for ranks in ways_back(images, tasks, [nearest], [measure], ranker=how.ranker, tally=Tally()):
            for number in ranks.pools.tasks:
                one, known = nearest[number], reference(ranks, number, [measure])
                back = WaysFound(one, ranks.routes(0, number)).values(measure)
                clusters = cluster_ids(manifest, number, tasks[number], one.single())
                value = score(measure, back, clusters)
                found[number] = LanguageTexts(
                    language=tasks[number].source,
                    n_queries=len(back),
                    value=value.value,
                    ci=value.simultaneous(len(tasks)) or value.interval(),
                    chance=known.chance[measure.name],
                )
    return [found[number] for number in range(len(tasks))]


def _at_most(task: PairTask, most: int) -> PairTask:
    """Return a task with so many texts on each side at most, drawn by its seed."""
    sides = []
    for name, rows in (
        ("letters of queries", task.sample.source),
        ("letters of targets", task.sample.target),
    ):
        drawn = stream(task.sample.seed, name).permutation(len(rows))[:most]
        sides.append(rows[np.sort(drawn)])
    return replace(task, sample=Sample(task.sample.seed, sides[0], sides[1], sides[0]))
