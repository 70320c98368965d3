"""What quality of pictures agreement needs, in words: from the validation with weakened image vectors."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.leaders import contains
from xlingual.report.validation import wording
from xlingual.report.validation.tables import by_quality
from xlingual.results.validation import Agreement, Degradation

Levels = list[tuple[Degradation, float, Agreement]]  # with the neighbours kept and Pearson of BkR with XLR


def sentences(rows: Sequence[Degradation], close: float) -> list[str]:
    """Return how far pictures may be weakened until agreement is no longer close, and until it is gone."""
    if not any(one.kind != "none" for one in rows):
        return []
    known: Levels = [
        (one, one.kept, one.agreement["BkR"]["pearson"])
        for one in by_quality(rows)
        if one.kept is not None and one.agreement["BkR"]["pearson"].ci is not None
    ]
    shuffled = [level for level in known if level[0].kind == "shuffle"]
    weakened = [level for level in known if level[0].kind != "shuffle"]
    return [*_needed(weakened, rows, close), *_control(shuffled)]


def _needed(known: Levels, rows: Sequence[Degradation], close: float) -> list[str]:
    if not known:
        if all(one.kind in ("none", "shuffle") for one in rows):
            return []
        notes = [one.agreement["BkR"]["pearson"].note for one in rows]
        why = next((note for note in notes if note), "no interval was computed")
        return [words.stop(f"What image quality is needed cannot be told: {why}")]
    held: Levels = []
    for level in known:  # the best pictures first
        if level[2].ci is None or level[2].ci.low <= close:
            break
        held.append(level)
    rest = known[len(held) :]
    if not held:
        return [
            f"With no pictures tried is Pearson's whole interval above {close:g}; best: {_level(known[0])}."
        ]
    if not rest:
        return [
            f"Weakened pictures suffice, as far as tried: Pearson's whole interval stays above {close:g} "
            f"down to {_level(held[-1])}."
        ]
    text = (
        f"Image quality: Pearson's whole interval stays above {close:g} down to {_level(held[-1])}, "
        f"and no longer with {_level(rest[0])}."
    )
    lost = [level for level in rest if level[2].ci and contains(level[2].ci, 0.0)]
    return [text, f"Agreement cannot be told from none with {_level(lost[0])}."] if lost else [text]


def _control(shuffled: Levels) -> list[str]:
    if not shuffled:
        return []
    one = shuffled[0]
    if one[2].ci is not None and contains(one[2].ci, 0.0):
        return [f"With shuffled pictures no agreement is left, as it should be: {_pearson(one)}."]
    return [f"With shuffled pictures some agreement seems left, which should not be: {_pearson(one)}."]


def _level(level: tuple[Degradation, float, Agreement]) -> str:
    one, kept, _ = level
    return (
        f"{numbers.percent(kept)} of the nearest pictures kept ({wording.level_name(one)}: {_pearson(level)})"
    )


def _pearson(level: tuple[Degradation, float, Agreement]) -> str:
    return f"Pearson {numbers.with_interval(level[2].value, level[2].ci)}"
