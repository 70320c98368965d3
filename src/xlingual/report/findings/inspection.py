"""Where encoders fail and why, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from xlingual.report import numbers
from xlingual.report.blocks import Finding
from xlingual.results.inspection import (
    KIND_WORDS,
    POOL_KIND_WORDS,
    Condition,
    InspectedEncoder,
    Inspection,
    WeakSlice,
)
from xlingual.tasks import TASKS

MOST_NAMED = 3  # encoders that have a paragraph each; of more the best one has


@dataclass(frozen=True)
class Wording:
    """What the queries of a task are called, and what can happen to them."""

    text: str  # what slices are made of
    query: str
    fail: tuple[str, str]  # one does, several do
    place: str  # begins the sentence on kinds of error
    kinds: dict[str, str]
    hub: str

    def counted(self, n: int) -> str:
        """Return how many texts there are, in words."""
        return numbers.counted(n, self.text)


PAIRS = Wording(
    "text",
    "query",
    ("fails", "fail"),
    "What was retrieved instead of the answer",
    KIND_WORDS,
    "the nearest of very many queries",
)
POOL = Wording(
    "question",
    "answer",
    ("is missed", "are missed"),
    "What ranked above them",
    POOL_KIND_WORDS,
    "the nearest wrong candidate of very many questions",
)


def wording(found: Inspection) -> Wording:
    """Return the words for the queries of an inspection."""
    return POOL if TASKS[found.task].whole else PAIRS


def findings(found: Inspection) -> list[Finding]:
    """Return what to look at first, for each encoder; of many for the best one, and what they share."""
    named = found.encoders if len(found.encoders) <= MOST_NAMED else found.encoders[:1]
    several = len(found.encoders) > 1
    said = [Finding(_sentences(found, one), name=one.encoder if several else "") for one in named]
    return said if len(named) == len(found.encoders) else [*said, Finding(_shared(found))]


def in_words(conditions: Sequence[Condition]) -> str:
    """Return the conditions of a slice: "category: shoes and length of the text: most quarter"."""
    return " and ".join(f"{one.feature}: {one.part}" for one in conditions)


def _sentences(found: Inspection, one: InspectedEncoder) -> list[str]:
    words = wording(found)
    queries = numbers.counted(one.n_queries, words.query, f"{words.query}s" if words is POOL else "queries")
    failed = f"{numbers.count(one.n_failed)} of {queries} {words.fail[one.n_failed != 1]}"
    measure = f"({TASKS[found.task].measure_name(found.measure)} {numbers.number(one.value)})"
    if words is POOL:
        measure += f": {numbers.counted(cut_of(found), 'wrong candidate')} or more rank above it"
    return [f"{failed} {measure}.", *_slices(one, words), *_kinds(one, words), *_hubs(one, words)]


def cut_of(found: Inspection) -> int:
    """Return how many wrong candidates stand above an answer that is missed."""
    return (found.near or 50) // 5


def _slices(one: InspectedEncoder, words: Wording) -> list[str]:
    if not one.n_slices:
        return [f"No slice of the {words.text}s is large enough to compare it with the rest."]
    if not one.slices:
        return [
            f"Failures are not concentrated: none of {numbers.counted(one.n_slices, 'slice')} of "
            f"{words.text}s is worse than the rest beyond chance."
        ]
    worst, others = one.slices[0], len(one.slices) - 1
    more = ""
    if others:
        more = f" {numbers.counted(others, 'more slice')} {'are' if others > 1 else 'is'} worse too."
    return [f"Worst are {words.text}s with {in_words(worst.conditions)}: {_worse(worst, words)}.{more}"]


def _worse(worst: WeakSlice, words: Wording) -> str:
    turned = replace(worst.ci, low=-worst.ci.high, high=-worst.ci.low)
    return (
        f"{numbers.number(worst.value)}, lower than the rest by "
        f"{numbers.with_interval(-worst.difference, turned)}; they are {numbers.percent(worst.of_texts)} of "
        f"the {words.text}s and make {numbers.percent(worst.of_errors)} of the errors"
    )


def _kinds(one: InspectedEncoder, words: Wording) -> list[str]:
    most = [kind for kind in one.kinds if kind.n][:3]
    if not most:
        return []
    named = [f"{words.kinds[kind.kind]} {numbers.percent(kind.n / one.n_failed)}" for kind in most]
    return [f"{words.place}: {numbers.in_words(named)}."]


def _hubs(one: InspectedEncoder, words: Wording) -> list[str]:
    hubs, what = one.hubs, "candidate" if words is POOL else "text"
    if hubs.note:
        return [f"{hubs.note[0].upper()}{hubs.note[1:]}."]
    if not hubs.n or not hubs.of_errors:
        return []
    share = numbers.percent(hubs.of_errors)
    if hubs.n == 1:
        return [f"One {what} is a hub, {words.hub}, and takes {share} of the failures."]
    return [f"{numbers.count(hubs.n)} {what}s are hubs, {words.hub}, and take {share} of the failures."]


def _shared(found: Inspection) -> list[str]:
    """Return what many encoders have in common."""
    n, words = len(found.encoders), wording(found)
    weak = [one for one in found.encoders if one.slices]
    each = f"Of {n} encoders {numbers.count(len(weak))} have {words.text}s that fail beyond chance"
    features = Counter(
        name for one in weak for name in {of.feature for each in one.slices for of in each.conditions}
    )
    common = [f"{name} ({numbers.counted(count, 'encoder')})" for name, count in features.most_common(3)]
    said = [
        f"{each}. These slices differ from the rest in: {numbers.in_words(common)}." if common else f"{each}."
    ]
    first = Counter(max(one.kinds, key=lambda kind: kind.n).kind for one in found.encoders if one.n_failed)
    if first:
        kinds = [f"{words.kinds[kind]} ({count})" for kind, count in first.most_common(3)]
        said.append(f"Their most frequent kind of error: {numbers.in_words(kinds)}.")
    return [*said, "The tables show all encoders; --encoder NAME shows one."]
