"""Sentences that the verdicts of all tasks share: what to do, who leads, who is not above chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import NormalDist

from xlingual.report import numbers, words
from xlingual.report.leaders import BoardRow, contains
from xlingual.results import Results, by_key
from xlingual.results.cautions import unanswered
from xlingual.results.entries import Behind
from xlingual.tasks import Task

MOST_NAMED = 3  # more encoders than this are named without their differences


def none_above(rows: Sequence[BoardRow]) -> bool:
    """Tell whether no encoder is clearly above chance: every interval contains or is worse than it."""
    valued = [row for row in rows if row.value is not None]
    return bool(valued) and all(row.side_of_chance in ("at", "below") for row in valued)


def nothing_found(best: BoardRow, rows: Sequence[BoardRow], name: str, where: str) -> list[str]:
    """Return the first sentences where no encoder is above chance; `best` is nearest to being it."""
    verb = "distinguishable from" if all(row.at_chance for row in rows) else "above"
    value = numbers.finely(best.value, best.ci, best.measure)
    if len(rows) == 1:
        text = f"{best.encoder} is not {verb} chance{_level(rows)}: {name} {value}{where}."
    else:
        most = "lowest" if words.lower_is_better(best.measure) else "highest"
        text = (
            f"No encoder is {verb} chance{_level(rows)}: the {most} is {best.encoder} with {name} "
            f"{value}{where}{_luck(rows, rows)}."
        )
    if best.oracle is None:
        return [text]
    reason = f"; {best.note}" if best.note and best.normalized is None else ""
    oracle = numbers.number(best.oracle, best.measure)
    return [text, words.stop(f"The oracle (images alone) reaches {oracle}{reason}")]


def at_or_below(rows: Sequence[BoardRow]) -> list[str]:
    """Return who is not distinguishable from chance and who is clearly below it."""
    sentences = []
    if lost := [row for row in rows if row.at_chance]:
        names = numbers.in_words([row.encoder for row in lost])
        sentences.append(f"Not distinguishable from chance{_level(lost)}: {names}{_luck(lost, rows)}.")
    if below := [row for row in rows if row.side_of_chance == "below"]:
        names = numbers.in_words([row.encoder for row in below])
        sentences.append(f"Worse than chance{_level(below)}: {names}.")
    return sentences


def _luck(rows: Sequence[BoardRow], every: Sequence[BoardRow]) -> str:
    """Return a remark, in brackets, where an interval excludes chance, which may be luck among many."""
    names = [row.encoder for row in rows if row.looks_off_chance]
    whose = numbers.in_words(names)
    leave = f"interval of {whose} leaves" if len(names) == 1 else f"intervals of {whose} leave"
    return f" (the 95 % {leave} chance, which among {len(every)} encoders may be luck)" if names else ""


def _level(rows: Sequence[BoardRow]) -> str:
    """Return " (0.027)", or "" where the rows have different chances."""
    texts = list(dict.fromkeys(numbers.mark(row.chance, row.measure) for row in rows))
    return f" ({texts[0]})" if len(texts) == 1 else ""


def lead(leader: BoardRow, rows: Sequence[BoardRow], name: str, where: str) -> str:
    """Return who leads, with what, and whether that is more than noise."""
    value = numbers.finely(leader.value, leader.ci, leader.measure)
    if len(rows) == 1:
        return f"{leader.encoder} reaches {name} {value}{where}."
    level = [row for row in rows if row.standing == "level"]
    behind = [row for row in rows if row.standing == "behind"]
    head = f"{leader.encoder} leads: {name} {value}{where}"
    if level:
        names = [row.encoder for row in level]
        if len(level) <= MOST_NAMED:
            names = [f"{row.encoder} (difference {row.behind_text})" for row in level]
        contain = "the interval contains" if len(level) == 1 else "each interval contains"
        text = (
            f"{head}, but is not distinguishable from {numbers.in_words(names, MOST_NAMED)}: {contain} zero."
        )
        if behind:
            text += f" The first that is clearly behind is {behind[0].encoder}, by {behind[0].behind_text}."
        return text
    if not behind:
        return f"{head}; no paired difference was computed, so whether the lead is real is not known."
    real = "so the lead is real on this data"
    if may_be_luck(row.behind for row in rows):
        real = f"but with {len(rows)} encoders that may be luck"
    ahead = f"{behind[0].behind_text} ahead of {behind[0].encoder}"
    return f"{head}, {ahead}: the interval excludes zero, {real}."


def may_be_luck(behind: Iterable[Behind | None]) -> bool:
    """Tell whether an encoder is behind by itself, but not when it is one of several that might have led.

    Intervals of differences are for one rival each. Here they are as wide as all rivals together need
    (Bonferroni, by the ratio of normal quantiles), as comparisons correct for the number of encoders.
    """
    rivals = [rival for rival in behind if rival is not None]
    for rival in rivals:
        tail = (1.0 - rival.ci.level) / 2.0
        ratio = NormalDist().inv_cdf(1.0 - tail / len(rivals)) / NormalDist().inv_cdf(1.0 - tail)
        nearest = rival.ci.low if rival.value > 0 else rival.ci.high
        widened = rival.value - (rival.value - nearest) * ratio
        if not contains(rival.ci, 0.0) and widened * rival.value <= 0:
            return True
    return False


def position(leader: BoardRow) -> list[str]:
    """Return where the leader is between chance and the oracle, retrieval by images alone."""
    if leader.chance is None or leader.at_chance:  # its own sentence follows
        return []
    chance = numbers.mark(leader.chance, leader.measure)
    if leader.oracle is None:
        return [f"Chance on this data is {chance}."]
    oracle = numbers.number(leader.oracle, leader.measure)
    if leader.normalized is None:
        reason = f"; {leader.note}" if leader.note else ""
        return [words.stop(f"Chance is {chance} and the oracle (images alone) reaches {oracle}{reason}")]
    share = leader.normalized_text
    closes = f"It closes {share} of the way from chance ({chance}) to the oracle, images alone ({oracle})"
    if leader.ceiling is None or leader.measure == "SIM":
        return [f"{closes}."]
    ceiling = numbers.mark(leader.ceiling, leader.measure)
    return [
        f"{closes}; a perfect encoder need not reach the ceiling ({ceiling}): it retrieves the text "
        "nearest in meaning, of another item, whose image need not be the most similar one."
    ]


def misses(run: Results, rows: Sequence[BoardRow]) -> list[str]:
    """Return which search systems of a run have queries without results."""
    first, shown = rows[0], {row.encoder for row in rows}
    own = by_key(run.entries, task=first.task, measure=first.measure)
    return unanswered(entry for entry in own if entry.encoder in shown)


def without_value(rows: Sequence[BoardRow], name: str) -> list[str]:
    """Return which encoders have no value, and why."""
    sentences = []
    for note in dict.fromkeys(row.note for row in rows if row.value is None):
        without = [row.encoder for row in rows if row.value is None and row.note == note]
        reason = f": {note}" if note else ""
        sentences.append(words.stop(f"No value of {name} for {numbers.in_words(without)}{reason}"))
    return sentences


def advice(task: Task, rows: Sequence[BoardRow], run: Results, *, unlike: bool = False) -> list[str]:
    """Return what to do, for a task that says from which value on an encoder is good enough.

    Args:
        task: the task of the rows.
        rows: of one run and measure, the best first.
        run: their results, with what encoders cost, to choose among those that are level.
        unlike: the encoders are of kinds that the task cannot compare.

    """
    valued = [row for row in rows if row.value is not None]
    leader = next(
        (row for row in valued if row.standing == "leader"), valued[0] if valued and unlike else None
    )
    if leader is None or not task.marks(leader.measure):
        return []
    purpose, alone = f" to {task.mark.purpose}" if task.mark else "", len(valued) == 1
    if none_above(valued):
        who = leader.encoder if alone else f"any of these {len(valued)} encoders"
        better = "it is not better than chance" if alone else "none is better than chance"
        return [f"Do not use {who}{purpose}: {better} on this data."]
    least = None  # the least value that is good enough, where the numbers say it
    if task.mark is not None and not words.lower_is_better(leader.measure):
        least, scale = task.mark.value, f"has at least {task.mark.value:g}"
        if task.mark.of_the_way:
            share = numbers.percent(task.mark.value)
            scale = f"closes at least {share} of the way from chance to the oracle (images alone)"
            known = leader.normalized is not None and leader.oracle is not None and leader.chance is not None
            room = max((leader.oracle or 0.0) - (leader.chance or 0.0), 1e-9)
            least = (leader.chance or 0.0) + task.mark.value * room if known else None
        if least is not None and leader.ci is not None and leader.ci.high < least:
            head = f"{leader.encoder} is not" if alone else "None is"
            mend = "it" if alone else f"the best one, {leader.encoder}"
            return [
                f"{head} good enough{purpose}: try another encoder, or improve {mend}.",
                f"An encoder that is good enough {scale}.",
            ]
    if unlike:
        return [f"Do not choose between these encoders by {task.title}: they are of different kinds."]
    if alone:
        beside = "evaluate one or two other encoders before you decide"
        return [f"{leader.encoder} can be used{purpose}; {beside}."] if least is not None else []
    return [_choice(leader, valued, purpose, run)]


def _choice(leader: BoardRow, rows: Sequence[BoardRow], purpose: str, run: Results) -> str:
    """Return which encoder to take: the best, any of those that are level, or none before more is known."""
    level = [leader, *(row for row in rows if row.standing == "level")]
    names, values = [row.encoder for row in level], [row.value for row in level]
    if words.ceiling(leader.measure, names, values) is not None:
        return words.ceiling(leader.measure, names, values, first_of(run, leader)) or ""
    if len(level) > 1:
        sizes = sorted(
            (size, row.encoder)
            for row in level
            if (size := run.costs.get(row.encoder, {}).get("bytes_per_text"))
        )
        cost = "Choose by cost, or evaluate more queries to tell them apart."
        if len(sizes) == len(level) and sizes[0][0] < sizes[1][0]:
            cost = f"Choose by cost: {sizes[0][1]} has the smallest vectors."
        which = "either" if len(level) == 2 else "any"
        return (
            f"Use {which} of {numbers.in_words(names, MOST_NAMED)}{purpose}: no difference between these "
            f"{len(level)} is found on this data. {cost}"
        )
    if not any(row.standing == "behind" for row in rows):
        return (
            f"Do not choose yet: {leader.encoder} has the best value, but no test shows whether that is luck."
        )
    if may_be_luck(row.behind for row in rows):
        return (
            f"Use {leader.encoder}{purpose}: it has the best value of these {len(rows)} encoders, but with "
            "so many encoders the lead may be luck."
        )
    best = "better than the other" if len(rows) == 2 else f"clearly the best of these {len(rows)} encoders"
    return f"Use {leader.encoder}{purpose}: it is {best}."


def first_of(run: Results, row: BoardRow) -> dict[str, float]:
    """Return R@1 of each encoder of a run, by the ranks that the table of queries has for a row's measure."""
    import pyarrow.compute as pc

    table = run.per_query
    chosen = pc.and_(pc.equal(table["task"], row.task), pc.equal(table["measure"], row.measure))
    table = table.filter(pc.and_(chosen, pc.is_valid(table["above"])))
    chance = pc.if_else(pc.equal(table["above"], 0), pc.divide(1.0, table["tied"].cast("double")), 0.0)
    means = table.select(["encoder"]).append_column("chance", chance).group_by("encoder")
    return {
        line["encoder"]: line["chance_mean"] for line in means.aggregate([("chance", "mean")]).to_pylist()
    }
