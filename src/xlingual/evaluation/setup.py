"""What every task needs first: language pairs, samples, encoders, and the vectors of each encoder in turn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import numpy as np

from xlingual import encoders
from xlingual.arrays import distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample, Sampler, read_splits, resolve_pairs
from xlingual.embed import (
    PictureIndex,
    TextVectors,
    batch_identity,
    embed_pictures,
    embed_texts,
    fit_texts_for,
    refuse_fitted_rows,
)
from xlingual.encoders import Encoder, EncoderLike, ImageModelLike, OwnSimilarity
from xlingual.errors import DataWarning, InputError, listed
from xlingual.evaluation.broken import counted_out, usable_rows
from xlingual.evaluation.near_duplicates import (
    DECLARED,
    NearDuplicates,
    check_cluster,
    clusters_condition,
    with_near_duplicates,
)
from xlingual.evaluation.picture_space import PictureSpace, compared_pictures
from xlingual.ranking import Cpu, PictureScores, Ranker
from xlingual.records import Ints
from xlingual.results import Results
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import Store

EncoderSpecs: TypeAlias = "Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike"
Report: TypeAlias = Callable[[str, int, int], None]  # progress: what, done, of all


class Embedding(TypedDict):
    """Keywords of `embed_texts`, `embed_pool` and `embed_pictures`."""

    store: Store | None
    progress: Report | None


@dataclass(frozen=True)
class Options:
    """Options that all tasks share; see the command line's help for their meaning."""

    pairs: str | Sequence[str] | None = None
    sample_size: int | None = None
    splits: str | Path | None = None
    seeds: int = 1
    seed: int = 0
    threads: int = 1
    progress: Report | None = None
    skip_broken: bool = False
    store: Store | None = None
    given_ranker: Ranker | None = None
    queries: int | None = None
    cluster: str = DECLARED

    def __post_init__(self) -> None:
        check_cluster(self.cluster)

    @property
    def ranker(self) -> Ranker:
        """What ranks: the one given, else this machine with `threads`."""
        return self.given_ranker or Cpu(self.threads)

    def report(self, what: str, done: int, total: int) -> None:
        """Tell how far the work is, where somebody listens."""
        if self.progress is not None:
            self.progress(what, done, total)

    def embedding(self) -> Embedding:
        """Return how vectors are come by, for the functions of `embed`."""
        return {"store": self.store, "progress": self.progress}

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Tell that a piece of work begins and ends."""
        self.report(what, 0, 1)
        yield
        self.report(what, 1, 1)


@dataclass(frozen=True)
class Task:
    """One sample of one language pair."""

    source: str
    target: str
    sample: Sample

    @property
    def pair(self) -> tuple[str, str]:
        """(source, target) languages."""
        return self.source, self.target


@dataclass
class Tally:
    """How many pairs were screened in float32, and how many scored in float64."""

    screened: int = 0
    decided: int = 0

    def add(self, similarity: PictureScores) -> None:
        """Add what a similarity has computed."""
        self.screened += similarity.screened
        self.decided += similarity.decided


@dataclass
class Timings:
    """Seconds spent, by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def diagnostics(tally: Tally, ranker: Ranker, near: NearDuplicates | None = None) -> dict[str, Any]:
    """Return what the results say of how ranks were found, and of near-duplicates."""
    found = {"pairs_screened": tally.screened, "pairs_decided": tally.decided, "ranking": ranker.about()}
    return found if near is None else {**found, "near_duplicates": near.about()}


def make_tasks(
    manifest: Manifest, options: Options, *, matching: bool, usable: np.ndarray | None = None
) -> tuple[list[Task], Sampler]:
    """Return a task for each language pair and seed, pairs in order, and the sampler that made them.

    Of the text rows the `usable` ones, bool [n], take part; all where None. With several pairs named by
    default, a pair for which no sample can be drawn is left out with a warning; a pair that was asked for
    must be possible.
    """
    splits = None if options.splits is None else read_splits(options.splits, manifest.n_items)
    if splits is not None and (options.sample_size is not None or options.seeds != 1 or options.seed != 0):
        raise InputError("--splits fixes samples and seeds: leave out --sample-size, --seeds and --seed")
    sampler = Sampler(
        manifest,
        size=options.sample_size,
        splits=splits,
        seeds=options.seeds,
        seed=options.seed,
        usable=usable,
        queries=options.queries,
    )
    tasks: list[Task] = []
    problems: dict[str, str] = {}
    for source, target in resolve_pairs(options.pairs, manifest.languages):
        try:
            samples = (sampler.matching if matching else sampler.non_matching)(source, target)
        except InputError as error:
            if options.pairs is not None or options.sample_size is not None or splits is not None:
                raise
            problems[f"{source}-{target}"] = str(error)
            continue
        tasks += [Task(source, target, sample) for sample in samples]
    if not tasks:
        raise InputError(next(iter(problems.values())))
    if problems:
        first, reason = next(iter(problems.items()))
        which = f"{len(problems)} language pairs are" if len(problems) > 1 else "a language pair is"
        warnings.warn(
            f"{which} left out ({listed(problems, 20)}); {first}: {reason}", DataWarning, stacklevel=3
        )
    _warn_of_equal_samples(tasks, sampler)
    return tasks, sampler


