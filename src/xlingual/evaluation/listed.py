"""Lists of a run in place of an encoder's vectors, and how far they reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.names import Names
from xlingual.data.samples import Sample
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.run_systems import RunSystem, Search
from xlingual.measures import Measure
from xlingual.measures.rank import DepthShare

MOST_UNKNOWN = 0.01  # of a system's queries may have lists that are too short for a measure


@dataclass(frozen=True, eq=False)
class SystemLists:
    """The lists of a run over samples of a manifest, as `TextVectors` are the vectors of an encoder."""

    name: str
    system: RunSystem
    manifest: Manifest
    names: Names  # of the manifest's rows
    alone: bool  # whether one language pair is evaluated, so that ids need no language
    count_unanswered: Callable[[str, str, str, int, Lists], None]  # of (name, source, target, seed)

    def of(self, sample: Sample) -> Lists:
        """Return the lists of a sample: its sources are queries, its targets candidates."""
        source, target = (
            self.manifest.languages[self.manifest.language[rows[0]]]
            for rows in (sample.source, sample.target)
        )
        lists = self.system.lists(
            Search(
                *(self.names, self.names, sample.source, sample.target),
                *(source, target, sample.seed, self.alone),
            )
        )
        self.count_unanswered(self.name, source, target, sample.seed, lists)
        return lists

    def who(self, sample: Sample) -> str:
        """Return the system and the language pair, for messages."""
        source, target = (self.manifest.language[rows[0]] for rows in (sample.source, sample.target))
        return f"{self.name!r}, {self.manifest.languages[source]}-{self.manifest.languages[target]}"


def names_of(manifest: Manifest) -> Names:
    """Return the names of all texts of a manifest."""
    tags = manifest.languages
    return Names([tags[code] for code in manifest.language.tolist()], manifest.ids)


def check_reach(
    lists: Lists,
    measures: Sequence[Measure],
    who: str,
    instead: str = "R",
    behind: str = "is taken to be in random order",
) -> None:
    """Raise InputError where lists are too short for a measure; warn where a few of them are.

    Where lists do not reach, the measure itself is named with a lower cut; `instead`, a measure without its
    cut, where it has none. `behind` says what happens to candidates behind the end of a list, whose order is
    not known.
    """
    for measure in measures:
        cut = cut_of(measure, lists.n_candidates)
        unknown = lists.unsettled(cut)
        count = int(unknown.sum())
        if not count:
            continue
        rank = f"rank {cut:,}" if cut is not None else "the last candidate"
        problem = f"system {who}: {count:,} of {len(lists):,} lists end before {rank}"
        problem += f", so {measure.name} is not known"
        elsewhere = 0 if lists.left_out is None else int(lists.left_out[unknown].sum())
        if elsewhere:
            problem += (
                f" ({elsewhere:,} of their results are no candidates here, for example of other languages, "
                "and were left out)"
            )
        if count > MOST_UNKNOWN * len(lists):
            reach = int(np.min(lists.lengths[~lists.ended], initial=lists.n_candidates))
            remedy = "retrieve only the candidates"
            if reach:
                example = parameter("measures", _with_cut(measure, min(reach, 10), instead))
                remedy = f"ask for a measure up to rank {reach:,} ({example})"
            longer = "give longer lists"
            if elsewhere:
                longer = "give lists of these candidates alone, or longer ones"
            raise InputError(f"{problem}: {remedy}, or {longer}")
        warn(f"{problem} for these: what follows {behind}")


def _with_cut(measure: Measure, cut: int, instead: str) -> str:
    """Return the name of the measure with another cut."""
    for one in fields(measure):
        if one.name in ("k", "cut"):
            changed: dict[str, Any] = {one.name: cut}
            return str(replace(measure, **changed).name)
    return f"{measure.prefix if isinstance(measure, DepthShare) else instead}@{cut}"


def cut_of(measure: object, pool: int) -> int | None:
    """Return the rank to which a measure looks; None: to the last candidate."""
    if isinstance(measure, DepthShare):
        return measure.k(pool)
    found: int | None = getattr(measure, "k", getattr(measure, "cut", None))
    return found


def first_group(lists: Lists) -> tuple[Ints, Ints]:
    """Return (query, candidate) of the results that stand first in their list, ties included, by query."""
    above, _ = lists.places
    first = above == 0
    return lists.query[first], lists.candidate[first]


def refuse_short(lists: Lists, who: str) -> None:
    """Raise InputError where many lists end before their first candidate; warn where a few do."""
    count = int(lists.unsettled(1).sum())
    if not count:
        return
    problem = f"system {who}: {count:,} of {len(lists):,} lists end before any of the targets"
    if count > MOST_UNKNOWN * len(lists):
        raise InputError(
            f"{problem}: an index that holds more than these must be asked for more results, or for these "
            "alone (xlingual data sample writes queries and targets)"
        )
    warn(f"{problem}: each target may be the first of these")
