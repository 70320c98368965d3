"""What a page says and shows about image–sentence ranking: for each language the systems side by side.

Numbers are written as their literature has them: recalls in per cent, ranks, differences in brackets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xlingual.languages import named
from xlingual.report import leaders, numbers, words
from xlingual.report.blocks import Block, Fold, Heading, Legend, Prose, Section
from xlingual.report.findings.leads import may_be_luck
from xlingual.report.leaders import BoardRow, contains, side_of_chance
from xlingual.report.pages import hubs
from xlingual.report.pages.evaluation import TaskPart, findings
from xlingual.report.table import Badge, Cell, Column, Key, Row, Table, TableRoom
from xlingual.results import Entry, Interval, Results, Summary, by_key
from xlingual.results.views import Against, ImageSentenceViews
from xlingual.tasks import TASKS, Task

TASK = TASKS["image-sentence"]
IMAGE, RSUM, MOST_RSUM = "image", "rsum", 600
DIRECTIONS = {True: "Sentence to image", False: "Image to sentence"}
HEADS = ("system", "direction", "measure", "value", "95 % interval", "chance", "difference", "its interval")
SHOWN = {"MedR": "MedR (mid-ranks)", RSUM: "sum of recalls"}
TERMS = {
    "R@1, R@5, R@10": "The share of queries, in per cent, with a right answer among the first 1, 5 or "
    "10: an image for a sentence, any of its sentences for an image. This is the literature's R@k. The "
    "results store it as Success@1, 5 and 10, the hit rate: R@k elsewhere is the share of right answers that "
    "is found.",
    "MedR": "The median rank of the first right answer: the median of the ranks counted from 0, rounded "
    "down, plus 1. Lower is better.",
    "Sum of recalls": "R@1, R@5 and R@10 of both directions added up, 600 at most (rsum). Models are chosen "
    "by it.",
    "Difference to the baseline": "In brackets: the value minus the baseline's, on the same queries. A star "
    "says that its interval excludes zero.",
    "Chance": "The score on the same data of an encoder for which all candidates are equally similar.",
    "Interval": "Where the number would land for another sample of as many images from the same source. "
    "Sentences of one image are not independent and are kept together.",
}

Numbers = dict[str, Entry | Summary]  # by system
Measured = tuple[str, str, Numbers]  # direction, measure, number of each system that has one


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of image–sentence ranking."""
    own = [(place, run) for place, run in enumerate(runs, 1) if by_key(run.entries, task=task.name)]
    blocks: list[Block] = []
    for place, run in own:
        name = f"run {place}" if len(own) > 1 else ""
        blocks += [Heading(name.capitalize())] if name else []
        for language in _languages(run):
            blocks += _of_language(run, language, name)
    rows = leaders.leaderboard(runs, task.name, leaders.measures(runs, task.name)[0])
    of_hubs = hubs.blocks(runs, rows)
    entries = [entry for _, run in own for entry in by_key(run.entries, task=task.name)]
    return TaskPart(
        section=Section(task.title, [*blocks, *of_hubs], task.about),
        findings=findings(runs, task, _verdict, advised=False),
        sizes={
            "images": [entry.n_source for entry in entries if entry.source == IMAGE],
            "sentences per language": [entry.n_source for entry in entries if entry.source != IMAGE],
        },
        terms=[*TERMS.items(), *([hubs.TERM] if of_hubs else [])],
        image_bytes=hubs.image_bytes(runs, rows),
    )


def _languages(run: Results) -> list[str]:
    tags = dict.fromkeys(entry.source for entry in by_key(run.entries, task=TASK.name))
    return [tag for tag in tags if tag != IMAGE]


def _of_language(run: Results, language: str, name: str) -> list[Block]:
    """Return the table of a language, what its marks mean, and all numbers with their intervals."""
    rows = list(_numbers(run, language))
    systems = list(dict.fromkeys(system for _, _, own in rows for system in own))
    entries = [one for _, _, own in rows for one in own.values() if isinstance(one, Entry)]
    sentences, images = (
        max(entry.n_source for entry in entries if (entry.source == IMAGE) == shown)
        for shown in (False, True)
    )
    baseline = next((against.baseline for one in entries if (against := _against(one))), None)
    heads = {one: f"{one} (baseline)" if one == baseline else one for one in systems}
    badges = {baseline: (Badge("baseline"),)}
    amounts = f"{numbers.count(images)} images, {numbers.count(sentences)} sentences"
    table = Table(
        f"{named(language)}{f', {name}' if name else ''} · {amounts}",
        (
            Column("", "name"),
            *(Column(one, short=key, data=True, badges=badges.get(one, ())) for one, key in heads.items()),
        ),
        tuple(_rows(rows, systems)),
        style="figures ranking",
        titled=False,
        looks=tuple(
            TableRoom(names=names, bare=bare) for bare in ((), tuple(heads.values())) for names in (24, 14)
        ),
        splits=True,
        where="both",
    )
    folds = max(len(e.views.folds or ()) if isinstance(e.views, ImageSentenceViews) else 0 for e in entries)
    keys = [Key(f"{amounts}{f', means over {folds} slices' if folds else ''}")]
    keys.append(Key("R@k in per cent: any of the captions counts (Success@k in the results)"))
    keys += [Key("bold is best")] if len(systems) > 1 else []
    if baseline is not None:
        keys.append(Key("in brackets: difference to", name=baseline))
        keys.append(Key("* its interval excludes zero: better in green, worse in orange"))
    below = (
        f"In brackets the difference to {baseline}; *\u00a0its interval excludes zero. " if baseline else ""
    )
    title = f"All numbers for {named(language)}"
    full = Table.of_texts(title, HEADS, _full(rows, systems), names=3, data=True, titled=False)
    return [
        Heading(named(language)),
        table,
        Legend(tuple(keys)),
        Prose(f"{below}R@k in per cent: any of the captions counts.", "note-line", "terminal"),
        Fold(title, [full.without_empty()], "with their intervals"),
    ]


