"""The page of an image pivot: which map images chose, what it gains by language pair, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Fold, Page, Prose, Section
from xlingual.report.columns import Col, of_records
from xlingual.report.figures.repair import changes_of
from xlingual.report.table import Badge, Cell, Table
from xlingual.report.transforms import map_in_words
from xlingual.results.pivot import UNTESTED, Pivot, PivotChange, PivotPairs, PivotTried
from xlingual.results.repair import BETTER, UNCHANGED, UNDECIDED

T = TypeVar("T")
POOL = "multilingual-pool"
_TASKS = {
    "crosslingual-retrieval": "XLR",
    "backretrieval": "BkR",
    POOL: "one pool of all languages",
}
_FEW_LANGUAGES = 3  # that are all named
_SHOWN = 8  # rows of a table that a terminal shows
_LITTLE, _MUCH = 0.9, 2 / 3  # shares of neighbours that stay
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


def page(pivot: Pivot, *, title: str | None = None) -> Page:
    """Make the page of an image pivot."""
    return Page(
        kind="image pivot",
        title=title or f"Can images bring the languages of {pivot.encoder} together?",
        verdict=[Finding([sentence for sentence in findings(pivot) if sentence])],
        sections=[
            *([Section("Before and after", list(_before_and_after(pivot)), _ABOUT)] if pivot.changes else []),
            Section("Pairs", _pairs(pivot)),
            Section("What was tried", [_tried(pivot)], _HOW),
        ],
        facts=list(_facts(pivot).items()),
        warnings=pivot.warnings,
        conditions=[(key, [value]) for key, value in pivot.conditions.items()],
        methods=sorted({one.ci.method for one in pivot.changes if one.ci is not None}),
        names=[pivot.encoder],
    )


def _facts(pivot: Pivot) -> dict[str, str]:
    texts = ", ".join(f"{tag} {numbers.count(n)}" for tag, n in pivot.languages.items())
    use = "use it as" if pivot.outcome == BETTER else "the model"
    return {
        "encoder": pivot.encoder,
        "image encoder": pivot.image_encoder,
        "map": map_in_words(pivot.chosen),
        "others come to": named(pivot.to),
        "fitted on": f"{numbers.counted(pivot.items, 'item')} (texts: {texts})",
        "tested on": numbers.counted(pivot.tested_items, "item"),
        "dimensions": numbers.count(pivot.dim),
        **({} if pivot.judge is None else {"judged by": pivot.judge}),
        use: f"model:DIR::{pivot.spec or 'SPEC'}",
    }


def _before_and_after(pivot: Pivot) -> Iterator[Block]:
    """Yield all measures over all pairs, then each measure by pair, that of the outcome first."""
    whole = [one for one in pivot.changes if one.source is None]
    yield _changes("All language pairs", whole, Col("Measure", _measure, kind="name"))
    if any(one.task == "backretrieval" for one in whole):
        yield Prose(_BACKRETRIEVAL)
    for one in whole:
        pairs = _parts(pivot, one)
        if len(pairs) > 1:  # one pair alone says it twice
            yield from _by_pair(f"{_measure(one)}, by language pair", pairs, main=one is pivot.main)
    if pivot.kept:
        yield of_records(
            "Within a language: how many of the 10 nearest texts stay",
            pivot.kept,
            Col("Language", lambda one: named(one.language), kind="name"),
            Col("Share", "share"),
            Col("Texts", "texts"),
            where="both" if len(pivot.kept) <= _SHOWN else "written",
        )


def _parts(pivot: Pivot, whole: PivotChange) -> list[PivotChange]:
    """List the changes of a measure by language pair."""
    measure = whole.task, whole.measure
    return [one for one in pivot.changes if one.source is not None and (one.task, one.measure) == measure]


def _measure(one: PivotChange) -> str:
    return f"{_TASKS[one.task]}{',' if one.task == POOL else ''} {one.measure}"


def _label(one: PivotChange) -> str:
    """Name the languages of a change."""
    if one.source is None or one.target is None:
        return "all pairs"
    return f"{named(one.source)} → {named(one.target)}"


def _changes(title: str, changes: Sequence[PivotChange], name: Col, **more: Any) -> Table:  # noqa: ANN401
    return of_records(
        title,
        changes,
        name,
        Col("Before", "before"),
        Col("After", "after", main=True),
        Col("Difference", "difference", ci="ci"),
        Col("Queries", "n_queries", spare=True),
        csv="task measure source target before after difference ci.low ci.high n_queries",
        **more,
    )


def _by_pair(title: str, pairs: Sequence[PivotChange], *, main: bool) -> Iterator[Block]:
    """Yield a table of the pairs; of many a map and a fold, and in a terminal the worst and the best."""
    name, many = Col("Language pair", _label, kind="name"), len(pairs) > _SHOWN
    if main and not many:
        yield _changes(title, pairs, name)
        return
    if main:
        yield changes_of(
            pairs, _label, title=f"{title}: what changes", corner="from ↓\nto →", style="close single"
        )
    every = _changes(title, pairs, name, where="written")
    yield Fold(title, [every], hint=f"{len(pairs)} pairs, each with its interval", where="written")
    if main:
        ends, note = _ends(pairs, lambda one: one.difference, "gain")
        yield _changes(title, ends, name, where="screen", notes=(note,))


def _ends(rows: Sequence[T], value: Callable[[T], float], verb: str) -> tuple[list[T], str]:
    """Choose the rows with the least and the greatest values, and write a note that says so."""
    order, half = sorted(rows, key=value), _SHOWN // 2
    note = f"the {half} that {verb} least and the {half} that {verb} most, of {len(rows)}; --report has all"
    return [*order[:half], *order[-half:]], note


def _pairs(pivot: Pivot) -> list[Block]:
    """Count the pairs of each two languages; of many in a fold, and in a terminal the ends."""

    def table(pairs: Sequence[PivotPairs], **more: Any) -> Table:  # noqa: ANN401
        return of_records(
            "Pairs that the map was fitted on",
            pairs,
            Col("languages", lambda one: f"{named(one.source)} – {named(one.target)}", kind="name"),
            Col("different items, near images", "near", short="near images"),
            Col("one item or image", "same", spare=True),
            **more,
        )

    if len(pivot.pairs) <= _SHOWN:
        return [table(pivot.pairs)]
    ends, note = _ends(pivot.pairs, lambda one: one.near + one.same, "have")
    every = table(pivot.pairs, where="written")
    fold = Fold(every.title, [every], hint=f"{len(pivot.pairs)} language pairs", where="written")
    return [fold, table(ends, where="screen", notes=(note,))]


def _tried(pivot: Pivot) -> Table:
    def name(one: PivotTried) -> Cell:
        words = map_in_words(one.map)
        if one.map != pivot.chosen:
            return Cell(words)
        return Cell(words, mark=" ←", badges=(Badge("chosen", where="page"),))

    return of_records(
        "Maps: those that help, the best first, then the others",
        pivot.tried,
        Col("Map", name, kind="name"),
        Col(
            "Log rank falls by",
            lambda one: Cell.mean(one.fall, one.standard_error),
            short="falls by",
            meaning="mean log rank of held-out image pairs, with its standard error",
        ),
        Col(
            "By images alone",
            lambda one: Cell.mean(one.image_fall, one.image_error),
            short="images alone",
            main=True,
            meaning="the same for the pairs that images find without any text",
        ),
        Col("Image pairs", "pairs", short="pairs", spare=True),
        csv="map fall standard_error pairs image_fall image_error related",
        titled=False,
    )


def findings(pivot: Pivot) -> list[str]:
    """Write the verdict, what changes for which pairs, what it costs within languages, and its pairs."""
    near, same = sum(one.near for one in pivot.pairs), sum(one.same for one in pivot.pairs)
    if pivot.outcome == UNCHANGED:
        n = numbers.counted(len(pivot.tried) - 1, "map")
        return [
            f"No map was requested: {pivot.encoder} is unchanged."
            if pivot.given
            else f"No change: of {n} none is shown to rank image pairs of other items better than the "
            f"unchanged {pivot.encoder}. The encoder stays unchanged.",
            f"The data have {numbers.counted(same, 'pair')} of one item or image." if same else "",
        ]
    kinds = ((near, "of different items with near images"), (same, "of one item or image"))
    fitted = " and ".join(f"{numbers.counted(count, 'pair')} {what}" for count, what in kinds if count)
    pool, alike = _of_pool(pivot), pivot.near_duplicates
    return [
        _verdict(pivot),
        _gains_by_pair(pivot),
        f"In one pool of all languages: {pool.measure} {_values(pool)}." if pool is not None else "",
        _within(pivot),
        f"It was fitted on {fitted}." if fitted else "",
        f"{alike:,} items have near-equal texts or images in others: each such family stands in one part."
        if alike
        else "",
    ]


def _verdict(pivot: Pivot) -> str:
    words, change, pool = map_in_words(pivot.chosen), pivot.main, _of_pool(pivot)
    begin = f"{words[0].upper()}{words[1:]}, {'as asked' if pivot.given else 'chosen by images alone'},"
    if change is None or pivot.outcome == UNTESTED:
        return f"{begin} is written. Whether it improves search is not known: there was no test."
    does, ending = {
        BETTER: ("makes search better", "The interval excludes zero."),
        UNDECIDED: (
            "is not shown to help",
            "The interval contains zero: leave the encoder as it is, or test on more items.",
        ),
    }.get(pivot.outcome, ("makes search worse", "Leave the encoder as it is."))
    if pivot.outcome == UNDECIDED and pool is not None and pool.ci is not None and pool.ci.low > 0:
        ending = "The interval contains zero; but one pool of all languages gains."
    return (
        f"{begin} {does} with {pivot.encoder}: {_TASKS[change.task]} {change.measure} {_values(change)} over "
        f"{numbers.counted(change.n_queries, 'query', 'queries')} of "
        f"{numbers.counted(pivot.tested_items, 'item')} held out. {ending}"
    )


def _values(change: PivotChange) -> str:
    before, after = numbers.number(change.before), numbers.number(change.after)
    return f"{before} → {after}, {numbers.signed(change.difference, change.ci)}"


def _of_pool(pivot: Pivot) -> PivotChange | None:
    return next((one for one in pivot.changes if one.task == POOL), None)


def _gains_by_pair(pivot: Pivot) -> str:
    pairs = [] if pivot.main is None else _parts(pivot, pivot.main)
    if len(pairs) < 2:
        return ""
    most, least = (pick(pairs, key=lambda one: one.difference) for pick in (max, min))
    gain = sum(one.ci is not None and one.ci.low > 0 for one in pairs)
    lose = sum(one.ci is not None and one.ci.high < 0 for one in pairs)
    return (
        f"{gain} of {len(pairs)} language pairs gain, {lose} lose, each by its own interval: {_label(most)} "
        f"changes most ({numbers.signed(most.difference)}), {_label(least)} "
        f"{'gains least' if least.difference > 0 else 'is the worst'} ({numbers.signed(least.difference)})."
    )


def _within(pivot: Pivot) -> str:
    if not pivot.kept:
        return ""
    ordered = sorted(pivot.kept, key=lambda one: one.share)
    least = ordered[0].share
    cost = "little" if least >= _LITTLE else "much" if least < _MUCH else "something"
    if len(ordered) <= _FEW_LANGUAGES:
        stay = ", ".join(f"{numbers.number(one.share)} stay in {named(one.language)}" for one in pivot.kept)
    else:
        ends = [f"{numbers.number(one.share)} ({named(one.language)})" for one in (ordered[0], ordered[-1])]
        stay = f"{' to '.join(ends)} stay"
    return (
        f"Within languages it changes {cost}: among the 10 nearest texts of a text in its own language, "
        f"{stay}."
    )
