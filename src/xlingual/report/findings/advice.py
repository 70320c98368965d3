"""What the numbers say to do: the first sentence of a verdict, before any number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlingual.report import numbers, words
from xlingual.report.findings import chance
from xlingual.report.findings.leads import may_be_luck
from xlingual.report.leaders import BoardRow
from xlingual.results import Results
from xlingual.tasks import Mark, Task

MOST_NAMED = 3
Costs = Mapping[str, Mapping[str, float]]  # of each encoder, what is known


def advice(task: Task, rows: Sequence[BoardRow], run: Results, *, unlike: bool = False) -> list[str]:
    """Return what to do, for a task that says from which value on an encoder is good enough.

    Args:
        task: the task of the rows.
        rows: of one run and measure, the best first.
        run: their results, with what encoders cost, to choose among those that are level.
        unlike: the encoders are of kinds that the task cannot compare.

    """
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), found[0] if found and unlike else None)
    if leader is None or not task.marks(leader.measure):
        return []
    purpose = f" to {task.mark.purpose}" if task.mark else ""
    alone = len(found) == 1
    if chance.none_above(found):
        better = "it is not better than chance" if alone else "none is better than chance"
        return [f"Do not use {_these(found)}{purpose}: {better} on this data."]
    least = enough(task, leader)
    if task.mark and least is not None and leader.ci is not None and leader.ci.high < least:
        head = f"{leader.encoder} is not" if alone else "None is"
        mend = "it" if alone else f"the best one, {leader.encoder}"
        return [
            f"{head} good enough{purpose}: try another encoder, or improve {mend}.",
            f"An encoder that is good enough {_scale(task.mark)}.",
        ]
    if unlike:
        return [f"Do not choose between these encoders by {task.title}: they are of different kinds."]
    return _choice(leader, found, purpose, run, judged=least is not None)


def enough(task: Task, best: BoardRow) -> float | None:
    """Return the least value that is good enough; None where the numbers do not say."""
    mark = task.mark
    if mark is None or words.lower_is_better(best.measure):
        return None
    if not mark.of_the_way:
        return mark.value
    if best.normalized is None or best.oracle is None or best.chance is None:
        return None
    room = max(best.oracle - best.chance, 1e-9)
    return best.chance + mark.value * room


def _scale(mark: Mark) -> str:
    if not mark.of_the_way:
        return f"has at least {mark.value:g}"
    share = numbers.percent(mark.value)
    return f"closes at least {share} of the way from chance to the oracle (images alone)"


def _these(found: Sequence[BoardRow]) -> str:
    return found[0].encoder if len(found) == 1 else f"any of these {len(found)} encoders"


def _choice(
    leader: BoardRow, found: Sequence[BoardRow], purpose: str, run: Results, *, judged: bool
) -> list[str]:
    """Return which encoder to take: the best, any of those that are level, or none before more is known."""
    level = [leader, *(row for row in found if row.standing == "level")]
    if len(found) == 1:
        beside = "evaluate one or two other encoders before you decide"
        return [f"{leader.encoder} can be used{purpose}; {beside}."] if judged else []
    names = [row.encoder for row in level]
    values = [row.value for row in level]
    if words.ceiling(leader.measure, names, values) is not None:
        return [words.ceiling(leader.measure, names, values, first_of(run, leader)) or ""]
    if len(level) > 1:
        shown = numbers.in_words(names, MOST_NAMED)
        which = "either" if len(level) == 2 else "any"
        return [
            f"Use {which} of {shown}{purpose}: no difference between these {len(level)} is found on this "
            f"data.{_cost(level, run.costs)}"
        ]
    if any(row.standing == "behind" for row in found):
        if may_be_luck(row.behind for row in found):
            return [
                f"Use {leader.encoder}{purpose}: it has the best value of these {len(found)} encoders, but "
                f"with so many encoders the lead may be luck."
            ]
        best = (
            "better than the other" if len(found) == 2 else f"clearly the best of these {len(found)} encoders"
        )
        return [f"Use {leader.encoder}{purpose}: it is {best}."]
    return [
        f"Do not choose yet: {leader.encoder} has the best value, but no test shows whether that is luck."
    ]


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


def _cost(level: Sequence[BoardRow], costs: Costs) -> str:
    """Return by what to choose among encoders that are level."""
    sizes = {row.encoder: costs.get(row.encoder, {}).get("bytes_per_text") for row in level}
    known = sorted((size, name) for name, size in sizes.items() if size)
    if len(known) == len(level) and known[0][0] < known[1][0]:
        return f" Choose by cost: {known[0][1]} has the smallest vectors."
    return " Choose by cost, or evaluate more queries to tell them apart."
