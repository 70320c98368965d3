"""The numbers of an evaluation of image–sentence ranking: entries and the table of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.evaluation.image_sentence.captions import Shown, Slice
from xlingual.evaluation.image_sentence.differences import Answers, Gap, gap
from xlingual.evaluation.image_sentence.systems import System
from xlingual.evaluation.near_duplicates import DECLARED, clusters_condition
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.scores import score
from xlingual.measures import RankMeasure
from xlingual.records import Ints, RankCounts
from xlingual.results import Entry
from xlingual.results.views import Against, ImageSentenceViews
from xlingual.signature import CONVENTIONS, Signature

IMAGE = "image"  # stands for the pictures as source or target
Way = tuple[str, str]  # (source, target): a language and IMAGE, in either order


@dataclass(frozen=True)
class Ranked:
    """What one system found in one slice, both ways."""

    slice: Slice
    to_image: RankCounts
    to_sentence: RankCounts


@dataclass(frozen=True)
class Plan:
    """What all numbers of an evaluation share."""

    task: str
    manifest: Manifest
    measures: Sequence[RankMeasure]
    systems: Sequence[System]
    languages: Sequence[str]
    baselines: Mapping[str, str | None]  # language → name of the baseline, None for none
    sample: str
    identities: Mapping[str, tuple[str, str]]  # system → of its text encoder and its image encoder
    cluster: str = DECLARED

    def ways(self, system: System) -> list[Way]:
        """Return the directions in which a system is evaluated."""
        own = [language for language in self.languages if language in system.languages]
        return [way for language in own for way in ((language, IMAGE), (IMAGE, language))]


def language_of(way: Way) -> str:
    """Return the language of a direction."""
    return way[0] if way[1] == IMAGE else way[1]


@dataclass(frozen=True)
class AskedRows:
    """What the rows of the table of queries are: captions, and the first row that shows a picture."""

    ids: Sequence[str]
    item: Ints
    item_ids: Sequence[str]
    cluster: Ints
    labels: Mapping[str, Sequence[str | None]]


@dataclass(frozen=True)
class Found:
    """What one system found in one direction: counts and queries of each slice."""

    counts: list[RankCounts]
    by_chance: list[RankCounts]
    rows: list[Ints]  # of the queries
    nodes: list[Ints]

    @property
    def n_tied(self) -> int:
        """How many queries have an irrelevant candidate that ties with the best relevant one."""
        return sum(int((one.tied > one.relevant).sum()) for one in self.counts)

    @property
    def pool(self) -> int:
        """How many candidates a query has; the mean over slices, rounded."""
        return round(float(np.mean([one.pool[0] for one in self.counts])))

    def answers(self, measure: RankMeasure) -> Answers:
        """Return the values of a measure."""
        values = [measure.per_query(one) for one in self.counts]
        scores = [score(measure, each, [nodes]) for each, nodes in zip(values, self.nodes, strict=True)]
        return Answers(measure, self.rows, values, self.nodes, scores)

    def chance(self, measure: RankMeasure) -> float:
        """Return what an encoder that knows nothing scores."""
        return float(np.mean([measure.aggregate(measure.per_query(one)) for one in self.by_chance]))


@dataclass
class NumberTable:
    """Collects what one system after another found."""

    plan: Plan
    found: dict[tuple[str, Way], Found] = field(default_factory=dict)
    answers: dict[tuple[str, Way, str], Answers] = field(default_factory=dict)  # by measure too
    _cluster: Ints | None = None

    def add(self, system: System, language: str, shown: Shown, ranked: Sequence[Ranked]) -> None:
        """Enter what a system found in a language."""
        self._cluster = shown.row_node if self._cluster is None else self._cluster
        slices = [one.slice for one in ranked]
        texts, pictures = [one.texts for one in slices], [one.pictures for one in slices]
        self._enter(
            system.name,
            (language, IMAGE),
            Found(
                [one.to_image for one in ranked],
                [_chance(one.text, len(one.texts), len(one.pictures)) for one in slices],
                texts,
                [shown.row_node[rows] for rows in texts],
            ),
        )
        self._enter(
            system.name,
            (IMAGE, language),
            Found(
                [one.to_sentence for one in ranked],
                [_chance(one.picture, len(one.pictures), len(one.texts)) for one in slices],
                [shown.first_row[codes] for codes in pictures],
                [shown.node[codes] for codes in pictures],
            ),
        )

    def _enter(self, system: str, way: Way, found: Found) -> None:
        self.found[system, way] = found
        for measure in self.plan.measures:
            self.answers[system, way, measure.name] = found.answers(measure)

    def entries(self) -> Iterator[Entry]:
        """Yield one entry for each system, direction and measure."""
        for system in self.plan.systems:
            for way in self.plan.ways(system):
                for measure in self.plan.measures:
                    yield self._entry(system, way, measure)

    def _entry(self, system: System, way: Way, measure: RankMeasure) -> Entry:
        found, answers = self.found[system.name, way], self.answers[system.name, way, measure.name]
        ahead = self.against(system, way, measure)
        folds = [one.value for one in answers.scores] if len(answers.scores) > 1 else None
        return Entry(
            task=self.plan.task,
            source=way[0],
            target=way[1],
            encoder=system.name,
            image_encoder=system.image_name,
            measure=measure.name,
            value=answers.score.value,
            ci=answers.score.interval(),
            chance=found.chance(measure),
            oracle=None,
            ceiling=None,
            normalized=None,
            n_source=sum(len(rows) for rows in found.rows),
            n_target=found.pool,
            n_tied=found.n_tied,
            seed=0,
            signature=str(self._signature(system, way, measure, found)),
            views=ImageSentenceViews(ahead, folds) if ahead or folds else None,
        )

    def against(self, system: System, way: Way, measure: RankMeasure) -> Against | None:
        """Return the difference to the baseline of the language; None for the baseline itself."""
        name = self.plan.baselines[language_of(way)]
        if name is None or name == system.name:
            return None
        own, other = (self.answers[who, way, measure.name] for who in (system.name, name))
        return as_view(name, gap(own, other))

    def _signature(self, system: System, way: Way, measure: RankMeasure, found: Found) -> Signature:
        source, target = way
        conditions = {
            "task": self.plan.task,
            "source": source,
            "target": target,
            "data": self.plan.manifest.digest[:12],
            "sample": f"{self.plan.sample}#0",
            **clusters_condition(self.plan.cluster),
            "candidates": str(found.pool),
            "measure": measure.name,
            "ties": "expected",
            "conventions": CONVENTIONS,
        }
        identities = self.plan.identities[system.name]
        return Signature(conditions, dict(zip(("encoder", "image_encoder"), identities, strict=True)))

    def same_queries(self, one: str, other: str) -> bool:
        """Tell whether two systems answered the same queries wherever both were evaluated."""
        measure = self.plan.measures[0].name
        ways = [way for name, way in self.found if name == one and (other, way) in self.found]
        return all(
            self.answers[one, way, measure].same_queries(self.answers[other, way, measure]) for way in ways
        )

    def per_query(self) -> PerQuery:
        """Return the table of queries."""
        manifest = self.plan.manifest
        cluster = manifest.cluster if self._cluster is None else self._cluster
        asked = AskedRows(manifest.ids, manifest.item, manifest.item_ids, cluster, manifest.labels)
        table = PerQuery(asked)
        for (system, way, measure), answers in self.answers.items():
            found = self.found[system, way]
            labels = {"task": self.plan.task, "encoder": system, "source": way[0], "target": way[1]}
            for rows, counts, values in zip(found.rows, found.counts, answers.values, strict=True):
                table.add(
                    labels | {"measure": measure},
                    0,
                    query=rows,
                    retrieved=None,
                    above=counts.above,
                    tied=counts.tied,
                    value=values,
                )
        return table


def as_view(baseline: str, found: Gap) -> Against:
    """Return a difference as results hold it."""
    return Against(baseline, found.value, found.ci)


def _chance(query: Ints, n_queries: int, pool: int) -> RankCounts:
    """Return the counts of an encoder to which all candidates are equal; `query` [p] of relevant pairs."""
    size = np.full(n_queries, pool)
    return RankCounts(np.zeros_like(size), size, np.bincount(query, minlength=n_queries), size)
