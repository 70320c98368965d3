"""The page of an image pivot: the verdict, before and after by language pair, the pairs, what was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import to_builtins

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Fold, Page, Prose, Section
from xlingual.report.figures.repair import changes_of
from xlingual.report.findings.pivot import POOL, TASKS, findings, label
from xlingual.report.table import Badge, Cell, Column, Row, Table, Where, narrower
from xlingual.report.transforms import map_in_words
from xlingual.results.pivot import Pivot, PivotChange, PivotPairs, PivotTried
from xlingual.results.repair import BETTER

T = TypeVar("T")
_FEW_LANGUAGES = 5  # of which each is named
_SHOWN = 8  # rows of a table that a terminal shows
_ABOUT = (
    "Measured on items that were not used for fitting or choosing and share no image or text with those "
    "that were. Differences are paired by query; each interval is for its own line alone."
)
_HOW = (
    "Each map was fitted on two thirds of the items for fitting, and judged on the last third, in three "
    "turns: on image pairs of items it had not seen, how far does the mean log rank of the partner fall? It "
    "must fall by 1.5 standard errors, and by as much on the pairs that images find without any text; and "
    "texts of these must be nearer than the same texts paired at random. Of the maps that pass, the order "
    "goes by both falls, what images alone say four times; where none passes, nothing is changed. Pairs that "
    "several maps find count more. No translation is looked at, but where items with texts in two languages "
    "were allowed."
)
_BACKRETRIEVAL = (
    "Backretrieval was measured with another image encoder than the one that the pairs come from. It may "
    "still be kind to a map that was fitted on images: where translations are known, believe them."
)


def page(found: Pivot, *, title: str | None = None) -> Page:
    """Return the page of an image pivot."""
    methods = {one.ci.method for one in found.changes if one.ci is not None}
    return Page(
        kind="image pivot",
        title=title or f"Can images bring the languages of {found.encoder} together?",
        verdict=[Finding(findings(found))],
        sections=[
            *([Section("Before and after", list(_before_and_after(found)), _ABOUT)] if found.changes else []),
            Section("Pairs", _pairs(found)),
            *([Section("Do more images help?", [_curve(found)])] if found.curve else []),
            Section("What was tried", [_tried(found)], _HOW),
        ],
        facts=list(_facts(found).items()),
        warnings=found.warnings,
        conditions=[(key, [value]) for key, value in found.conditions.items()],
        methods=sorted(methods),
        names=[found.encoder],
    )


def _facts(found: Pivot) -> dict[str, str]:
    texts = "texts: " + ", ".join(f"{tag} {numbers.count(n)}" for tag, n in found.languages.items())
    if len(found.languages) > _FEW_LANGUAGES:
        total = numbers.count(sum(found.languages.values()))
        texts = f"{total} texts in {len(found.languages)} languages"
    facts = {
        "encoder": found.encoder,
        "image encoder": found.image_encoder,
        "map": map_in_words(found.chosen),
        "others come to": named(found.to),
        "fitted on": f"{numbers.counted(found.items, 'item')} ({texts})",
        "tested on": numbers.counted(found.tested_items, "item"),
        "dimensions": numbers.count(found.dim),
    }
    if found.judge is not None:
        facts["judged by"] = found.judge
    said = "use it as" if found.outcome == BETTER else "the model"
    return facts | {said: f"model:DIR::{found.spec or 'SPEC'}"}


def _before_and_after(found: Pivot) -> Iterator[Block]:
    """Yield all measures over all pairs, then each measure by pair, that of the outcome first."""
    whole = [one for one in found.changes if one.source is None]
    yield _changes("All language pairs", whole, [_measure(one) for one in whole], head="measure")
    if any(one.task == "backretrieval" for one in whole):
        yield Prose(_BACKRETRIEVAL)
    for one in whole:
        pairs = [
            pair
            for pair in found.changes
            if (pair.task, pair.measure) == (one.task, one.measure) and pair.source is not None
        ]
        if len(pairs) > 1:  # one pair alone says it twice
            yield from _by_pair(_measure(one), pairs, main=one is found.main)
    if found.kept:
        yield _kept(found)


def _measure(one: PivotChange) -> str:
    return f"{TASKS[one.task]}, {one.measure}" if one.task == POOL else f"{TASKS[one.task]} {one.measure}"


def _by_pair(measure: str, pairs: Sequence[PivotChange], *, main: bool) -> Iterator[Block]:
    """Yield a table of the pairs; of many a map and a fold, and in a terminal the worst and the best."""
    title = f"{measure}, by language pair"
    many = len(pairs) > _SHOWN
    every = _changes(
        title, pairs, [label(one) for one in pairs], where="written" if many or not main else "both"
    )
    if not many and main:
        yield every
        return
    if many and main:
        yield changes_of(
            pairs, label, title=f"{title}: what changes", corner="from ↓\nto →", style="close single"
        )
    yield Fold(title, [every], hint=f"{len(pairs)} pairs, each with its interval", where="written")
    if main:
        ends, note = _ends(pairs, lambda one: one.difference, "gain")
        yield _changes(title, ends, [label(one) for one in ends], where="screen", notes=(note,))


def _ends(rows: Sequence[T], value: Callable[[T], float], verb: str) -> tuple[list[T], str]:
    """Return the rows with the least and the greatest values, and a note that says so."""
    order, half = sorted(rows, key=value), _SHOWN // 2
    note = f"the {half} that {verb} least and the {half} that {verb} most, of {len(rows)}; --report has all"
    return [*order[:half], *order[-half:]], note


def _changes(
    title: str,
    changes: Sequence[PivotChange],
    names: Sequence[str],
    *,
    head: str = "language pair",
    where: Where = "both",
    notes: tuple[str, ...] = (),
) -> Table:
    columns = (
        Column(head.capitalize(), "name", head),
        Column("Before", short="before"),
        Column("After", short="after", main=True),
        Column("Difference", short="difference", interval="interval"),
        Column("Queries", short="queries"),
    )
    return Table(
        title,
        columns,
        tuple(
            Row(
                (
                    Cell(name),
                    Cell.of(one.before),
                    Cell.of(one.after),
                    Cell.difference(one.difference, one.ci, signed=True),
                    Cell.count(one.n_queries),
                )
            )
            for name, one in zip(names, changes, strict=True)
        ),
        looks=narrower("queries"),
        in_verdict=("queries",),
        records=[
            {
                "task": one.task, "measure": one.measure, "source": one.source, "target": one.target,
                "before": one.before, "after": one.after, "difference": one.difference,
                "low": one.ci and one.ci.low, "high": one.ci and one.ci.high, "n_queries": one.n_queries,
            }
            for one in changes
        ],
        where=where,
        notes=notes,
    )  # fmt: skip


def _kept(found: Pivot) -> Table:
    rows = [(named(one.language), Cell.of(one.share), Cell.count(one.texts)) for one in found.kept]
    return Table.of_texts(
        "Within a language: how many of the 10 nearest texts stay",
        ("language", "share", "texts"),
        rows,
        where="both" if len(rows) <= _SHOWN else "written",
    )


def _pairs(found: Pivot) -> list[Block]:
    """Return how many pairs each two languages have; of many in a fold, and in a terminal the ends."""
    title = "Pairs that the map was fitted on"
    if len(found.pairs) <= _SHOWN:
        return [_pairs_table(title, found.pairs)]
    ends, note = _ends(found.pairs, lambda one: one.near + one.same, "have")
    fold = Fold(
        title,
        [_pairs_table(title, found.pairs, "written")],
        hint=f"{len(found.pairs)} language pairs",
        where="written",
    )
    return [fold, _pairs_table(title, ends, "screen", (note,))]


def _pairs_table(
    title: str, pairs: Sequence[PivotPairs], where: Where = "both", notes: tuple[str, ...] = ()
) -> Table:
    columns = (
        Column("languages", "name"),
        Column("different items, near images", short="near images"),
        Column("one item or image"),
    )
    return Table.of_texts(
        title,
        columns,
        [
            (f"{named(one.source)} – {named(one.target)}", Cell.count(one.near), Cell.count(one.same))
            for one in pairs
        ],
        where=where,
        notes=notes,
        looks=narrower("one item or image"),
    )


def _curve(found: Pivot) -> Table:
    main = found.main
    measure = "tested" if main is None else f"{TASKS[main.task]} {main.measure}"
    rows = [
        (
            numbers.count(one.items),
            Cell.count(one.pairs),
            map_in_words(one.chosen),
            Cell.of(one.value),
            Cell(numbers.signed(one.fall), value=one.fall),
        )
        for one in found.curve
    ]
    return Table.of_texts(
        "Fitted on fewer items, tested on the same",
        ("items", "pairs", "map", measure, "fall of the mean log rank"),
        rows,
        words=["map"],
        where="both",
        looks=narrower("fall of the mean log rank", "pairs"),
    )


def _tried(found: Pivot) -> Table:
    columns = (
        Column("Map", "name", "map"),
        Column(
            "Log rank falls by",
            short="falls by",
            meaning="mean log rank of held-out image pairs, with its standard error",
        ),
        Column(
            "By images alone",
            short="images alone",
            main=True,
            meaning="the same for the pairs that images find without any text",
        ),
        Column("Image pairs", short="pairs"),
    )
    return Table(
        "Maps: those that help, the best first, then the others",
        columns,
        tuple(
            Row(
                (
                    _name(found, one),
                    Cell(numbers.plus_minus(one.fall, one.standard_error), value=one.fall),
                    Cell(numbers.plus_minus(one.image_fall, one.image_error), value=one.image_fall),
                    Cell.count(one.pairs),
                )
            )
            for one in found.tried
        ),
        titled=False,
        looks=narrower("pairs"),
        records=[to_builtins(one) for one in found.tried],
        where="both",
    )


def _name(found: Pivot, one: PivotTried) -> Cell:
    words = map_in_words(one.map)
    if one.map != found.chosen:
        return Cell(words)
    return Cell(words, mark=" ←", badges=(Badge("chosen", where="page"),))
