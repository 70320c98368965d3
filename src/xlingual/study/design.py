"""From the suggestions of systems to a blind study: each suggestion once, under a random id.

Takes plain records, so that it knows no encoder and no data; `workflows/study.py` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from xlingual.errors import InputError, warn
from xlingual.records import digest
from xlingual.streams import stream
from xlingual.study.orders import credited, make_orders
from xlingual.study.records import BEST, WORST, Credit, Query, Shown, Study, StudyKey

_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
_LENGTH = 12  # letters of an id: 62 random bits
ORDERS = 100  # raters that have different orders; further ones begin anew with the first
_NO_CONTROLS = (
    "no control could be added: systems suggest every text that could be one; leave out --controls, "
    "or give more candidates"
)


@dataclass(frozen=True)
class Candidate:
    """A text of the data: `key` is its name there, `image` that of its image, unique in all the data."""

    key: str
    text: str
    language: str
    image: str | None = None


@dataclass(frozen=True)
class Listed:
    """A candidate in the list of a system, with its cosine to the query, where it has one."""

    candidate: Candidate
    cosine: float | None


@dataclass(frozen=True)
class StudyQuery:
    """A query, and what each system suggests for it, best first.

    `wrong` and `right` are texts that may be shown as controls: one that has nothing to do with the query,
    and the query's own in the target language.
    """

    query: Candidate
    lists: Mapping[str, Sequence[Listed]]
    stratum: str | None = None
    wrong: Candidate | None = None
    right: Candidate | None = None


@dataclass(frozen=True)
class StudyPlan:
    """How a study is laid out. Shares are of the queries, from 0 to 1."""

    source: str
    target: str
    per_system: int
    title: str
    created: str  # ISO 8601, UTC
    raters: int = 3
    seed: int = 0
    repeats: float = 0.0
    controls: float = 0.0
    by: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Design:
    """A study and its key; `images` has, for each file to be written, the name of its image."""

    study: Study
    key: StudyKey
    images: Mapping[str, str]


def make_design(queried: Sequence[StudyQuery], systems: Mapping[str, str], plan: StudyPlan) -> Design:
    """Return the study of queries and lists; `systems` has the signature of each system's encoder.

    The same input and seed give the same study; other texts give other ids, so that ratings of one study are
    never taken for those of another. Ids are drawn in the order of the candidates' keys: they say nothing of
    systems and ranks.

    Raises InputError where nothing could be learnt: systems of the same lists, shares out of range.
    Warns (DataWarning) of one system only, of queries on which systems suggest the same, and where no control
    could be added.
    """
    check_plan(plan, len(queried))
    check_lists(
        [{name: [one.candidate.key for one in rows] for name, rows in row.lists.items()} for row in queried]
    )
    shown = (one for row in queried for one in (row.query, *sorted(_union(row), key=lambda one: one.key)))
    content = digest(*(text for one in shown for text in (one.language, one.text, one.key))).hex()
    names = Names(plan.seed, content)  # of the texts that are shown, whoever suggests them
    order = stream(plan.seed, "study controls").permutation(len(queried))
    with_controls = set(order[: _count(len(queried), plan.controls)].tolist())
    queries: list[Query] = []
    credits: dict[str, tuple[Credit, ...]] = {}
    controls: dict[str, int] = {}
    for number, row in enumerate(queried):
        query = names.shown(row.query)
        made, extra = _union(row), _controls(row) if number in with_controls else {}
        found = {one: names.shown(one) for one in sorted([*made, *extra], key=lambda one: one.key)}
        credits |= {shown.id: tuple(made[one]) for one, shown in found.items() if one in made}
        controls |= {shown.id: extra[one] for one, shown in found.items() if one in extra}
        queries.append(Query(query, tuple(sorted(found.values(), key=lambda one: one.id)), row.stratum))
    if with_controls and not controls:
        warn(_NO_CONTROLS)
    study_id = names.fresh()
    study = _study(study_id, tuple(queries), credits, list(systems), plan)
    key = StudyKey(study_id, dict(systems), credits, controls, conditions=dict(plan.conditions))
    return Design(study, key, names.images())


def check_plan(plan: StudyPlan, n_queries: int) -> None:
    """Raise InputError where a number of the plan is out of range."""
    for option, value in (("queries", n_queries), ("per-system", plan.per_system), ("raters", plan.raters)):
        if value < 1:
            raise InputError(f"--{option} must be at least 1, got {value}")
    for option, share in (("repeats", plan.repeats), ("controls", plan.controls)):
        if not 0 <= share <= 1:
            raise InputError(f"--{option} is a share of the queries, 0 to 1: got {share}")
    if plan.repeats and n_queries < 2:
        raise InputError("--repeats needs two queries or more: a query is not asked twice in a row")


def check_lists(queries: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Refuse systems that suggest the same texts for every query; warn of those that do for some.

    `queries` have for each system the keys of what it suggests. The order within a list does not count:
    each rater sees the texts in another order.
    """
    if not queries or not queries[0]:
        raise InputError("a study needs a query and a system: name systems with --system NAME=SPEC")
    systems = list(queries[0])
    for row in queries:
        if any(not row[name] for name in systems):
            raise InputError("a system suggests nothing for a query: give more candidates")
    if len(systems) == 1:
        warn(
            f"one system only ({systems[0]}): people will say how relevant its suggestions are, and nothing "
            "is compared; name another with --system"
        )
    for first, second in combinations(systems, 2):
        same = sum(set(row[first]) == set(row[second]) for row in queries)
        if same == len(queries):
            raise InputError(
                f"the systems {first!r} and {second!r} suggest the same texts for every query: nobody could "
                "tell them apart; leave one out, or ask for fewer with --per-system"
            )
        if same:
            warn(
                f"{first} and {second} suggest the same texts for {same} of {len(queries)} queries "
                f"({same / len(queries):.0%}), which say nothing about their difference: more queries, or a "
                "larger --per-system, make up for it"
            )


