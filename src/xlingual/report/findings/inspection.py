"""Where encoders fail and why, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from xlingual.report import numbers
from xlingual.report.blocks import Finding
from xlingual.results.inspection import Condition, InspectedEncoder, Inspection, WeakSlice
from xlingual.tasks import TASKS

KINDS = {  # what happened, in a few words
    "near-duplicate": "found a near-duplicate of the answer",
    "hub": "found a hub",
    "near": "the answer was close behind",
    "nothing near": "nothing was near",
    "other": "found another text",
}


def findings(found: Inspection) -> list[Finding]:
    """Return what to look at first, for each encoder."""
    several = len(found.encoders) > 1
    return [Finding(_sentences(found, one), name=one.encoder if several else "") for one in found.encoders]


def in_words(conditions: Sequence[Condition]) -> str:
    """Return the conditions of a slice: "category: shoes and length of the text: most quarter"."""
    return " and ".join(f"{one.feature}: {one.part}" for one in conditions)


def _sentences(found: Inspection, one: InspectedEncoder) -> list[str]:
    failed = (
        f"{numbers.count(one.n_failed)} of {numbers.counted(one.n_queries, 'query', 'queries')} fail "
        f"({TASKS[found.task].measure_name(found.measure)} {numbers.number(one.value)})"
    )
    return [f"{failed}.", *_slices(one), *_kinds(one), *_hubs(one)]


def _slices(one: InspectedEncoder) -> list[str]:
    if not one.n_slices:
        return ["No part of the texts is large enough to be compared with the rest."]
    if not one.slices:
        return [
            f"Failures are spread: none of {numbers.counted(one.n_slices, 'slice')} of texts is worse than "
            "the rest beyond chance."
        ]
    worst, others = one.slices[0], len(one.slices) - 1
    more = ""
    if others:
        more = f" {numbers.counted(others, 'more slice')} {'are' if others > 1 else 'is'} worse too."
    return [f"Worst are texts with {in_words(worst.conditions)}: {_worse(worst)}.{more}"]


def _worse(worst: WeakSlice) -> str:
    turned = replace(worst.ci, low=-worst.ci.high, high=-worst.ci.low)
    return (
        f"{numbers.number(worst.value)}, lower than the rest by "
        f"{numbers.with_interval(-worst.difference, turned)}; they are {numbers.percent(worst.of_texts)} of "
        f"the texts and make {numbers.percent(worst.of_errors)} of the errors"
    )


def _kinds(one: InspectedEncoder) -> list[str]:
    most = [kind for kind in one.kinds if kind.n][:3]
    if not most:
        return []
    named = [f"{KINDS[kind.kind]} {numbers.percent(kind.n / one.n_failed)}" for kind in most]
    return [f"What happened in place of the answer: {numbers.in_words(named)}."]


def _hubs(one: InspectedEncoder) -> list[str]:
    hubs = one.hubs
    if not hubs.n or not hubs.of_errors:
        return []
    share = numbers.percent(hubs.of_errors)
    if hubs.n == 1:
        return [f"One text is a hub, the nearest of very many queries, and takes {share} of the failures."]
    return [
        f"{numbers.count(hubs.n)} texts are hubs, the nearest of very many queries, and take {share} of the "
        "failures."
    ]
