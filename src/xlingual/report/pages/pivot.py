"""The page of an image pivot: the verdict, before and after by language pair, the pairs, what was tried."""

from __future__ import annotations

from collections.abc import Iterator

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.findings.pivot import TASKS, findings, label
from xlingual.report.table import Badge, Cell, Column, Row, Table, narrower
from xlingual.report.transforms import map_in_words
from xlingual.results.pivot import BETTER, Pivot, PivotTried

_ABOUT = (
    "Measured on items that took no part in fitting or choosing, and that share no image or text with those "
    "that did. Differences are paired by query; each interval is for its own line alone."
)
_HOW = (
    "Each map was fitted on two thirds of the items for fitting, and judged on the last third, in three "
    "turns: on image pairs of items it had not seen, how far does the mean log rank of the partner fall? It "
    "must fall by 1.5 standard errors, or nothing is changed. Pairs that several maps find count more. It "
    "must fall by as much on the pairs that images find without any text. No translation is looked at, but "
    "where items with texts in two languages were allowed."
)
_BACKRETRIEVAL = (
    "Backretrieval was measured with another image encoder than the one that the pairs come from. It may "
    "still be kind to a map that was fitted on images: where translations are known, believe them."
)


def page(found: Pivot, *, title: str | None = None) -> Page:
    """Return the page of an image pivot."""
    methods = {one.ci.method for one in found.changes if one.ci is not None}
    return Page(
        kind="repair",
        title=title or f"Can images bring the languages of {found.encoder} together?",
        verdict=[Finding(findings(found))],
        sections=[
            *([Section("Before and after", list(_before_and_after(found)), _ABOUT)] if found.changes else []),
            Section("Pairs", [_pairs(found)]),
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
    texts = ", ".join(f"{tag} {numbers.count(n)}" for tag, n in found.languages.items())
    facts = {
        "encoder": found.encoder,
        "image encoder": found.image_encoder,
        "map": map_in_words(found.chosen),
        "others come to": named(found.to),
        "fitted on": f"{numbers.counted(found.items, 'item')} (texts: {texts})",
        "tested on": numbers.counted(found.tested_items, "item"),
        "dimensions": numbers.count(found.dim),
    }
    if found.judge is not None:
        facts["judged by"] = found.judge
    said = "use it as" if found.outcome == BETTER else "the model"
    return facts | {said: f"model:DIR::{found.spec or 'SPEC'}"}


def _before_and_after(found: Pivot) -> Iterator[Block]:
    columns = (
        Column("Language pair", "name", "language pair"),
        Column("Before", short="before"),
        Column("After", short="after", main=True),
        Column("Difference", short="difference", interval="interval"),
        Column("Queries", short="queries"),
    )
    for task, measure in dict.fromkeys((one.task, one.measure) for one in found.changes):
        changes = [one for one in found.changes if (one.task, one.measure) == (task, measure)]
        if len(changes) == 2:  # one pair alone says it twice
            changes = changes[1:]
        yield Table(
            f"{TASKS[task]}: {measure}",
            columns,
            tuple(
                Row(
                    (
                        Cell(label(one)),
                        Cell.of(one.before),
                        Cell.of(one.after),
                        Cell.difference(one.difference, one.ci),
                        Cell.count(one.n_queries),
                    )
                )
                for one in changes
            ),
            looks=narrower("queries"),
            records=[
                {
                    "task": task, "measure": measure, "source": one.source, "target": one.target,
                    "before": one.before, "after": one.after, "difference": one.difference,
                    "low": one.ci and one.ci.low, "high": one.ci and one.ci.high, "n_queries": one.n_queries,
                }
                for one in changes
            ],
            where="both",
        )  # fmt: skip
        if task == "backretrieval":
            yield Prose(_BACKRETRIEVAL)
    if found.kept:
        rows = [(named(one.language), Cell.of(one.share), Cell.count(one.texts)) for one in found.kept]
        yield Table.of_texts(
            "Of the 10 nearest texts in the same language, how many stay",
            ("language", "share", "texts"),
            rows,
            where="both",
        )


def _pairs(found: Pivot) -> Table:
    rows = [
        (f"{named(one.source)} – {named(one.target)}", Cell.count(one.near), Cell.count(one.same))
        for one in found.pairs
    ]
    return Table.of_texts(
        "Pairs that the map was fitted on",
        ("languages", "different items, near images", "one item or image"),
        rows,
        where="both",
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
        Column("Mean log rank falls by", short="fall", main=True),
        Column("Standard error", short="s.e."),
        Column("Image pairs", short="pairs"),
    )
    return Table(
        "Maps, the best first",
        columns,
        tuple(
            Row(
                (
                    _name(found, one),
                    Cell(numbers.signed(one.fall), value=one.fall),
                    Cell.of(one.standard_error),
                    Cell.count(one.pairs),
                )
            )
            for one in found.tried
        ),
        titled=False,
        records=[
            {"map": one.map, "fall": one.fall, "standard_error": one.standard_error, "pairs": one.pairs}
            for one in found.tried
        ],
        where="both",
    )


def _name(found: Pivot, one: PivotTried) -> Cell:
    words = map_in_words(one.map)
    if one.map != found.chosen:
        return Cell(words)
    return Cell(words, mark=" ←", badges=(Badge("chosen", where="page"),))
