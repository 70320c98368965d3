"""What the verdict says about chance: which encoders are above it, at it and below it."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.leaders import BoardRow


def none_above(rows: Sequence[BoardRow]) -> bool:
    """Tell whether no encoder is clearly above chance: every interval contains or is worse than it."""
    found = [row for row in rows if row.value is not None]
    return bool(found) and all(row.side_of_chance in ("at", "below") for row in found)


def nothing_found(best: BoardRow, found: Sequence[BoardRow], name: str, where: str) -> list[str]:
    """Return the first sentences where no encoder is above chance; `best` is nearest to being it."""
    alike = all(row.at_chance for row in found)
    verb = "distinguishable from" if alike else "above"
    value = numbers.finely(best.value, best.ci, best.measure)
    if len(found) == 1:
        lead = f"{best.encoder} is not {verb} chance{level(found)}: {name} {value}{where}."
    else:
        most = "lowest" if words.lower_is_better(best.measure) else "highest"
        best_one = f"the {most} is {best.encoder} with {name} {value}{where}"
        lead = f"No encoder is {verb} chance{level(found)}: {best_one}{_luck(found, found)}."
    if best.oracle is None:
        return [lead]
    reason = f"; {best.note}" if best.note and best.normalized is None else ""
    oracle = numbers.number(best.oracle, best.measure)
    return [lead, words.stop(f"The oracle (images alone) reaches {oracle}{reason}")]


def _luck(rows: Sequence[BoardRow], found: Sequence[BoardRow]) -> str:
    """Return a remark, in brackets, where an interval excludes chance, which may be luck among many."""
    names = [row.encoder for row in rows if row.looks_off_chance]
    if not names:
        return ""
    leave = "interval of {} leaves" if len(names) == 1 else "intervals of {} leave"
    whose = leave.format(numbers.in_words(names))
    return f" (the 95 % {whose} chance, which among {len(found)} encoders may be luck)"


def at_or_below(found: Sequence[BoardRow]) -> list[str]:
    """Return who is not distinguishable from chance and who is clearly below it."""
    sentences = []
    lost = [row for row in found if row.at_chance]
    below = [row for row in found if row.side_of_chance == "below"]
    if lost:
        names = numbers.in_words([row.encoder for row in lost])
        sentences.append(f"Not distinguishable from chance{level(lost)}: {names}{_luck(lost, found)}.")
    if below:
        names = numbers.in_words([row.encoder for row in below])
        sentences.append(f"Worse than chance{level(below)}: {names}.")
    return sentences


def level(rows: Sequence[BoardRow]) -> str:
    """Return " (0.027)", or "" where the rows have different chances."""
    texts = list(dict.fromkeys(numbers.mark(row.chance, row.measure) for row in rows))
    return f" ({texts[0]})" if len(texts) == 1 else ""
