"""How good images must be for BkR to agree with XLR: a validation with weakened image vectors, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlingual.report import numbers, words
from xlingual.report.leaders import contains
from xlingual.results.validation import Agreement, Degradation, PairValidation


def of_pair(rows: Iterable[Degradation], pair: PairValidation) -> list[Degradation]:
    """Return the levels of a language pair, the best images first, those of unknown quality last."""
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


def pearson(weakened: Degradation) -> Agreement:
    """Return Pearson of BkR with XLR with the weakened vectors."""
    return weakened.agreement["BkR"]["pearson"]


def sentences(rows: Sequence[Degradation], close: float) -> list[str]:
    """Return how far images may be weakened until agreement is no longer close, and until it is gone.

    `rows` are of one language pair, in the order of `of_pair`.
    """
    if not any(one.kind != "none" for one in rows):
        return []
    known = [one for one in rows if one.kept is not None and pearson(one).ci is not None]
    weakened = [one for one in known if one.kind != "shuffle"]
    found = _needed(weakened, rows, close)
    for one in [one for one in known if one.kind == "shuffle"][:1]:
        left = (
            "no agreement is left, as expected"
            if _is_open(one)
            else "some agreement seems to be left, which is not expected"
        )
        found.append(f"With shuffled images {left}: {_pearson(one)}.")
    return found


def _needed(known: Sequence[Degradation], rows: Sequence[Degradation], close: float) -> list[str]:
    if not known:
        if all(one.kind in ("none", "shuffle") for one in rows):
            return []
        why = next((note for one in rows if (note := pearson(one).note)), "no interval was computed")
        return [words.stop(f"What image quality is needed is not known: {why}")]
    interval = "Pearson's whole interval"
    n_close = next((i for i, one in enumerate(known) if not _is_above(one, close)), len(known))
    if n_close == 0:
        return [f"With no images tried is {interval} above {close:g}; best: {_level(known[0])}."]
    enough, rest = f"{interval} stays above {close:g} down to {_level(known[n_close - 1])}", known[n_close:]
    if not rest:
        return [f"Weakened images suffice, as far as tried: {enough}."]
    lost = [
        f"Agreement is not distinguishable from none with {_level(one)}." for one in rest if _is_open(one)
    ]
    return [f"Image quality: {enough}, and no longer with {_level(rest[0])}.", *lost[:1]]


def _is_above(weakened: Degradation, close: float) -> bool:
    ci = pearson(weakened).ci
    return ci is not None and ci.low > close


def _is_open(weakened: Degradation) -> bool:
    ci = pearson(weakened).ci
    return ci is not None and contains(ci, 0.0)


def _level(weakened: Degradation) -> str:
    kept = f"{numbers.percent(weakened.kept)} of the nearest images kept"
    return f"{kept} ({level_name(weakened)}: {_pearson(weakened)})"


def _pearson(weakened: Degradation) -> str:
    found = pearson(weakened)
    return f"Pearson {numbers.with_interval(found.value, found.ci)}"
