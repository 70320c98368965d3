"""What a page shows about image–sentence ranking: for each language the systems side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xlingual.languages import named
from xlingual.report import leaders, numbers, words
from xlingual.report.blocks import Block, Fold, Heading, Legend, Prose, Section
from xlingual.report.findings import recalls
from xlingual.report.findings.image_sentence import of_run
from xlingual.report.findings.recalls import IMAGE, RSUM, cell_of, measure_head
from xlingual.report.findings.retrieval import findings
from xlingual.report.pages import hubs
from xlingual.report.pages.evaluation import TaskPart
from xlingual.report.table import Badge, Cell, Column, Key, Row, Table, TableRoom
from xlingual.results import Entry, Results, Summary, by_key
from xlingual.tasks import Task

DIRECTIONS = {True: "Sentence to image", False: "Image to sentence"}
BOTH = "Both ways"
HEADS = (
    "system",
    "direction",
    "measure",
    "value",
    "95 % interval",
    "chance",
    "difference",
    "its interval",
    "tied",
)
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
        for language in recalls.languages_of(run):
            blocks += _of_language(run, task, language, name)
    measures = leaders.measures(runs, task.name)
    rows = leaders.leaderboard(runs, task.name, measures[0])
    of_hubs = hubs.blocks(runs, rows)
    blocks += of_hubs
    entries = [entry for _, run in own for entry in by_key(run.entries, task=task.name)]
    return TaskPart(
        section=Section(task.title, blocks, task.about),
        findings=findings(runs, task, of_run, advised=False),
        sizes={
            "images": _images(entries),
            "sentences per language": [entry.n_source for entry in entries if entry.source != IMAGE],
        },
        terms=[*TERMS.items(), *([hubs.TERM] if of_hubs else [])],
        image_bytes=hubs.image_bytes(runs, rows),
    )


def _of_language(run: Results, task: Task, language: str, name: str) -> list[Block]:
    systems = recalls.systems_of(run, language)
    rows = list(_numbers(run, task, language))
    entries = [one for _, _, found in rows for one in found.values() if isinstance(one, Entry)]
    sentences = [one.n_source if one.target == IMAGE else one.n_target for one in entries]
    slices = max(map(recalls.n_folds, entries))
    baseline = next((found.baseline for one in entries if (found := recalls.against(one))), None)
    amounts = f"{numbers.count(max(_images(entries)))} images, {numbers.count(max(sentences))} sentences"
    heads = {one: f"{one} (baseline)" if one == baseline else one for one in systems}
    badges = {baseline: (Badge("baseline"),)}
    lines = tuple(_rows(rows, systems))
    bold = any(cell.tone == "best" for line in lines for cell in line.cells)
    table = Table(
        f"{named(language)}{f', {name}' if name else ''} · {amounts}",
        (
            Column("", "name"),
            *(Column(one, short=key, data=True, badges=badges.get(one, ())) for one, key in heads.items()),
        ),
        lines,
        style="figures ranking",
        titled=False,
        looks=tuple(
            TableRoom(names=names, bare=bare) for bare in ((), tuple(heads.values())) for names in (24, 14)
        ),
        splits=True,
        where="both",
    )
    title = f"All numbers for {named(language)}"
    full = Table.of_texts(title, HEADS, _full(rows, systems), names=3, data=True, titled=False)
    return [
        Heading(named(language)),
        table,
        *_legends(rows, f"{amounts}{f', in {slices} slices' if slices else ''}", bold, baseline),
        Fold(title, [full.without_empty()], "with their intervals"),
    ]


def _images(entries: Sequence[Entry]) -> list[int]:
    """Return how many images there are: queries where any system has these, else candidates."""
    queries = [entry.n_source for entry in entries if entry.source == IMAGE]
    return queries or [entry.n_target for entry in entries]


def _numbers(run: Results, task: Task, language: str) -> Iterator[Measured]:
    """Yield the numbers of a language: both directions, and the sum of their recalls."""
    found: dict[tuple[bool, str], Numbers] = {}
    for entry in by_key(run.entries, task=task.name):
        if language in (entry.source, entry.target):
            found.setdefault((entry.target == IMAGE, entry.measure), {})[entry.encoder] = entry
    measures = list(dict.fromkeys(measure for _, measure in found))
    for to_image, title in DIRECTIONS.items():
        for measure in measures:
            if (to_image, measure) in found:  # an engine may search one way only
                yield title, measure, found[to_image, measure]
    if total := recalls.sums(run, language):
        yield BOTH, RSUM, dict(total)


def _rows(rows: Sequence[Measured], systems: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each measure under the heading of its direction."""
    before = ""
    for direction, measure, found in rows:
        if direction != before:
            yield Row(heading=direction)
        before = direction
        values = [row.value for row in found.values() if row.value is not None]
        pick = min if words.lower_is_better(measure) else max
        best = pick(values) if len(values) > 1 else None
        cells = {
            name: _bracketed(cell_of(row, best=best, digits=_digits(found))) for name, row in found.items()
        }
        yield Row(
            (Cell(measure_head(measure)), *(cells.get(name, Cell(numbers.MISSING)) for name in systems))
        )


def _digits(found: Numbers) -> int:
    """Return the decimals of ranks: none where all in a row are whole."""
    return 0 if all(row.value == int(row.value) for row in found.values() if row.value is not None) else 1


def _bracketed(cell: Cell) -> Cell:
    if cell.gap is None:
        return replace(cell, gap=Cell())  # a blank, so that numbers stand below each other
    text = f"({cell.gap.text}){cell.gap.mark}"
    return replace(cell, gap=replace(cell.gap, text=text, mark="", interval=""))


def _legends(rows: Sequence[Measured], amounts: str, bold: bool, baseline: str | None) -> list[Block]:
    """Return what the marks mean, for the page and for a terminal."""
    keys = [Key(amounts), Key("R@k in per cent: any of the captions counts")]
    notes = []
    if any(recalls.is_recall(measure) for _, measure, _ in rows):
        notes.append("R@k in per cent: any of the captions counts (Success@k in the results).")
    if bold:
        keys.append(Key("bold is best"))
    if baseline is not None:
        keys.append(Key("in brackets: difference to", name=baseline))
        keys.append(Key("* its interval excludes zero: better in green, worse in orange"))
        notes.append(f"In brackets the difference to {baseline}; *\u00a0its interval excludes zero.")
    found: list[Block] = [Legend(tuple(keys))]
    found += [Prose(" ".join(notes), "note-line", "terminal")] if notes else []
    return [*found, Prose("Bold is best.", "note-line", "terminal", bold=True)] if bold else found


def _full(rows: Sequence[Measured], systems: Sequence[str]) -> Iterator[list[str]]:
    """Yield every number of a language with its interval, chance and the difference's interval."""
    for name in systems:
        for direction, measure, found in rows:
            if name not in found:
                continue
            row = found[name]
            cell = cell_of(row, digits=_digits(found))
            gap = cell.gap or Cell()
            chance = recalls.value_text(row.chance, measure)
            tied = numbers.count(row.n_tied) if isinstance(row, Entry) and row.n_tied else ""
            shown = [cell.text, cell.interval, chance, gap.marked, gap.interval, tied]
            yield [name, direction, measure_head(measure), *shown]
