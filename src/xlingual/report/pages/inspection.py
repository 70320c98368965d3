"""The page of an inspection: of each encoder its weak slices, kinds of error and hubs, with examples."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Card, Cards, Fold, Page, Prose, Section, Text
from xlingual.report.examples import data_uri
from xlingual.report.findings.inspection import KINDS, findings, in_words
from xlingual.report.marking import ENCODER
from xlingual.report.table import Cell, Column, Table, narrower
from xlingual.results.inspection import FailedQuery, InspectedEncoder, Inspection, ShownText, WeakSlice
from xlingual.tasks import TASKS, Task

MOST_PAIRS = 12  # language pairs in the table of kinds
_OF_KINDS = {
    "near-duplicate": "The retrieved text is near-equal to the answer, or shows the query's own image.",
    "hub": "The retrieved text is the nearest of very many queries.",
    "near": "The answer's rank is little behind the cut-off: at most {near}.",
    "nothing near": "The nearest text is less near than those of 95 % of the queries that were answered.",
    "other": "None of these: a wrong text is plainly preferred.",
}
_SLICES = (
    "Texts are divided by columns of the manifest, by language, script, length, rare words, digits, "
    "near-equal texts, words and looks of the image, alone and two at a time, without asking an encoder. A "
    "slice is listed where it is worse than the rest, at the same language pairs, beyond what chance gives "
    "to the worst of all slices: where features say nothing, any is listed in at most {alpha} of data sets. "
    "Each difference has an interval of its own, and looks somewhat large: the worst were chosen."
)
TERMS = [
    ("Slice", "Texts that share one property, or two."),
    (
        "Share of errors",
        "Of what all queries miss to the value 1, the part that these texts miss.",
    ),
    (
        "Hub",
        "A text that is the nearest of at least 5 queries, and of more than others by two standard "
        "deviations.",
    ),
]


def page(found: Inspection, *, title: str | None = None) -> Page:
    """Return the page of an inspection."""
    task, alpha = TASKS[found.task], numbers.percent(found.alpha)
    return Page(
        kind="inspection",
        title=title or f"Where do encoders fail on {found.data}?",
        verdict=findings(found),
        sections=[
            Section("Slices that fail", _slices(found, task), _SLICES.format(alpha=alpha)),
            Section("Kinds of error", _kinds(found, task)),
            Section("Hubs, and texts that nothing finds", _hubs(found)),
        ],
        facts=_facts(found),
        about=words.explained((found.task, found.measure)),
        terms=TERMS,
        warnings=found.warnings,
        methods=sorted({one.ci.method for encoder in found.encoders for one in encoder.slices}),
        names=[one.encoder for one in found.encoders],
    )


def _facts(found: Inspection) -> list[tuple[str, str]]:
    features = [f"{name} ({parts})" for name, parts in found.features.items()]
    facts = {
        "task": TASKS[found.task].title,
        "measure": found.measure,
        "data": found.data,
        "texts are divided by": numbers.in_words(features, 20),
    }
    return list((facts | ({"images": found.images} if found.images else {})).items())


def _slices(found: Inspection, task: Task) -> list[Block]:
    rows = [_row(one, each) for one in found.encoders for each in one.slices]
    tested = [
        f"{one.encoder}: {numbers.counted(one.n_slices, 'slice')} of {numbers.counted(one.n_texts, 'text')}"
        for one in found.encoders
    ]
    about = f"Tested were {numbers.in_words(tested)}."
    fixed = [one for one in found.encoders if one.fixed > 0.1]
    if fixed:
        about += (
            f" {numbers.percent(max(one.fixed for one in fixed))} of the texts have a cluster like no other, "
            "so that the test cannot move them."
        )
    if not rows:
        return [Prose(f"No slice is worse than the rest beyond chance. {about}", where="both")]
    heads = [
        Column(ENCODER, "name", data=True),
        Column("texts with", "name"),
        Column("texts"),
        Column(found.measure),
        Column("difference", meaning="to the other texts, at the same language pairs"),
        Column("p", meaning="corrected for all slices that were tested"),
        Column("of texts"),
        Column("of errors"),
        Column("same texts", meaning="other slices that are worse only as far as they share its texts"),
    ]
    several = len(found.encoders) > 1
    looks = narrower("same texts", "of texts", "p", "texts")
    table = Table.of_texts(
        "Slices that fail", heads, rows, titled=False, notes=(about,), where="both", looks=looks, names=2
    )
    table = table if several else table.of(range(1, len(heads)))
    blocks: list[Block] = [table]
    for one in found.encoders:
        for place, each in enumerate(one.slices):
            name = f"{one.encoder} · " if several else ""
            inner: list[Block] = [_cards(each.examples, task)] if each.examples else []
            if each.overlaps:
                inner.append(_overlaps(each))
            if inner:
                blocks.append(Fold(f"{name}{in_words(each.conditions)}", inner, open=not place, where="page"))
    return blocks


def _row(one: InspectedEncoder, each: WeakSlice) -> list[Cell]:
    return [
        Cell(one.encoder),
        Cell(in_words(each.conditions)),
        Cell.count(each.n),
        Cell.of(each.value),
        Cell.difference(each.difference, each.ci),
        Cell(numbers.p_value(each.p), value=each.p),
        Cell(numbers.percent(each.of_texts), value=each.of_texts),
        Cell(numbers.percent(each.of_errors), value=each.of_errors),
        Cell.count(each.n_overlaps),
    ]


def _overlaps(each: WeakSlice) -> Table:
    rows = [
        [in_words(one.conditions), Cell.count(one.n), Cell(numbers.percent(one.shared), value=one.shared)]
        for one in each.overlaps
    ]
    left = each.n_overlaps - len(each.overlaps)
    notes = (f"{numbers.counted(left, 'more slice')} not shown.",) if left else ()
    return Table.of_texts("Worse for the same texts", ["texts with", "texts", "shared"], rows, notes=notes)


def _kinds(found: Inspection, task: Task) -> list[Block]:
    shown = [
        kind
        for kind in KINDS
        if any(each.n for one in found.encoders for each in one.kinds if each.kind == kind)
    ]
    if not shown:
        return [Prose("No query failed.", where="both")]
    rows = []
    for one in found.encoders:
        by_kind = {each.kind: each for each in one.kinds}
        cells = [Cell.count(one.n_failed)]
        for kind in shown:
            n = by_kind[kind].n
            cells.append(Cell(f"{numbers.count(n)} ({numbers.percent(n / max(one.n_failed, 1))})", value=n))
        rows.append([Cell(one.encoder), *cells])
    heads = [Column(ENCODER, "name", data=True), "failed", *(Column(KINDS[kind]) for kind in shown)]
    notes = [f"{KINDS[kind].capitalize()}: {_OF_KINDS[kind].format(near=found.near)}" for kind in shown]
    blocks: list[Block] = [
        Table.of_texts("Kinds of error", heads, rows, titled=False, notes=tuple(notes), where="both")
    ]
    for one in found.encoders:
        pairs = _by_pair(one, shown)
        cards = [
            (KINDS[each.kind].capitalize(), [_card(example, task) for example in each.examples])
            for each in one.kinds
            if each.examples
        ]
        inner: list[Block] = [*([pairs] if pairs else []), *([Cards(cards)] if cards else [])]
        if inner:
            blocks.append(Fold(one.encoder, inner, data=True, where="page"))
    return blocks


def _by_pair(one: InspectedEncoder, shown: Sequence[str]) -> Table | None:
    """Return the kinds of error by language pair, those with the most failures first."""
    total: dict[str, int] = {}
    for each in one.kinds:
        for pair, n in each.by_pair.items():
            total[pair] = total.get(pair, 0) + n
    if len(total) < 2:
        return None
    by_kind = {each.kind: each.by_pair for each in one.kinds}
    order = sorted(total, key=lambda pair: -total[pair])
    rows = [
        [_pair(pair), Cell.count(total[pair]), *(Cell.count(by_kind[kind].get(pair, 0)) for kind in shown)]
        for pair in order[:MOST_PAIRS]
    ]
    heads = [Column("pair", "name"), "failed", *(Column(KINDS[kind]) for kind in shown)]
    left = len(order) - len(rows)
    notes = (f"{numbers.counted(left, 'more pair')} not shown.",) if left > 0 else ()
    return Table.of_texts("By language pair", heads, rows, notes=notes)


def _pair(name: str) -> str:
    return name.replace("-", " → ", 1) if name.count("-") == 1 else name


def _hubs(found: Inspection) -> list[Block]:
    rows = [
        [
            Cell(one.encoder),
            Cell.count(one.hubs.n),
            _share(one.hubs.of_errors),
            _share(one.hubs.never),
            _share(one.hubs.never_by_chance),
        ]
        for one in found.encoders
    ]
    heads = [
        Column(ENCODER, "name", data=True),
        "hubs",
        Column("failures they take"),
        Column("never found", meaning="share of the targets that are among no query's ten nearest"),
        Column("by chance", meaning="the same by chance"),
    ]
    notes = tuple(dict.fromkeys(words.stop(one.hubs.note) for one in found.encoders if one.hubs.note))
    blocks: list[Block] = [
        Table.of_texts("Hubs", heads, rows, titled=False, notes=notes, where="both").without_empty()
    ]
    for one in found.encoders:
        largest = [
            _text(
                each.text,
                f"nearest of {numbers.count(each.n)} queries in {each.source}, and "
                f"{numbers.count(each.failed)} of them failed",
            )
            for each in one.hubs.largest
        ]
        unfound = [_text(each, "") for each in one.hubs.unfound]
        groups = [
            (name, [Card(None, texts)])
            for name, texts in (("Largest hubs", largest), ("Found by no query", unfound))
            if texts
        ]
        if groups:
            blocks.append(Fold(one.encoder, [Cards(groups)], data=True, where="page"))
    return blocks


def _share(value: float | None) -> Cell:
    return Cell(numbers.MISSING) if value is None else Cell(numbers.percent(value), value=value)


def _cards(examples: Sequence[FailedQuery], task: Task) -> Cards:
    return Cards([("", [_card(one, task) for one in examples])])


def _card(one: FailedQuery, task: Task) -> Card:
    retrieved = [] if one.retrieved is None else [_text(one.retrieved, "", "retrieved")]
    note = "several texts tie for nearest" if one.retrieved is None else ""
    if one.rank is not None:
        note = f"{task.own} ranked {numbers.count(one.rank)}"
    return Card(_text(one.query, f"to {one.target}", "query"), retrieved, note)


def _text(one: ShownText, remark: str, what: str = "") -> Text:
    image = None if one.picture is None else data_uri(b64decode(one.picture))
    return Text(one.language, one.text, what, remark=remark, image=image, with_image=image is not None)
