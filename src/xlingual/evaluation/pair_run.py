"""A run over samples of language pairs: the manifest, its tasks, and the vectors of each encoder in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints, distinct_values
from xlingual.data.images import thumbnails
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample, Sampler, resolve_pairs
from xlingual.embed.sides import (
    ImageIndex,
    TextVectors,
    embed_images,
    embed_roles,
    embed_texts,
    fit_texts_for,
    queries_for,
)
from xlingual.encoders import Encoder, EncoderLike
from xlingual.encoders.decoding import broken
from xlingual.errors import InputError, listed, parameter, warn
from xlingual.evaluation.near_duplicates import with_near_duplicates
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.run import EncoderSpecs, Options, Run, TextSides, note_dense
from xlingual.evaluation.run_systems import RunSystem, SystemLists, names_of, systems
from xlingual.results import Results
from xlingual.tasks import task_of


@dataclass(frozen=True)
class PairTask:
    """One sample of one language pair."""

    source: str
    target: str
    sample: Sample

    @property
    def pair(self) -> tuple[str, str]:
        """(source, target) languages."""
        return self.source, self.target


def make_tasks(
    manifest: Manifest, options: Options, *, matching: bool, usable: np.ndarray | None = None
) -> tuple[list[PairTask], Sampler]:
    """Draw a task for each language pair and seed, pairs in order; return them with the sampler.

    Of the text rows the `usable` ones, bool [n], take part; all where None. With several pairs named by
    default, a pair for which no sample can be drawn is left out with a warning; a pair that was named must
    be possible.
    """
    sampler = Sampler(
        manifest,
        sample=options.sample,
        seeds=options.seeds,
        seed=options.seed,
        usable=usable,
        queries=options.queries,
        texts_per_item=options.texts_per_item,
    )
    strict = options.pairs is not None or sampler.fixed is not None
    tasks, problems = draw_tasks(sampler, options.pairs, matching=matching, strict=strict)
    if not tasks:
        raise InputError(next(iter(problems.values())))
    if problems:
        first, reason = next(iter(problems.items()))
        which = f"{len(problems)} language pairs are" if len(problems) > 1 else "a language pair is"
        warn(f"{which} left out ({listed(problems, 20)}); {first}: {reason}")
    drawn = {(*task.pair, task.sample.source.tobytes(), task.sample.target.tobytes()) for task in tasks}
    if len(sampler.seeds) > 1 and sampler.fixed is None and len(drawn) == len(by_pair(tasks)):
        warn(
            f"all {len(sampler.seeds)} seeds give the same sample, because all items are taken: leave out "
            f"{parameter('seeds')}, or draw fewer items with {parameter('sample', 'N')}"
        )
    return tasks, sampler


def draw_tasks(
    sampler: Sampler, pairs: str | Sequence[str] | None, *, matching: bool, strict: bool
) -> tuple[list[PairTask], dict[str, str]]:
    """Draw the samples of language pairs; return why some have none, or with `strict` raise InputError."""
    draw = sampler.matching if matching else sampler.non_matching
    tasks: list[PairTask] = []
    problems: dict[str, str] = {}
    for source, target in resolve_pairs(pairs, sampler.manifest.languages):
        try:
            tasks += [PairTask(source, target, sample) for sample in draw(source, target)]
        except InputError as error:
            if strict:
                raise
            problems[f"{source}-{target}"] = str(error)
    return tasks, problems


def rows_with_image(tasks: Sequence[PairTask]) -> Ints:
    """Select all rows whose image any task uses, in the order of the manifest."""
    rows = [side for task in tasks for side in (task.sample.pool, task.sample.target)]
    return distinct_values(np.concatenate(rows))


def by_pair(tasks: Sequence[PairTask]) -> dict[tuple[str, str], list[int]]:
    """List the numbers of the tasks of each language pair: consecutive ones, where all tasks are given."""
    numbers: dict[tuple[str, str], list[int]] = {}
    for number, task in enumerate(tasks):
        numbers.setdefault(task.pair, []).append(number)
    return numbers


def counted_out(requested: np.ndarray, part: np.ndarray) -> dict[str, int]:
    """Count the requested rows, bool [n], that take no part, as results keep it; {} where all do."""
    left_out = int((requested & ~part).sum())
    return {"texts": left_out, "of": int(requested.sum())} if left_out else {}


def usable_rows(manifest: Manifest, languages: Sequence[str]) -> np.ndarray:
    """Decide for each text row, bool [n], whether its image can be opened; rows of other languages can.

    Each image is opened once. A DataWarning counts the rows that cannot take part and names the first.
    Raises InputError where no row is left.
    """
    rows = np.concatenate([manifest.rows_of(language) for language in languages])
    rows.sort()
    with_image = rows[manifest.image[rows] >= 0]
    slots, first = np.unique(manifest.image[with_image], return_index=True)
    reasons = broken(manifest.images(with_image[first]))
    usable = np.ones(len(manifest), dtype=bool)
    usable[rows] = (manifest.image[rows] >= 0) & ~np.isin(manifest.image[rows], slots[list(reasons)])
    left_out, without = len(rows) - int(usable[rows].sum()), len(rows) - len(with_image)
    if left_out:
        counted = [f"{without} have no image"] if without else []
        if reasons:
            images = "an image" if len(reasons) == 1 else f"{len(reasons)} images"
            why = next(iter(reasons.values()))
            counted.append(f"{left_out - without} show {images} that cannot be opened (first: {why})")
        how = parameter("skip_broken", True)
        problem = f"{left_out} of {len(rows)} texts take no part ({how}): {', '.join(counted)}"
        if left_out == len(rows):
            raise InputError(f"{problem}; nothing is left to evaluate")
        warn(problem)
    return usable


class PairRun(Run):
    """A run over a manifest: tasks first, then encoders (`prepare`), then their vectors one at a time."""

    def __init__(
        self,
        task: str,
        manifest: Manifest,
        options: Options,
        *,
        matching: bool,
        image_spec: EncoderLike | None = None,
        roles: bool = True,
    ) -> None:
        super().__init__(task, options)
        self.takes_runs = "runs" in task_of(task).takes  # and sparse and token vectors
        self.roles = roles  # whether sources are queries and targets candidates, or all texts alike
        self.manifest, self.matching, self._image_spec = manifest, matching, image_spec
        pairs = resolve_pairs(options.pairs, manifest.languages)
        self._requested = list(dict.fromkeys(language for pair in pairs for language in pair))
        self._usable: np.ndarray | None = None  # rows whose image can be opened, where any is opened
        if options.skip_broken and image_spec is not None:
            _, encoder = encoders.image_encoder(image_spec, languages=self._requested)
            if encoder.opens_images:
                with self.stage("images: open", "opening images"):
                    self._usable = usable_rows(manifest, self._requested)
        self.tasks, self.sampler = make_tasks(manifest, options, matching=matching, usable=self._usable)

    def prepare(self, text_specs: EncoderSpecs, further: Sequence[PairTask] = ()) -> None:
        """Make the text encoders and fit them; refuse those fitted on texts of the tasks.

        `further` are tasks whose texts are encoded, without images.
        """
        samples = [task.sample for task in (*self.tasks, *further)]
        self.sides = tuple(
            distinct_values(np.concatenate(rows))
            for rows in ([s.source for s in samples], [s.target for s in samples])
        )
        self.rows = distinct_values(np.concatenate(self.sides))
        self.languages = list(dict.fromkeys(language for task in self.tasks for language in task.pair))
        make: Callable[..., Any] = systems if self.takes_runs else encoders.text_encoders
        by_name = make(text_specs, languages=self.languages, fit_texts=fit_texts_for(self.manifest))
        self.fit(by_name, self.manifest.texts(self.rows), queries=queries_for(self.manifest))
        # texts of the requested pairs that are unusable, or whose pairs were all left out
        requested, part = (
            np.isin(self.manifest.language, [self.manifest.languages.index(tag) for tag in tags])
            for tags in (self._requested, self.languages)
        )
        self.dropped = counted_out(requested, part if self._usable is None else part & self._usable)

    @property
    def subjects(self) -> list[Subject]:
        """The subject of each task's numbers."""
        return [Subject(*task.pair, task.sample.seed) for task in self.tasks]

    def encoded(self) -> Iterator[tuple[str, TextSides | SystemLists]]:
        """Yield the name of each system with its vectors, or its lists; only one set is in memory.

        Sources are queries and targets are candidates, for encoders to which that makes a difference.
        """
        names, alone = None, len(by_pair(self.tasks)) == 1
        for name, system in self.by_name.items():
            if isinstance(system, RunSystem):
                names = names or names_of(self.manifest)
                yield name, SystemLists(name, system, self.manifest, names, alone, self.count_unanswered)
            else:
                yield name, self.encode(name, self.sides_of)

    def sides_of(self, name: str, encoder: Encoder) -> TextSides:
        """Compute an encoder's vectors of sources as queries and of targets as candidates."""
        more: Any = {**self.embedding(), "any_form": self.takes_runs}
        return embed_roles(self.manifest, name, encoder, *self.sides, **more)

    def without_role(self, name: str, of_roles: TextSides | None = None) -> TextVectors:
        """Compute an encoder's vectors of all texts alike: those `of_roles` where roles change none.

        Texts that were cut were counted in their roles, where these are there.
        """
        if isinstance(of_roles, TextVectors):
            return of_roles
        more: Any = {**self.embedding(), "count_cut": of_roles is None}
        return self.encode(
            name, lambda name, encoder: embed_texts(self.manifest, name, encoder, self.rows, **more)
        )

    def images(self) -> tuple[str, str, ImageIndex]:
        """Encode the images of all tasks; return the name and the identity of their encoder, and them."""
        if self._image_spec is None:
            raise InputError("no image encoder is given: name one, for example pixels or vectors:PATH")
        name, encoder = encoders.image_encoder(self._image_spec, languages=self.languages)
        with self.stage("images: encode", "encoding images"):
            index = embed_images(self.manifest, name, encoder, rows_with_image(self.tasks), **self.storing())
        note_dense(f"image encoder {name!r}", index.pool.vectors.raw)
        return name, self.identity(encoder), index

    @cached_property
    def picture(self) -> Callable[[int], bytes | None]:
        """Gives the thumbnail of an image of the manifest by its number."""
        return thumbnails(self.manifest.image_source)

    def join_near_duplicates(self, images: ImageIndex | None = None) -> None:
        """Put near-duplicates into one cluster, where `cluster` says so; else warn where there are many.

        Images are compared where there are vectors of them.
        """
        rows = np.concatenate([self.rows, *(task.sample.pool for task in self.tasks)])
        with self.stage("near-duplicates", "looking for near-duplicates"):
            self.manifest, self.near = with_near_duplicates(
                self.manifest, distinct_values(rows), self.languages, images, self.options.cluster
            )

    def count_matches(self) -> dict[str, int]:
        """Count the items of the evaluated languages, and those that have both languages of a pair."""
        manifest = self.manifest
        has = np.zeros((len(manifest.languages), manifest.n_items), dtype=bool)
        has[manifest.language, manifest.item] = True
        codes = [[manifest.languages.index(tag) for tag in pair] for pair in by_pair(self.tasks)]
        some = np.any([has[source] | has[target] for source, target in codes], axis=0)
        both = np.any([has[source] & has[target] for source, target in codes], axis=0)
        return {"items": int(some.sum()), "items_with_both": int(both.sum())}

    def conditions(self, task: PairTask, **more: str) -> dict[str, str]:
        """Describe the conditions of a number of a task, for its signature; `more` are further ones."""
        texts, queries = self.options.texts_per_item, self.options.queries
        described = self.sampler.described(*task.pair, matching=self.matching)
        return {
            "source": task.source,
            "target": task.target,
            "data": self.manifest.digest[:12],
            "sample": f"{described}#{task.sample.seed}",
            **({} if texts == "all" else {"texts-per-item": str(texts)}),
            **({} if queries is None else {"queries": str(queries)}),
            **self.clusters(),
            "matching": "yes" if self.matching else "no",
            **more,
        }

    def roles_of(self, encoder: str) -> dict[str, str]:
        """Describe the roles of texts for signatures: {} of an encoder to which they make no difference."""
        by_role = self.roles and self.by_name[encoder].by_role
        return {"roles": "source=query,target=candidate"} if by_role else {}

    @property
    def data(self) -> Manifest:  # type: ignore[override]
        """What is evaluated."""
        return self.manifest

    def finished(self, results: Results) -> Results:
        """Add the record of the run, and the kinds of its encoders."""
        kinds = {name: encoders.kind_of(encoder) for name, encoder in self.text_encoders.items()}
        results.encoders = {name: kind for name, kind in kinds.items() if kind}
        return super().finished(results)
