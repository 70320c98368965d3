"""What quality of pictures agreement needs: a validation with weakened image vectors, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlingual.report import numbers, words
from xlingual.report.leaders import contains
from xlingual.results.validation import Agreement, Degradation, PairValidation

Level = tuple[Degradation, float, Agreement]  # with the neighbours kept and Pearson of BkR with XLR


def of_pair(rows: Iterable[Degradation], pair: PairValidation) -> list[Degradation]:
    """Return the levels of a language pair, the best pictures first, those of unknown quality last."""
    own = [one for one in rows if (one.source, one.target) == (pair.source, pair.target)]
    return sorted(own, key=lambda one: (one.kept is None, -(one.kept or 0.0), one.kind, one.level or 0))


def level_name(weakened: Degradation) -> str:
    """Return what was done to the image vectors."""
    level = "" if weakened.level is None else f"{weakened.level:g}"
    names = {
        "none": "as they are",
        "dims": f"{level} {'dimension' if level == '1' else 'dimensions'}",
        "shuffle": "shuffled",
    }
    return names.get(weakened.kind, f"{weakened.kind} {level}".rstrip())


def sentences(rows: Sequence[Degradation], close: float) -> list[str]:
    """Return how far pictures may be weakened until agreement is no longer close, and until it is gone.

    `rows` are of one language pair, in the order of `of_pair`.
    """
    if not any(one.kind != "none" for one in rows):
        return []
    known = [
        (one, one.kept, one.agreement["BkR"]["pearson"])
        for one in rows
        if one.kept is not None and one.agreement["BkR"]["pearson"].ci is not None
    ]
    shuffled = [level for level in known if level[0].kind == "shuffle"]
    weakened = [level for level in known if level[0].kind != "shuffle"]
    return [*_needed(weakened, rows, close), *map(_control, shuffled[:1])]


def _needed(known: Sequence[Level], rows: Sequence[Degradation], close: float) -> list[str]:
    if not known:
        if all(one.kind in ("none", "shuffle") for one in rows):
            return []
        notes = [one.agreement["BkR"]["pearson"].note for one in rows]
        why = next((note for note in notes if note), "no interval was computed")
        return [words.stop(f"What image quality is needed cannot be told: {why}")]
    n_held = next((i for i, level in enumerate(known) if not _above(level, close)), len(known))
    rest = known[n_held:]
    if n_held == 0:
        return [
            f"With no pictures tried is Pearson's whole interval above {close:g}; best: {_level(known[0])}."
        ]
    last = _level(known[n_held - 1])
    if not rest:
        return [
            f"Weakened pictures suffice, as far as tried: Pearson's whole interval stays above {close:g} "
            f"down to {last}."
        ]
    lost = [f"Agreement cannot be told from none with {_level(level)}." for level in rest if _open(level)]
    return [
        f"Image quality: Pearson's whole interval stays above {close:g} down to {last}, "
        f"and no longer with {_level(rest[0])}.",
        *lost[:1],
    ]


def _control(shuffled: Level) -> str:
    if _open(shuffled):
        return f"With shuffled pictures no agreement is left, as it should be: {_pearson(shuffled)}."
    return f"With shuffled pictures some agreement seems left, which should not be: {_pearson(shuffled)}."


def _above(level: Level, close: float) -> bool:
    return level[2].ci is not None and level[2].ci.low > close


def _open(level: Level) -> bool:
    return level[2].ci is not None and contains(level[2].ci, 0.0)


def _level(level: Level) -> str:
    one, kept, _ = level
    return f"{numbers.percent(kept)} of the nearest pictures kept ({level_name(one)}: {_pearson(level)})"


def _pearson(level: Level) -> str:
    return f"Pearson {numbers.with_interval(level[2].value, level[2].ci)}"