def _warn_of_equal_samples(tasks: Sequence[Task], sampler: Sampler) -> None:
    """Warn where every seed gives the same sample, because all items are taken."""
    if len(sampler.seeds) < 2 or sampler.splits is not None:
        return
    for numbers in by_pair(tasks).values():
        rows = {(tasks[n].sample.source.tobytes(), tasks[n].sample.target.tobytes()) for n in numbers}
        if len(rows) > 1:
            return
    warnings.warn(
        f"all {len(sampler.seeds)} seeds give the same sample, because all items are taken: leave out "
        "--seeds, or draw fewer items with --sample-size",
        DataWarning,
        stacklevel=3,
    )


def rows_of_tasks(tasks: Sequence[Task]) -> Ints:
    """Return all rows whose text any task uses, in the order of the manifest."""
    rows = [side for task in tasks for side in (task.sample.source, task.sample.target)]
    return distinct_values(np.concatenate(rows))


def pictured_rows(tasks: Sequence[Task]) -> Ints:
    """Return all rows whose picture any task uses, in the order of the manifest."""
    rows = [side for task in tasks for side in (task.sample.pool, task.sample.target)]
    return distinct_values(np.concatenate(rows))


def one_pass(areas: Sequence[tuple[Ints, Ints]]) -> bool:
    """Tell whether one pass over the union of areas (sources, targets) is cheaper than one for each."""
    union = len(distinct_values(np.concatenate([sources for sources, _ in areas]))) * len(
        distinct_values(np.concatenate([targets for _, targets in areas]))
    )
    return len(areas) == 1 or union <= sum(len(sources) * len(targets) for sources, targets in areas)


def by_pair(tasks: Sequence[Task]) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of the tasks of each language pair."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, task in enumerate(tasks):
        found.setdefault(task.pair, []).append(number)
    return found


