"""The page of an inspection: of each encoder its weak slices, kinds of error and hubs, with examples."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.blocks import Block, Card, Cards, Fold, Page, Prose, Section
from xlingual.report.findings.inspection import MOST_NAMED, POOL, Wording, cut_of, findings, in_words, wording
from xlingual.report.pages.inspection_kinds import cards, kinds, text, together
from xlingual.report.table import Cell, Column, Table, narrower
from xlingual.report.words import explained, stop
from xlingual.results.inspection import InspectedEncoder, Inspection, WeakSlice
from xlingual.tasks import TASKS

_SLICES = (
    "{texts} are divided by columns of the {data}, by language, script, length, rare words, digits, "
    "near-equal texts, words{images}, alone and two at a time, without asking an encoder. A "
    "slice is listed where it is worse than the rest, at the same language pairs, beyond what chance gives "
    "to the worst of all slices: where features say nothing, any is listed in at most {alpha} of data sets. "
    "Each difference has an interval of its own, and looks somewhat large: the worst were chosen."
)
_BEYOND = "of at least 5 {}, and of more than others by two standard deviations."


def _terms(found: Inspection, words: Wording) -> list[tuple[str, str]]:
    terms = [
        ("Slice", f"{words.text.capitalize()}s that share one property, or two."),
        (
            "Share of errors",
            f"Of what all queries miss to the value 1, the part that these {words.text}s miss.",
        ),
    ]
    if words is not POOL:
        return [*terms, ("Hub", "A text that is the nearest " + _BEYOND.format("queries"))]
    return [
        *terms,
        ("Wrong candidate", "One that answers the question in no language."),
        (
            "Missed answer",
            "Of each question the best answer in each language counts. It is missed where "
            f"{numbers.counted(cut_of(found), 'wrong candidate')} or more rank above it it; other answers of "
            "the question are not counted.",
        ),
        ("Hub", "A candidate that is the nearest wrong one " + _BEYOND.format("questions of a language")),
    ]


def page(found: Inspection, *, title: str | None = None) -> Page:
    """Return the page of an inspection."""
    words = wording(found)
    about = _SLICES.format(
        texts=f"{words.text.capitalize()}s",
        data="pool" if words is POOL else "manifest",
        images=" and looks of the image" if found.images else "",
        alpha=numbers.percent(found.alpha),
    )
    return Page(
        kind="inspection",
        title=title or f"Where do encoders fail on {found.data}?",
        verdict=findings(found),
        sections=[
            Section("Slices that fail", _slices(found, words), about),
            Section("What ranked above the answers" if words is POOL else "Kinds of error", kinds(found)),
            Section(
                "Hubs, and answers that no question retrieves"
                if words is POOL
                else "Hubs, and texts that no query retrieves",
                _hubs(found, words),
            ),
        ],
        facts=_facts(found),
        about=explained((found.task, found.measure)),
        terms=_terms(found, words),
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
        f"{wording(found).text}s are divided by": numbers.in_words(features, 20),
    }
    return list((facts | ({"images": found.images} if found.images else {})).items())


def _slices(found: Inspection, words: Wording) -> list[Block]:
    several = len(found.encoders) > 1
    tested = [
        f"{numbers.counted(one.n_slices, 'slice')} of {words.counted(one.n_texts)}" for one in found.encoders
    ]
    if len(set(tested)) > 1:
        tested = [f"{one.encoder}: {said}" for one, said in zip(found.encoders, tested, strict=True)]
    about = f"Tested were {numbers.in_words(list(dict.fromkeys(tested)), MOST_NAMED)}."
    fixed = [one for one in found.encoders if one.fixed > 0.1]
    if fixed:
        about += (
            f" {numbers.percent(max(one.fixed for one in fixed))} of the {words.text}s have a cluster like "
            "no other, so that the test cannot move them."
        )
    if not any(one.slices for one in found.encoders):
        return [Prose(f"No slice is worse than the rest beyond chance. {about}", where="both")]
    many = len(found.encoders) > MOST_NAMED
    blocks: list[Block] = [_table(found, found.encoders, words, about, most=1 if many else None)]
    if not several:
        return [
            *blocks,
            *(_fold(found, each, words, open=not place) for place, each in enumerate(_only(found))),
        ]
    folds = []
    for one in found.encoders:
        if not one.slices:
            continue
        groups = [(in_words(each.conditions), cards(each.examples, found)) for each in one.slices]
        inner: list[Block] = [_table(found, [one], words)] if many else []
        inner += [_overlaps(each, words) for each in one.slices if each.overlaps]
        inner += [Cards(kept)] if (kept := [group for group in groups if group[1]]) else []
        folds.append(Fold(one.encoder, inner, data=True, where="page"))
    return [*blocks, *together(folds, "Slices of each encoder, with examples")]


def _only(found: Inspection) -> Sequence[WeakSlice]:
    """Return the slices of the only encoder that have something to show."""
    return [each for each in found.encoders[0].slices if each.examples or each.overlaps]


def _fold(found: Inspection, each: WeakSlice, words: Wording, *, open: bool) -> Fold:
    inner: list[Block] = [Cards([("", cards(each.examples, found))])] if each.examples else []
    inner += [_overlaps(each, words)] if each.overlaps else []
    return Fold(in_words(each.conditions), inner, open=open, where="page")


def _table(
    found: Inspection,
    encoders: Sequence[InspectedEncoder],
    words: Wording,
    about: str = "",
    *,
    most: int | None = None,
) -> Table:
    """Return the slices of some encoders; of each `most` of them, in fewer columns then."""
    rows = [_row(one, each) for one in encoders for each in one.slices[:most]]
    left = sum(len(one.slices) for one in encoders) - len(rows)
    if left:
        about += f" Of each encoder the worst slice is shown; {numbers.count(left)} more are on the page."
    heads = [
        Column("encoder", "name", data=True),
        Column(f"{words.text}s with", "name", data=True),
        Column(f"{words.text}s"),
        Column(TASKS[found.task].measure_name(found.measure) if words is POOL else found.measure),
        Column("difference", meaning=f"to the other {words.text}s, at the same languages"),
        Column("of errors"),
        Column("p", meaning="corrected for all slices that were tested"),
        Column(f"of {words.text}s"),
        Column(f"same {words.text}s", meaning="other slices that are worse only as far as they share these"),
    ]
    looks = narrower(f"same {words.text}s", f"of {words.text}s", "p", f"{words.text}s")
    table = Table.of_texts(
        "Slices that fail",
        heads,
        rows,
        titled=False,
        notes=(about,) if about else (),
        where="both",
        looks=looks,
    )
    return table.of(range(len(encoders) == 1, len(heads) if most is None else 6))


def _row(one: InspectedEncoder, each: WeakSlice) -> list[Cell]:
    return [
        Cell(one.encoder),
        Cell(in_words(each.conditions)),
        Cell.count(each.n),
        Cell.of(each.value),
        Cell.difference(each.difference, each.ci),
        Cell(numbers.percent(each.of_errors), value=each.of_errors),
        Cell(numbers.p_value(each.p), value=each.p),
        Cell(numbers.percent(each.of_texts), value=each.of_texts),
        Cell.count(each.n_overlaps),
    ]


def _overlaps(each: WeakSlice, words: Wording) -> Table:
    rows = [
        [in_words(one.conditions), Cell.count(one.n), Cell(numbers.percent(one.shared), value=one.shared)]
        for one in each.overlaps
    ]
    left = each.n_overlaps - len(each.overlaps)
    notes = (f"{numbers.counted(left, 'more slice')} not shown.",) if left else ()
    title = f"Worse for the same {words.text}s as {in_words(each.conditions)}"
    return Table.of_texts(title, [f"{words.text}s with", f"{words.text}s", "shared"], rows, notes=notes)


def _hubs(found: Inspection, words: Wording) -> list[Block]:
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
        Column("encoder", "name", data=True),
        "hubs",
        Column("failures they take"),
        Column(
            "never found",
            meaning=f"share of the {'answers' if words is POOL else 'targets'} that are among no query's ten "
            "nearest",
        ),
        Column("by chance", meaning="the same share if nearest texts were drawn at random"),
    ]
    notes = tuple(dict.fromkeys(stop(one.hubs.note) for one in found.encoders if one.hubs.note))
    blocks: list[Block] = [
        Table.of_texts("Hubs", heads, rows, titled=False, notes=notes, where="both").without_empty()
    ]
    folds = []
    for one in found.encoders:
        largest = [
            text(
                each.text,
                f"nearest {'wrong candidate ' if words is POOL else ''}of {numbers.count(each.n)} "
                f"{'questions' if words is POOL else 'queries'} in {each.source}, and "
                f"{numbers.count(each.failed)} of them {'miss an answer' if words is POOL else 'failed'}",
            )
            for each in one.hubs.largest
        ]
        unfound = [text(each, "") for each in one.hubs.unfound]
        groups = [
            (name, [Card(None, texts)])
            for name, texts in (("Largest hubs", largest), ("Retrieved by no query", unfound))
            if texts
        ]
        if groups:
            alone = len(found.encoders) == 1
            title = "Their texts" if alone else one.encoder
            folds.append(Fold(title, [Cards(groups)], data=not alone, open=alone, where="page"))
    return [*blocks, *together(folds, "Hubs of each encoder")]


def _share(value: float | None) -> Cell:
    return Cell(numbers.MISSING) if value is None else Cell(numbers.percent(value), value=value)