def _numbers(run: Results, language: str) -> Iterator[Measured]:
    """Yield the numbers of a language: both directions, and the sum of their recalls."""
    by_place: dict[tuple[bool, str], Numbers] = {}
    for entry in by_key(run.entries, task=TASK.name):
        if language in (entry.source, entry.target):
            by_place.setdefault((entry.target == IMAGE, entry.measure), {})[entry.encoder] = entry
    for to_image, title in DIRECTIONS.items():
        for (way, measure), own in by_place.items():
            if way == to_image:
                yield title, measure, own
    if total := _summaries(run, language, RSUM):
        yield "Both ways", RSUM, dict(total)


def _rows(rows: Sequence[Measured], systems: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each measure under the heading of its direction."""
    before = ""
    for direction, measure, own in rows:
        if direction != before:
            yield Row(heading=direction)
        before = direction
        values = [row.value for row in own.values() if row.value is not None]
        best = (min if words.lower_is_better(measure) else max)(values) if len(values) > 1 else None
        cells = {}
        for name, row in own.items():
            cell = _cell(row, _digits(own), best)
            gap = cell.gap or Cell()  # a blank, so that numbers stand below each other
            text = f"({gap.text}){gap.mark}" if gap.text else ""
            cells[name] = replace(cell, gap=replace(gap, text=text, mark="", interval=""))
        yield Row((Cell(_head(measure)), *(cells.get(name, Cell(numbers.MISSING)) for name in systems)))


def _full(rows: Sequence[Measured], systems: Sequence[str]) -> Iterator[list[str]]:
    """Yield every number of a language with its interval, chance and the difference's interval."""
    for name in systems:
        for direction, measure, own in rows:
            if name in own:
                cell, chance = _cell(own[name], _digits(own)), _text(own[name].chance, measure)
                gap = cell.gap or Cell()
                shown = [cell.text, cell.interval, chance, gap.marked, gap.interval]
                yield [name, direction, _head(measure), *shown]


def _head(measure: str) -> str:
    return SHOWN.get(measure) or TASK.measure_name(measure)


def _digits(own: Numbers) -> int:
    """Return the decimals of ranks: none where all in a row are whole."""
    return 0 if all(row.value == int(row.value) for row in own.values() if row.value is not None) else 1


def _against(row: Entry | Summary) -> Against | None:
    return row.views.against if isinstance(row.views, ImageSentenceViews) else None


def _summaries(run: Results, language: str, measure: str) -> dict[str, Summary]:
    """Return the summary of each system for a language."""
    rows = by_key(run.summary, task=TASK.name, source=language, target=IMAGE, measure=measure)
    return {row.encoder: row for row in rows}


def _text(value: float | None, measure: str, digits: int | None = None) -> str:
    """Return a number as the literature has it; `digits` are those of ranks, or of per cent."""
    if value is None:
        return numbers.MISSING
    if measure.startswith("MedR"):
        whole = 0 if value == int(value) else 1
        return numbers.number(value, digits=whole if digits is None else digits)
    if measure.startswith("Success@"):
        return numbers.number(100 * value, digits=digits or 1)
    return numbers.number(value, digits=1 if measure == RSUM else None)


def _interval(ci: Interval | None, measure: str, digits: int | None = None) -> str:
    return "" if ci is None else f"[{_text(ci.low, measure, digits)}, {_text(ci.high, measure, digits)}]"


def _digits_of_recall(row: Entry | Summary) -> int:
    """Return how many decimals of per cent separate an interval's ends, and show two digits of a value."""
    low, high = (0.0, 1.0) if row.ci is None else (row.ci.low, row.ci.high)
    digits = numbers.digits_beside([100 * low], [100 * high], 1)
    if row.value is None or not 0 < row.value < 0.0005:
        return digits
    return max(digits, min(numbers.MOST_DIGITS, 1 - math.floor(math.log10(100 * row.value))))


def _cell(row: Entry | Summary, digits: int | None = None, best: float | None = None) -> Cell:
    """Return the cell of a number with its difference to the baseline; `digits` are those of ranks."""
    of_recall = row.measure.startswith("Success@")
    own = _digits_of_recall(row) if of_recall else digits
    against, gap = _against(row), None
    if against is not None:
        text = _text(against.value, row.measure, None if of_recall else digits)
        better = (against.value < 0) == words.lower_is_better(row.measure)
        real = against.ci is not None and not contains(against.ci, 0.0)
        gap = Cell(
            text if text.startswith("−") or not float(text) else f"+{text}",
            _interval(against.ci, row.measure, None if of_recall else digits),
            mark="*" if real else "",
            tone=("gain" if better else "loss") if real else "",
            value=against.value,
            ends=None if against.ci is None else (against.ci.low, against.ci.high),
        )
    return Cell(
        _text(row.value, row.measure, own),
        _interval(row.ci, row.measure, own),
        gap=gap,
        tone="best" if best is not None and row.value == best else "",
        value=row.value,
        ends=None if row.ci is None else (row.ci.low, row.ci.high),
    )


def _verdict(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the sentences about one run, the most important first."""
    run = runs[rows[0].run - 1]
    sentences = []
    for language in _languages(run):
        measure = RSUM
        if not (own := _summaries(run, language, RSUM)):
            measure = by_key(run.entries, task=TASK.name)[0].measure
            own = _summaries(run, language, measure)
        sentences += _about(f"In {named(language)}", measure, own)
    return [*sentences, *hubs.alarm(runs, rows)]


def _about(where: str, measure: str, rows: Mapping[str, Summary]) -> list[str]:
    """Return the sentences about one language: whether it is good enough, who leads, who is at chance."""
    what = f"{_head(measure)}{'' if measure == RSUM else ' from sentence to image'}"
    chance = _text(next(iter(rows.values())).chance, measure)
    sentences, mark, most = [], TASK.mark, MOST_RSUM if measure == RSUM else 1.0
    if mark is not None and not words.lower_is_better(measure):
        least = mark.value * most
        if all(row.ci is not None and row.ci.high < least for row in rows.values()):
            who = "none is" if len(rows) > 1 else f"{next(iter(rows))} is not"
            limit = f"{least:g} out of {most:g}" if measure == RSUM else numbers.percent(mark.value)
            sentences.append(f"{where}, {who} good enough to {mark.purpose}: {what} below {limit}.")
    sentences.append(f"{where}, {_compared(what, measure, rows)}.")
    lost = [
        name
        for name, row in rows.items()
        if side_of_chance(row.ci_simultaneous or row.ci, row.chance, measure) in ("at", "below")
    ]
    if lost:
        sentences.append(f"{where}, not above chance ({what} {chance}): {numbers.in_words(lost)}.")
    return sentences


def _compared(what: str, measure: str, rows: Mapping[str, Summary]) -> str:
    """Return who leads or is ahead of the baseline, and whether that is more than noise."""
    sign = 1 if words.lower_is_better(measure) else -1
    first, *rest = sorted(rows, key=lambda name: sign * (rows[name].value or 0.0))
    baseline = next((against.baseline for row in rows.values() if (against := _against(row))), None)
    shown = {name: _cell(row) for name, row in rows.items()}
    unit = " %" if measure.startswith("Success@") else " out of 600" if measure == RSUM else ""
    if baseline is not None and baseline in rows:
        first = next(name for name in [first, *rest] if name != baseline)
        gap, values = shown[first].gap, f"{what} {shown[first].text} against {shown[baseline].text}"
        if gap is None or not gap.interval:
            return f"{first} cannot be compared with the baseline {baseline} ({values}): other queries"
        side = "ahead of" if gap.tone == "gain" else "behind" if gap.mark else "not distinguishable from"
        real = "a real difference" if gap.mark else "a difference"
        return f"{first} is {side} the baseline {baseline}: {values}, {real} of {gap.text} {gap.interval}"
    if not rest:
        chance = _text(rows[first].chance, measure)
        return f"{first} reaches a {what} of {shown[first].plain}{unit}; chance is {chance}"
    behind = rows[rest[0]].behind
    text = f"{first} leads with a {what} of {shown[first].plain}{unit}"
    if behind is None or behind.leader != first:
        return f"{text}, before {rest[0]} with {shown[rest[0]].text}; no paired difference was computed"
    by = f"{_text(behind.value, measure)} {_interval(behind.ci, measure)}"
    level = [name for name in rest if (own := rows[name].behind) and contains(own.ci, 0.0)]
    if level:
        return f"{text}, but is not distinguishable from {numbers.in_words(level)} ({by} for the first)"
    luck = may_be_luck(row.behind for row in rows.values())
    real = f"but with {len(rows)} encoders that may be luck" if luck else "so the lead is real on this data"
    return f"{text}, {by} ahead of {rest[0]}: the interval excludes zero, {real}"
