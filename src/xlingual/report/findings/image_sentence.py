"""The verdict on image–sentence ranking: who is ahead in each language, and whether that is real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.report.findings.recalls import (
    IMAGE,
    MOST_RSUM,
    RSUM,
    TASK,
    against,
    difference_of,
    digits_of_recall,
    interval_text,
    is_recall,
    languages_of,
    measure_head,
    n_folds,
    sums,
    systems_of,
    value_text,
)
from xlingual.report.leaders import Row, side_of_chance
from xlingual.report.table import Cell
from xlingual.results import Results, Summary
from xlingual.tasks import Task

FEW_PICTURES = 50


@dataclass(frozen=True)
class _Headline:
    """The numbers of one language that the verdict is about."""

    language: str
    measure: str
    rows: Mapping[str, Summary]

    @property
    def what(self) -> str:
        """The measure in words."""
        if self.measure == RSUM:
            return "sum of recalls"
        return f"{measure_head(self.measure)} from sentence to image"

    def value(self, name: str, *, ci: bool = False) -> str:
        """Return the value of a system, with its interval where wanted."""
        row = self.rows[name]
        of_recall = is_recall(self.measure)
        digits = digits_of_recall(row.value, row.ci) if of_recall else None
        interval = f" {interval_text(row.ci, self.measure, digits)}" if ci and row.ci else ""
        return f"{value_text(row.value, self.measure, digits)}{' %' if of_recall else ''}{interval}"

    @property
    def whose(self) -> str:
        """The measure in words, with its article."""
        return f"a {self.what}" if self.measure == RSUM else self.what

    @property
    def scale(self) -> str:
        """What the best possible value is."""
        return f" out of {MOST_RSUM}" if self.measure == RSUM else ""


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[Row]) -> list[str]:
    """Return the sentences about one run, the most important first."""
    run = runs[rows[0].run - 1]
    heads = [_headline(run, language) for language in languages_of(run)]
    sentences = [sentence for head in heads for sentence in _about(head)]
    return [*sentences, *_partial(run), *_remarks(run)]


def _headline(run: Results, language: str) -> _Headline:
    found = sums(run, language)
    if found:
        return _Headline(language, RSUM, found)
    measure = next(entry.measure for entry in run.entries if entry.task == TASK.name)
    return _Headline(language, measure, sums(run, language, measure))


def _about(head: _Headline) -> list[str]:
    """Return what is to be said of one language."""
    where = f"In {named(head.language)}"
    baseline = next((one.baseline for row in head.rows.values() if (one := against(row))), None)
    if len(head.rows) == 1:
        name = next(iter(head.rows))
        chance = value_text(head.rows[name].chance, head.measure)
        found = [
            f"{where}, {name} reaches {head.whose} of {head.value(name, ci=True)}{head.scale}; "
            f"chance is {chance}."
        ]
    elif baseline is not None:
        found = _against_baseline(head, where, baseline)
    else:
        found = [_leading(head, where)]
    return [*found, *_not_good_enough(head, where), *_at_chance(head, where)]


def _ordered(head: _Headline, names: Sequence[str]) -> list[str]:
    lower = words.lower_is_better(head.measure)
    return sorted(names, key=lambda name: (head.rows[name].value or 0.0) * (1 if lower else -1))


def _against_baseline(head: _Headline, where: str, baseline: str) -> list[str]:
    """Return how the systems stand to the baseline: the best one first, the others in one sentence."""
    others = _ordered(head, [name for name in head.rows if name != baseline])
    gaps = {name: difference_of(head.rows[name]) for name in others}
    first, gap = others[0], gaps[others[0]]
    values = f"{head.whose} of {head.value(first)}{head.scale} against {head.value(baseline)}"
    if gap is None or not gap.interval:
        return [f"{where}, {first} has {values} of the baseline {baseline}; the queries are not the same."]
    shown = f"{gap.text} {gap.interval}"
    if not gap.mark:
        text = (
            f"{where}, {first} cannot be told apart from the baseline {baseline}: {values}, "
            f"a difference of {shown}, whose interval contains zero."
        )
    else:
        side = "ahead of" if (gap.tone == "gain") else "behind"
        text = f"{where}, {first} is {side} the baseline {baseline}: {values}, a real difference of {shown}."
    return [text, *_others(others[1:], gaps)]


def _others(names: Sequence[str], gaps: Mapping[str, Cell | None]) -> list[str]:
    ahead: list[str] = []
    level: list[str] = []
    behind: list[str] = []
    for name in names:
        gap = gaps[name]
        if gap is not None and gap.interval:
            group = level if not gap.mark else ahead if (gap.tone == "gain") else behind
            group.append(f"{name} ({gap.text})")
    said = (
        [f"{numbers.in_words(ahead)} {'is' if len(ahead) == 1 else 'are'} ahead of it too"] if ahead else []
    )
    said += [f"{numbers.in_words(level)} cannot be told apart from it"] if level else []
    said += [f"{numbers.in_words(behind)} {'is' if len(behind) == 1 else 'are'} behind it"] if behind else []
    return [f"Of the others, {'; '.join(said)}."] if said else []


def _leading(head: _Headline, where: str) -> str:
    """Return who leads where there is no baseline."""
    first, *rest = _ordered(head, list(head.rows))
    text = f"{where}, {first} leads with {head.whose} of {head.value(first, ci=True)}{head.scale}"
    second = head.rows[rest[0]]
    if second.behind is None or second.behind.leader != first:
        return f"{text}, before {rest[0]} with {head.value(rest[0])}; no paired difference was computed."
    ci = second.behind.ci
    shown = f"{value_text(second.behind.value, head.measure)} {interval_text(ci, head.measure)}"
    if ci.low <= 0 <= ci.high:
        level = [name for name in rest if (b := head.rows[name].behind) and b.ci.low <= 0 <= b.ci.high]
        return (
            f"{text}, and cannot be told apart from {numbers.in_words(level)} (difference {shown}"
            f"{' for the first' if len(level) > 1 else ''}): the interval contains zero."
        )
    return (
        f"{text}, {shown} ahead of {rest[0]}: the interval excludes zero, so the lead is real on this data."
    )


def _not_good_enough(head: _Headline, where: str) -> list[str]:
    """Return a sentence where even the best system stays below the mark of the task, interval and all."""
    if words.lower_is_better(head.measure):
        return []
    if TASK.mark is None:
        return []
    mark, purpose = TASK.mark.value, TASK.mark.purpose
    most = MOST_RSUM if head.measure == RSUM else 1.0
    if any(row.ci is None or row.ci.high >= mark * most for row in head.rows.values()):
        return []
    who = f"{next(iter(head.rows))} is not" if len(head.rows) == 1 else "none is"
    limit = f"{mark * most:g} out of {most:g}" if head.measure == RSUM else numbers.percent(mark)
    return [f"{where}, {who} good enough to {purpose}: {head.what} below {limit}."]


def _at_chance(head: _Headline, where: str) -> list[str]:
    """Return who is not above chance."""
    lost = [
        name
        for name, row in head.rows.items()
        if side_of_chance(row.ci_simultaneous or row.ci, row.chance, head.measure) in ("at", "below")
    ]
    if not lost:
        return []
    chance = value_text(head.rows[lost[0]].chance, head.measure)
    return [f"{where}, not above chance ({head.what} {chance}): {numbers.in_words(lost)}."]


def _partial(run: Results) -> list[str]:
    """Return which systems were not evaluated in all languages."""
    languages = languages_of(run)
    own = {name: [tag for tag in languages if name in systems_of(run, tag)] for name in systems_of(run)}
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, tags in own.items():
        if len(tags) < len(languages):
            groups.setdefault(tuple(tags), []).append(name)
    if not groups:
        return []
    said = [
        f"{numbers.in_words(names)} in {numbers.in_words([named(tag) for tag in tags])} only"
        for tags, names in groups.items()
    ]
    return [f"Evaluated in the languages that they are for: {', '.join(said)}."]


def _remarks(run: Results) -> list[str]:
    own = [entry for entry in run.entries if entry.task == TASK.name]
    folds = max(map(n_folds, own), default=0)
    images = [entry.n_source for entry in own if entry.source == IMAGE]
    found = []
    if folds:
        size = numbers.span([n // folds for n in images])
        found.append(f"Values are means over slices of {size} pictures, each ranked on its own.")
    if images and min(images) < FEW_PICTURES:
        found.append(f"Only {min(images)} pictures: the intervals are wide.")
    return found
