"""The verdict on image–sentence ranking: who is ahead in each language, and whether that is real."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.report.findings import hubs, leads, recalls
from xlingual.report.findings.recalls import IMAGE, RSUM, TASK, interval_text, value_text
from xlingual.report.leaders import BoardRow, contains, side_of_chance
from xlingual.report.table import Cell
from xlingual.results import Results, Summary, by_key
from xlingual.tasks import Task

FEW_IMAGES = 50


@dataclass(frozen=True)
class _Headline:
    """The numbers of one language that the verdict is about."""

    where: str  # the language in words
    measure: str
    what: str  # the measure in words
    rows: Mapping[str, Summary]

    def value(self, name: str, *, ci: bool = False) -> str:
        """Return the value of a system, with its interval where wanted."""
        row, of_recall = self.rows[name], recalls.is_recall(self.measure)
        digits = recalls.digits_of_recall(row.value, row.ci) if of_recall else None
        interval = f" {interval_text(row.ci, self.measure, digits)}" if ci and row.ci else ""
        return f"{value_text(row.value, self.measure, digits)}{' %' if of_recall else ''}{interval}"

    def reaches(self, name: str, *, ci: bool = False) -> str:
        """Return "a sum of recalls of 312.0 out of 600" of a system."""
        if self.measure != RSUM:
            return f"{self.what} of {self.value(name, ci=ci)}"
        return f"a {self.what} of {self.value(name, ci=ci)} out of {recalls.MOST_RSUM}"

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return the systems, the best first."""
        sign = 1 if words.lower_is_better(self.measure) else -1
        return sorted(names, key=lambda name: sign * (self.rows[name].value or 0.0))


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the sentences about one run, the most important first."""
    run = runs[rows[0].run - 1]
    sentences = [sentence for tag in recalls.languages_of(run) for sentence in _about(_headline(run, tag))]
    alarm = hubs.alarm(runs, rows)
    return [*sentences, *alarm, *leads.misses(run, rows), *_partial(run), *_remarks(run)]


def _headline(run: Results, language: str) -> _Headline:
    where, found = f"In {named(language)}", recalls.sums(run, language)
    if found:
        return _Headline(where, RSUM, "sum of recalls", found)
    measure = by_key(run.entries, task=TASK.name)[0].measure
    what = f"{recalls.measure_head(measure)} from sentence to image"
    return _Headline(where, measure, what, recalls.sums(run, language, measure))


def _about(head: _Headline) -> list[str]:
    """Return the sentences about one language."""
    baseline = next((one.baseline for row in head.rows.values() if (one := recalls.against(row))), None)
    if len(head.rows) == 1:
        name = next(iter(head.rows))
        chance = value_text(head.rows[name].chance, head.measure)
        found = [f"{head.where}, {name} reaches {head.reaches(name, ci=True)}; chance is {chance}."]
    elif baseline is not None:
        found = _against_baseline(head, baseline)
    else:
        found = [_leading(head)]
    return [*_not_good_enough(head), *found, *_at_chance(head)]


def _against_baseline(head: _Headline, baseline: str) -> list[str]:
    """Return how the systems compare with the baseline: the best one first, the others in one sentence."""
    first, *others = head.ordered(name for name in head.rows if name != baseline)
    gap = recalls.difference_of(head.rows[first])
    values = f"{head.reaches(first)} against {head.value(baseline)}"
    if gap is None or not gap.interval:
        return [
            f"{head.where}, {first} has {values} of the baseline {baseline}; the queries are not the same."
        ]
    shown = f"{gap.text} {gap.interval}"
    if gap.mark:
        side = "ahead of" if gap.tone == "gain" else "behind"
        outcome = f"is {side} the baseline {baseline}: {values}, a real difference of {shown}"
    else:
        outcome = (
            f"is not distinguishable from the baseline {baseline}: {values}, a difference of {shown}, whose "
            "interval contains zero"
        )
    return [
        f"{head.where}, {first} {outcome}.",
        *_others({name: recalls.difference_of(head.rows[name]) for name in others}),
    ]


def _others(gaps: Mapping[str, Cell | None]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for name, gap in gaps.items():
        if gap is not None and gap.interval:
            groups.setdefault(gap.tone, []).append(f"{name} ({gap.text})")
    outcomes = {"gain": "ahead of it too", "": "not distinguishable from it", "loss": "behind it"}
    parts = [
        f"{numbers.in_words(names)} {'is' if len(names) == 1 else 'are'} {outcome}"
        for tone, outcome in outcomes.items()
        if (names := groups.get(tone))
    ]
    return [f"Of the others, {'; '.join(parts)}."] if parts else []


def _leading(head: _Headline) -> str:
    """Return who leads where there is no baseline."""
    first, *rest = head.ordered(head.rows)
    text = f"{head.where}, {first} leads with {head.reaches(first, ci=True)}"
    behind = head.rows[rest[0]].behind
    if behind is None or behind.leader != first:
        return f"{text}, before {rest[0]} with {head.value(rest[0])}; no paired difference was computed."
    shown = f"{value_text(behind.value, head.measure)} {interval_text(behind.ci, head.measure)}"
    if not contains(behind.ci, 0.0):
        luck = leads.may_be_luck(row.behind for row in head.rows.values())
        real = (
            f"but with {len(head.rows)} encoders that may be luck"
            if luck
            else "so the lead is real on this data"
        )
        zero = f"the interval excludes zero, {real}"
        return f"{text}, {shown} ahead of {rest[0]}: {zero}."
    level = [name for name in rest if (own := head.rows[name].behind) and contains(own.ci, 0.0)]
    shown += " for the first" if len(level) > 1 else ""
    named_level = f"{numbers.in_words(level)} (difference {shown})"
    return f"{text}, but is not distinguishable from {named_level}: the interval contains zero."


def _not_good_enough(head: _Headline) -> list[str]:
    """Return a sentence where even the best system stays below the mark of the task, interval and all."""
    if words.lower_is_better(head.measure) or TASK.mark is None:
        return []
    most = recalls.MOST_RSUM if head.measure == RSUM else 1.0
    least = TASK.mark.value * most
    if any(row.ci is None or row.ci.high >= least for row in head.rows.values()):
        return []
    who = f"{next(iter(head.rows))} is not" if len(head.rows) == 1 else "none is"
    limit = f"{least:g} out of {most:g}" if head.measure == RSUM else numbers.percent(TASK.mark.value)
    return [f"{head.where}, {who} good enough to {TASK.mark.purpose}: {head.what} below {limit}."]


def _at_chance(head: _Headline) -> list[str]:
    """Return who is not above chance."""
    lost = {
        name: value_text(row.chance, head.measure)
        for name, row in head.rows.items()
        if side_of_chance(row.ci_simultaneous or row.ci, row.chance, head.measure) in ("at", "below")
    }
    chance = next(iter(lost.values()), "")
    who = numbers.in_words(list(lost))
    return [f"{head.where}, not above chance ({head.what} {chance}): {who}."] if lost else []


def _partial(run: Results) -> list[str]:
    """Return which systems were not evaluated in all languages."""
    languages = recalls.languages_of(run)
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in recalls.systems_of(run):
        tags = tuple(tag for tag in languages if name in recalls.systems_of(run, tag))
        if len(tags) < len(languages):
            groups.setdefault(tags, []).append(name)
    parts = [
        f"{numbers.in_words(names)} in {numbers.in_words([named(tag) for tag in tags])} only"
        for tags, names in groups.items()
    ]
    return [f"Evaluated in the languages that they are for: {', '.join(parts)}."] if parts else []


def _remarks(run: Results) -> list[str]:
    own = by_key(run.entries, task=TASK.name)
    folds = max(map(recalls.n_folds, own), default=0)
    images = [entry.n_source for entry in own if entry.source == IMAGE]
    found = []
    if folds:
        size = numbers.span([n // folds for n in images])
        found.append(f"Values are means over slices of {size} images, each ranked on its own.")
    if images and min(images) < FEW_IMAGES:
        found.append(f"Only {min(images)} images: the intervals are wide.")
    return found