class Workspace:
    """The manifest, the tasks and the text encoders of one evaluation."""

    def __init__(
        self,
        name: str,
        manifest: Manifest,
        options: Options,
        text_specs: EncoderSpecs,
        *,
        matching: bool,
        image_spec: ImageModelLike | None = None,
        beside: Callable[[Sequence[Task], Sampler], tuple[list[Task], list[Task]]] | None = None,
    ) -> None:
        if not isinstance(manifest, Manifest):
            raise InputError(
                f"expected a Manifest, found {type(manifest).__name__}: read it with Manifest.read(path)"
            )
        self.name, self.manifest, self.options, self.matching = name, manifest, options, matching
        self.timings = Timings()
        self.tally = Tally()
        self.near: NearDuplicates | None = None
        self._image_spec = image_spec
        usable = self._usable() if options.skip_broken and image_spec is not None else None
        self.tasks, self.sampler = make_tasks(manifest, options, matching=matching, usable=usable)
        self.beside: list[Task] = []  # tasks without pictures
        if beside is not None:  # it may leave out tasks, or cut their samples
            self.tasks, self.beside = beside(self.tasks, self.sampler)
        self.rows = rows_of_tasks([*self.tasks, *self.beside])
        self.languages = list(dict.fromkeys(language for task in self.tasks for language in task.pair))
        self.text_encoders = encoders.text_encoders(
            text_specs, languages=self.languages, fit_texts=fit_texts_for(manifest)
        )
        texts = manifest.texts(self.rows)
        with self.timings.stage("texts: fit"), self.working("fitting encoders"):
            refuse_fitted_rows(self.text_encoders, texts)
        self._identities = {
            name: batch_identity(encoder, texts, store=options.store)
            for name, encoder in self.text_encoders.items()
        }
        self.truncated: dict[str, dict[str, int]] = {}
        self._dropped = self._count_dropped(usable)

    def encoded(self) -> Iterator[tuple[str, TextVectors]]:
        """Yield each encoder's name and vectors, one at a time: no more than one set is held."""
        for name, encoder in self.text_encoders.items():
            with self.timings.stage("texts: encode"), self.working(f"encoding texts: {name}"):
                vectors = embed_texts(self.manifest, name, encoder, self.rows, **self.options.embedding())
            if vectors.truncated is not None:
                self.truncated[name] = vectors.truncated
            yield name, vectors

    def pictures(self) -> tuple[str, str, PictureIndex]:
        """Return the name and the identity of the image encoder, and the pictures of all tasks."""
        name, encoder = encoders.image_encoder(self._given_image(), languages=self.languages)
        return name, batch_identity(encoder, store=self.options.store), self._embedded(name, encoder)

    def compared_pictures(self) -> tuple[str, str, PictureSpace]:
        """Return name and identity of the image encoder or similarity, and the pictures of all tasks."""
        name, found = encoders.image_model(self._given_image(), languages=self.languages)
        if isinstance(found, OwnSimilarity):
            return name, found.identity, compared_pictures(self.manifest, found, pictured_rows(self.tasks))
        return name, batch_identity(found, store=self.options.store), self._embedded(name, found)

    def join_near_duplicates(self, pictures: PictureSpace | None = None) -> None:
        """Put near-duplicates into one cluster, where that is asked for; else warn where there are many.

        Images are compared where there are vectors of them.
        """
        own = np.concatenate([self.rows, *(task.sample.pool for task in self.tasks)])
        vectors = pictures if isinstance(pictures, PictureIndex) else None
        with self.timings.stage("near-duplicates"), self.working("looking for near-duplicates"):
            self.manifest, self.near = with_near_duplicates(
                self.manifest, distinct_values(own), self.languages, vectors, self.options.cluster
            )

    def _given_image(self) -> ImageModelLike:
        if self._image_spec is None:
            raise InputError("no image encoder is given: name one, for example pixels or vectors:PATH")
        return self._image_spec

    def _embedded(self, name: str, encoder: Encoder) -> PictureIndex:
        with self.timings.stage("pictures: encode"), self.working("encoding pictures"):
            rows = pictured_rows(self.tasks)
            return embed_pictures(self.manifest, name, encoder, rows, **self.options.embedding())

    def _usable(self) -> np.ndarray | None:
        """Return which rows have a picture that can be opened; None where no picture is opened."""
        pairs = resolve_pairs(self.options.pairs, self.manifest.languages)
        languages = list(dict.fromkeys(language for pair in pairs for language in pair))
        _, found = encoders.image_model(self._given_image(), languages=languages)
        if isinstance(found, Encoder) and not found.opens_pictures:
            return None
        with self.timings.stage("pictures: open"), self.working("opening pictures"):
            return usable_rows(self.manifest, languages)

    def _count_dropped(self, usable: np.ndarray | None) -> dict[str, int]:
        """Count the texts of the pairs asked for that are unusable, or whose pairs were all left out."""
        pairs = resolve_pairs(self.options.pairs, self.manifest.languages)
        asked = dict.fromkeys(language for pair in pairs for language in pair)
        codes = [code for code, tag in enumerate(self.manifest.languages) if tag in asked]
        kept = [code for code in codes if self.manifest.languages[code] in self.languages]
        part = np.isin(self.manifest.language, kept)
        return counted_out(np.isin(self.manifest.language, codes), part if usable is None else part & usable)

    def finished(self, results: Results) -> Results:
        """Return the results with what is known about the run."""
        results.timings = dict(self.timings.seconds)
        results.truncated = self.truncated
        results.dropped = self._dropped
        known = {name: encoders.kind_of(encoder) for name, encoder in self.text_encoders.items()}
        results.encoders = {name: kind for name, kind in known.items() if kind}
        results.diagnostics = diagnostics(self.tally, self.options.ranker, self.near)
        return results

    def working(self, what: str) -> AbstractContextManager[None]:
        """Tell that a piece of work begins and ends."""
        return self.options.working(what)

    def progress(self, what: str) -> Callable[[int, int], None]:
        """Return the progress callback of one piece of work."""
        return lambda done, total: self.options.report(what, done, total)

    def signature(self, task: Task, measure: str, encoder: str, **more: str) -> Signature:
        """Return what a number depends on; `more` are further conditions."""
        conditions = {
            "task": self.name,
            "source": task.source,
            "target": task.target,
            "data": self.manifest.digest[:12],
            "sample": f"{self.sampler.description}#{task.sample.seed}",
            **({} if self.options.queries is None else {"queries": str(self.options.queries)}),
            **clusters_condition(self.options.cluster),
            "matching": "yes" if self.matching else "no",
            **more,
            "measure": measure,
            "ties": "expected",
            "conventions": CONVENTIONS,
        }
        return Signature(conditions, {"encoder": self._identities[encoder]})

    def labels(self, task: Task, encoder: str, measure: str) -> dict[str, str]:
        """Return what names a number in the table of queries."""
        return {
            "task": self.name,
            "encoder": encoder,
            "source": task.source,
            "target": task.target,
            "measure": measure,
        }


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the data warnings raised inside, and pass each on to the caller's own handling afterwards."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            yield told
        finally:
            told += list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, DataWarning)))
    for warning in caught:
        if not issubclass(warning.category, DataWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    for text in told:
        warnings.warn(text, DataWarning, stacklevel=4)
