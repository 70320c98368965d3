"""The kinds of error on the page of an inspection, with counts and examples."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.blocks import Block, Card, Cards, Fold, Heading, Prose, Text
from xlingual.report.examples import data_uri
from xlingual.report.findings.inspection import MOST_NAMED, POOL, wording
from xlingual.report.table import Cell, Column, Table, narrower
from xlingual.results.inspection import FailedQuery, InspectedEncoder, Inspection, ShownText
from xlingual.tasks import TASKS

MOST_PAIRS = 12  # language pairs in the table of kinds
_SHORT = {  # heads of columns
    "near-duplicate": "near-duplicate",
    "context": "same context",
    "hub": "hub",
    "own language": "own language",
    "near": "close behind",
    "nothing near": "nothing near",
    "other": "other",
}
_MEANINGS = {
    "near-duplicate": "the retrieved text is near-equal to the answer, or shows the query's own image",
    "hub": "the retrieved text is the nearest of very many queries",
    "near": "the answer's rank is at most {near}, little behind the cut-off",
    "nothing near": "the nearest text is less near than those of 95 % of the queries that were answered",
    "other": "none of these: a wrong text is plainly preferred",
}
_IN_POOL = {
    "near-duplicate": "the nearest wrong candidate is near-equal to an answer of the question",
    "context": "it is of the same paragraph (cluster) as the answer",
    "hub": "it is the nearest wrong candidate of very many questions",
    "own language": "it is in the language of the question, and the answer is not",
    "near": "fewer than {near} wrong candidates stand above the answer",
    "nothing near": "the nearest candidate is less near than those of 95 % of the answers that were found",
    "other": "none of these: a wrong candidate is plainly preferred",
}


def kinds(found: Inspection) -> list[Block]:
    """Return what happened where queries failed: counts, then of each encoder by language, and examples."""
    words = wording(found)
    shown = [
        kind
        for kind in _SHORT
        if any(each.n for one in found.encoders for each in one.kinds if each.kind == kind)
    ]
    if not shown:
        return [Prose("No query failed.", where="both")]
    meanings = {
        kind: (_IN_POOL if words is POOL else _MEANINGS)[kind].format(near=numbers.count(found.near or 0))
        for kind in shown
    }
    blocks: list[Block] = [_of_all(found, meanings)]
    if len(found.encoders) == 1:
        said = " ".join(f"{words.kinds[kind].capitalize()}: {meaning}." for kind, meaning in meanings.items())
        blocks = [_of_one(found, meanings), Prose(said, where="terminal")]
    folds = []
    for one in found.encoders:
        examples = [
            (words.kinds[each.kind].capitalize(), cards(each.examples, found))
            for each in one.kinds
            if each.examples
        ]
        inner: list[Block] = _by_language(one, shown)
        if examples:
            inner += [Heading("Examples"), Cards(examples)]
        if inner:
            alone = len(found.encoders) == 1
            title = "By language, with examples" if alone else one.encoder
            folds.append(Fold(title, inner, data=not alone, open=alone, where="page"))
    return [*blocks, *together(folds, "Each encoder by language, with examples")]


def together(folds: Sequence[Fold], title: str) -> Sequence[Block]:
    """Return the folds of encoders; many behind one line."""
    return folds if len(folds) <= MOST_NAMED else [Fold(title, folds, where="page")]


def _of_one(found: Inspection, meanings: dict[str, str]) -> Table:
    (one,), words = found.encoders, wording(found)
    rows = [
        [words.kinds[each.kind], Cell.count(each.n), _share(each.n, one.n_failed), meanings[each.kind]]
        for each in one.kinds
        if each.n
    ]
    heads = [
        Column("what ranked above" if words is POOL else "what happened", "name"),
        "missed" if words is POOL else "queries",
        "share",
        Column("meaning", "words", where="page"),
    ]
    return Table.of_texts("Kinds of error", heads, rows, titled=False, where="both", notes=_notes(found))


def _of_all(found: Inspection, meanings: dict[str, str]) -> Table:
    rows = []
    for one in found.encoders:
        by_kind = {each.kind: each.n for each in one.kinds}
        cells = [_share(by_kind[kind], one.n_failed) for kind in meanings]
        rows.append(
            [Cell(one.encoder), Cell.count(one.n_failed), _share(one.n_failed, one.n_queries), *cells]
        )
    failed = "missed" if wording(found) is POOL else "failed"
    heads = [
        Column("encoder", "name", data=True),
        failed,
        Column("of all"),
        *(Column(_SHORT[kind], meaning=meaning) for kind, meaning in meanings.items()),
    ]
    looks = narrower("of all", "near-duplicate", "nothing near", "other")
    return Table.of_texts(
        "Kinds of error", heads, rows, titled=False, where="both", looks=looks, notes=_notes(found)
    )


def _notes(found: Inspection) -> tuple[str, ...]:
    return ("Each has one kind, the first in this order that holds: " + ", ".join(_order(found)) + ".",)


def _order(found: Inspection) -> list[str]:
    known = _IN_POOL if wording(found) is POOL else _MEANINGS
    return [_SHORT[kind] for kind in known]


def _share(n: int, of: int) -> Cell:
    share = n / max(of, 1)
    return Cell(numbers.percent(share), value=share)


def _by_language(one: InspectedEncoder, shown: Sequence[str]) -> list[Block]:
    """Return the kinds of error by language pair; of a pool by language of questions, and of answers too."""
    pairs, found = [tuple(pair.split("->")) for pair in one.by_pair if "->" in pair], []
    for place, what in enumerate(("question", "answer")):
        parts = {"->".join(pair): pair[place] for pair in pairs}
        found.append(_by(f"By language of the {what}", what, one, shown, parts))
    found.append(_by("By language pair", "pair", one, shown, {pair: _pair(pair) for pair in one.by_pair}))
    return [table for table in found if table is not None]


def _by(
    title: str, head: str, one: InspectedEncoder, shown: Sequence[str], part_of: dict[str, str]
) -> Table | None:
    """Return the kinds of error by some parts of the queries, those with the most failures first."""
    if len(set(part_of.values())) < 2:
        return None
    asked, counts = Counter[str](), {kind: Counter[str]() for kind in shown}
    for pair, n in one.by_pair.items():
        asked[part_of[pair]] += n
    for each in one.kinds:
        for pair, n in each.by_pair.items():
            if n:
                counts[each.kind][part_of[pair]] += n
    failed = sum(counts.values(), Counter[str]())
    order = sorted(asked, key=lambda part: -failed[part])
    rows = [
        [
            part,
            Cell.count(asked[part]),
            _share(failed[part], asked[part]),
            *(_share(counts[kind][part], failed[part]) for kind in shown),
        ]
        for part in order[:MOST_PAIRS]
    ]
    heads = [Column(head, "name"), "asked", Column("failed"), *(Column(_SHORT[kind]) for kind in shown)]
    left = len(order) - len(rows)
    notes = (f"{numbers.count(left)} more not shown.",) if left > 0 else ()
    return Table.of_texts(title, heads, rows, notes=notes)


def _pair(name: str) -> str:
    if "->" in name:
        return name.replace("->", " → ")
    return name.replace("-", " → ", 1) if name.count("-") == 1 else name


def cards(examples: Sequence[FailedQuery], found: Inspection) -> list[Card]:
    """Return queries that failed, with what was found in place of the answer."""
    return [_card(one, found) for one in examples]


def _card(one: FailedQuery, found: Inspection) -> Card:
    pool = wording(found) is POOL
    others = [] if one.retrieved is None else [text(one.retrieved, "", "above" if pool else "retrieved")]
    others += [text(each, "", "above") for each in one.beside]
    if one.answer is not None:
        others.append(text(one.answer, "", "answer"))
    note = "" if others and one.retrieved is not None else "several texts tie for nearest"
    if one.rank is not None and pool:
        note = f"{numbers.counted(one.rank - 1, 'wrong candidate')} above the answer"
    elif one.rank is not None:
        note = f"{TASKS[found.task].own} ranked {numbers.count(one.rank)}"
    query = text(
        one.query, f"answer in {one.target}" if pool else f"to {one.target}", "question" if pool else "query"
    )
    return Card(query, others, note)


def text(one: ShownText, remark: str, what: str = "") -> Text:
    """Return a text with its image."""
    image = None if one.picture is None else data_uri(b64decode(one.picture))
    return Text(one.language, one.text, what, remark=remark, image=image, with_image=image is not None)