class Names:
    """Draws ids of texts and names of images; an image that several texts share has one name."""

    def __init__(self, seed: int, content: str) -> None:
        self._random = stream(seed, f"study ids {content}")
        self._taken: set[str] = set()
        self._image: dict[str, str] = {}

    def fresh(self) -> str:
        """Return an id that was not drawn before."""
        while True:
            name = "".join(_LETTERS[self._random.integers(len(_LETTERS), size=_LENGTH)])
            if name not in self._taken:
                self._taken.add(name)
                return name

    def shown(self, candidate: Candidate) -> Shown:
        """Return what raters see of a candidate."""
        image = None
        if candidate.image is not None:
            image = self._image.setdefault(candidate.image, "") or f"{self.fresh()}.webp"
            self._image[candidate.image] = image
        return Shown(self.fresh(), candidate.text, candidate.language, image)

    def images(self) -> dict[str, str]:
        """Return the image of each file, in the order of the files' names."""
        return {file: image for image, file in sorted(self._image.items(), key=lambda pair: pair[1])}


def _study(
    study_id: str,
    queries: tuple[Query, ...],
    credits: Mapping[str, Sequence[Credit]],
    systems: Sequence[str],
    plan: StudyPlan,
) -> Study:
    made_by = {name: [credit.system for credit in rows] for name, rows in credits.items()}
    count = max(ORDERS, plan.raters)
    n_repeats = min(_count(len(queries), plan.repeats), len(queries) - 1)
    random = stream(plan.seed, "study orders")
    orders = make_orders(credited(queries, made_by, systems), count, n_repeats, random)
    return Study(
        id=study_id,
        title=plan.title,
        created=plan.created,
        source=plan.source,
        target=plan.target,
        queries=queries,
        orders=orders,
        per_system=plan.per_system,
        raters=plan.raters,
        seed=plan.seed,
        key_digest="",
        by=plan.by,
    )


def _union(row: StudyQuery) -> dict[Candidate, list[Credit]]:
    """Return all suggestions of a query, each once, with the systems that made it."""
    made: dict[Candidate, list[Credit]] = {}
    for name, rows in row.lists.items():
        for rank, one in enumerate(rows, start=1):
            made.setdefault(one.candidate, []).append(Credit(name, rank, one.cosine))
    return made


def _controls(row: StudyQuery) -> dict[Candidate, int]:
    """Return the controls of a query, and the score of each; what a system suggested is none."""
    made = {one.candidate.key for rows in row.lists.values() for one in rows}
    offered = ((row.wrong, WORST), (row.right, BEST))
    return {one: score for one, score in offered if one is not None and one.key not in made}


def _count(n: int, share: float) -> int:
    """Return how many of n a share is: at least one, where it is not zero."""
    return max(1, round(share * n)) if share > 0 else 0
