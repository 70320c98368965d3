"""The tables of a multilingual pool: boards, languages, alignment, and the worst questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, TypeAlias

from xlingual.report import numbers
from xlingual.report.blocks import Block, Card, Cards, Fold, Heading, Prose, Text
from xlingual.report.figures import multilingual_pool as figures
from xlingual.report.figures.labels import shortened
from xlingual.report.leaders import BoardRow
from xlingual.report.pages import hubs
from xlingual.report.pages.boards import boards, notes
from xlingual.report.pool_views import (
    FOUND,
    ONE_TARGET,
    EncoderViews,
    amount,
    languages_of,
    question_and_answer_languages,
    tables_of,
    views_of,
)
from xlingual.report.table import Badge, Cell, Column, Table, TableRoom, narrower
from xlingual.results import Results
from xlingual.tasks import Task

MOST_ENCODERS, MOST_QUESTIONS, MOST_ABOVE, MOST_ANSWERS = 3, 5, 5, 2  # whose texts are shown
MOST_LETTERS = 400  # of a text: a candidate may come with a whole paragraph
MOST_LANGUAGES = 8  # of the matrix in a terminal
DELTA = ("remove_one", "relative_delta")
ALONE = "monolingual_pool_average"
RANKS = "monolingual → here"
SPARE = ("monolingual", RANKS, "behind")  # columns of a terminal that go one after the other
LOOKS = (
    TableRoom(),
    *(TableRoom(dropped=SPARE[:n], names=width) for n in (1, 2, 3) for width in (28, 14)),
    *(TableRoom(dropped=SPARE, names=width, badges="none") for width in (28, 14)),
)
ALIGNED = (  # columns of weak and strong alignment: key, name on the page, in a terminal, meaning
    ("weak", "weak", "weak", "share of questions whose nearest candidate in one other language is an answer"),
    ("weak_own", "weak, own language", "own", "the same in the question's language"),
    (
        "strong",
        "strong",
        "strong",
        "share of pairs of an answer in another language and a wrong candidate in the question's where the "
        "answer is nearer",
    ),
    ("strict_own", "strong, every pair", "every pair", "questions with all these pairs in that order"),
    ("strict", "strict", "strict", "questions with all answers before all other candidates"),
)
Views: TypeAlias = Sequence[EncoderViews]
Shown: TypeAlias = tuple[Column, Callable[[EncoderViews], Cell]]  # a column, and its cell for an encoder
NAME: Shown = (Column("encoder", "name", data=True), lambda encoder: Cell(encoder.row.label))


def monolingual_ranks(encoders: Views) -> dict[int, tuple[int, int]]:
    """Return (monolingual rank, rank over the whole pool) by place of those that have both.

    Runs that are ranked apart are so here too. An encoder alone in its ranking is left out.
    """
    both = [i for i, e in enumerate(encoders) if e.number(ALONE) is not None and e.row.value is not None]
    apart = len({encoders[i].row.rank for i in both}) < len(both)
    ranks: dict[int, tuple[int, int]] = {}
    for run in sorted({encoders[i].row.run for i in both}) if apart else [None]:
        here = [i for i in both if run in (None, encoders[i].row.run)]
        alone = sorted(here, key=lambda i: (-(encoders[i].number(ALONE) or 0.0), i))
        over_all = sorted(here, key=lambda i: (encoders[i].row.rank or 0, i))
        if len(here) > 1:
            ranks |= {i: (alone.index(i) + 1, over_all.index(i) + 1) for i in here}
    return ranks


def pool_boards(
    runs: Sequence[Results], task: Task, boards_of: Mapping[str, Sequence[BoardRow]]
) -> list[Block]:
    """Return the leaderboards; with numbers by language, a terminal shows encoders side by side instead."""
    views = {measure: views_of(runs, rows) for measure, rows in boards_of.items()}
    first, encoders = next(iter(views.items()))
    if not any(e.has(name) for e in encoders for name in (ONE_TARGET, FOUND, "remove_one", ALONE)):
        return boards(runs, task)
    blocks = boards(runs, task, where="page")
    remarks: dict[str, None] = {}
    for measure, rows in boards_of.items():
        blocks.append(_in_terminal(views[measure], task))
        best = next((e for e in views[measure] if e.pairs("one_target")), None)
        blocks += [] if best is None else [_by_language(best)]
        remarks |= {} if measure == first else dict.fromkeys(notes(rows))  # the verdict has the first's
    return [*blocks, *(Prose(note, "note-line", "terminal") for note in remarks)]


def _by_encoder(title: str, encoders: Views, shown: Sequence[Shown], *notes: str) -> Table:
    """Return a row for each encoder, without empty columns of numbers."""
    heads, cells = zip(*shown, strict=True)
    rows = ([cell(encoder) for cell in cells] for encoder in encoders)
    return Table.of_texts(title, heads, rows, notes=notes, where="written").without_empty()


def _of(name: str, *keys: str, meaning: str = "") -> Shown:
    """Return the column of a number of the views."""
    return Column(name, meaning=meaning), lambda encoder: Cell.by(numbers.number, encoder.number(*keys))


def _bias(encoders: Views, task: Task) -> dict[str, Shown]:
    """Return the columns that show own and other languages, by name."""
    ranks = monolingual_ranks(encoders)
    moved = {id(e): " → ".join(map(str, dict.fromkeys(ranks.get(i, ())))) for i, e in enumerate(encoders)}
    known = [c for e in encoders if (c := e.number("language_id_chance", "all")) is not None]
    chances = " / ".join(sorted({numbers.number(value) for value in known}))
    summary, name = encoders[0].summary, task.measure_name(encoders[0].row.measure)
    only = f"{name} with a single answer in the pool, in the question's language or another"
    if summary == FOUND:
        cut = next((e.cut for e in encoders if e.cut), "")
        only = f"share of the answers among the first {cut}, of those in the question's language or another"
    alone = "candidates of the question's language only"
    cost = "what removing the own-language answer costs more than removing another"
    identified = "how often a linear model identifies a text's language from its vector"
    columns: list[Shown] = [
        _of("macro", "macro", meaning="mean over question languages"),
        _of("own", summary, "own", meaning=only),
        _of("other", summary, "other", meaning=only),
        (Column("gap", meaning="own minus other"), lambda e: e.difference(summary, "gap")),
        (Column("Δ", meaning=cost), lambda e: e.share(*DELTA)),
        _of("monolingual", ALONE, meaning=f"{name} with {alone}, mean over languages"),
        (
            Column(
                f"rank, {RANKS}",
                short=RANKS,
                meaning=f"rank with {alone}, and over the pool where it is another",
            ),
            lambda e: Cell(moved[id(e)] or numbers.MISSING),
        ),
        _of(
            "language identified",
            "language_id_accuracy",
            "all",
            meaning=f"{identified}{f' (chance {chances})' if chances else ''}",
        ),
    ]
    return {column.key: (column, cell) for column, cell in columns}


def _value(encoders: Views, task: Task) -> Shown:
    column = Column(task.measure_name(encoders[0].row.measure), main=True)
    return column, lambda e: Cell.of(e.row.value, e.row.ci, e.row.measure)


def _in_terminal(encoders: Views, task: Task) -> Table:
    """Return the encoders side by side, for a terminal."""
    columns = _bias(encoders, task)

    def name(encoder: EncoderViews) -> Cell:
        row = encoder.row
        remark = "at chance" if row.at_chance else "level" if row.standing == "level" else ""
        return Cell(row.label, badges=(Badge(remark),) if remark else ())

    def behind(encoder: EncoderViews) -> Cell:
        gap = encoder.row.behind
        if gap is None:
            return Cell(numbers.MISSING)
        return replace(Cell.of(gap.value, gap.ci, encoder.row.measure), interval="")

    shown = [
        (Column("", "rank"), lambda e: Cell.by(str, e.row.rank)),
        (NAME[0], name),
        _value(encoders, task),
        (Column("behind"), behind),
        columns["own"],
        columns["other"],
        (columns["Δ"][0], lambda e: replace(e.share(*DELTA), interval="")),
        columns["monolingual"],
        columns[RANKS],
    ]
    ranked = any(e.row.rank is not None for e in encoders)
    title = f"{task.name} · {task.measure_name(encoders[0].row.measure)}"
    table = _by_encoder(title, encoders, shown if ranked else shown[1:])
    rows = tuple(
        replace(
            row,
            tone=f"{e.row.standing}{' at-chance' if e.row.at_chance else ''}",
            note="no value" if e.row.value is None else "",
        )
        for e, row in zip(encoders, table.rows, strict=True)
    )
    return replace(table, rows=rows, looks=LOOKS, where="terminal")


def _by_language(best: EncoderViews) -> Block:
    """Return the leader's mAP by question and answer language, or where to see it, for a terminal."""
    n, label = len(best.languages), best.row.label
    elsewhere = f"{label} by language: {n} × {n} have no room here, --report shows them"
    if n > MOST_LANGUAGES:
        return Prose(elsewhere, "note-line", "screen")
    values = best.pairs("one_target")
    questions_in, answers_in = question_and_answer_languages(best.languages, values)

    def cell(question: str, tag: str) -> Cell:
        value = values.get((question, tag))
        return Cell(numbers.number(value, digits=2), value=value, tone="best" if question == tag else "")

    rows = [[question, *(cell(question, tag) for tag in answers_in)] for question in questions_in]
    title = f"{label}: questions in the language of the row, a single answer in that of the column"
    return Table.of_texts(
        title, ["", *answers_in], rows, looks=(TableRoom(),), instead=elsewhere, where="screen"
    )


def languages(runs: Sequence[Results], task: Task, encoders: Views) -> Iterator[Block]:
    """Yield the blocks about languages, in the order of the page."""
    by_question = (
        ("by_question_language", "macro", "Pool of all languages"),
        ("monolingual_pool", ALONE, "Monolingual pools"),
    )
    blocks: list[Block | None] = [
        glance(encoders, task),
        _losses(encoders),
        figures.by_pair(encoders, "one_target"),
        figures.by_pair(encoders, "found"),
        _alignment(encoders),
        figures.by_pair(encoders, "weak_alignment"),
        figures.by_pair(encoders, "strong_alignment"),
        figures.by_language(encoders, task, by_question, "question"),
        _remove_one(encoders),
        figures.shares(encoders),
        *figures.space(runs, encoders),
        *hubs.blocks(runs, [encoder.row for encoder in encoders]),
    ]
    yield from (block for block in blocks if block is not None)
    folded = {
        "Language identification, pair by pair": figures.identification(encoders),
        "Subsets of the languages": _subsets(encoders),
        "Language fairness": _fairness(encoders),
    }
    yield from (Fold(title, [block]) for title, block in folded.items() if block is not None)
    yield from _worst(runs, encoders)


def glance(encoders: Views, task: Task) -> Table | None:
    """Return the numbers by language of every encoder in one row; None where there are none."""
    columns = _bias(encoders, task)
    macros = {(numbers.number(e.number("macro")), numbers.number(e.row.value)) for e in encoders}
    if all(macro in (numbers.MISSING, value) for macro, value in macros):
        del columns["macro"]
    value = _value(encoders, task)[0], lambda e: Cell.of(e.row.value)
    table = _by_encoder("Own and other languages", encoders, [NAME, value, *columns.values()])
    return table if {column.key for column in table.columns} & (set(columns) - {"macro"}) else None


def _losses(encoders: Views) -> Table | None:
    """Return how many irrelevant candidates are above an answer, by their language."""
    kinds = {"question": "in the question's", "answer": "in the answer's", "third": "in a third one"}
    rows = []
    for encoder in encoders:
        pairs = encoder.pairs("loss")
        for group, is_own in (("own", True), ("other", False)):
            here = [each for (asked, answer), each in pairs.items() if (asked == answer) is is_own]
            means = [fmean(each.get(kind) or 0.0 for each in here) for kind in kinds] if here else []
            if here:
                rows.append([encoder.row.label, group, *(Cell.by(amount, value) for value in means)])
    note = "Mean number of irrelevant candidates above an answer, by their language; each pair of languages "
    note += "counts the same. own: answers in the question's language; other: in another."
    heads = [NAME[0], "answers", *kinds.values()]
    title = "Where the loss comes from"
    table = Table.of_texts(title, heads, rows, names=2, notes=(note,), where="written")
    return table if rows else None


def _alignment(encoders: Views) -> Table | None:
    """Return weak and strong alignment of every encoder; chance stands with the first of each kind."""
    shown: list[Shown] = [NAME]
    for key, head, short, meaning in ALIGNED:
        known = [c for e in encoders if (c := e.number("alignment_chance", key)) is not None]
        if known and key in ("weak", "strong"):  # that of the others is the same, or nearly 0
            chances = dict.fromkeys(numbers.mark(value) for value in sorted(known))
            meaning = f"{meaning} (chance {' / '.join(chances)})"
        column = Column(head, short=short, meaning=meaning)
        shown.append((column, lambda e, key=key: e.cell("alignment", key)))  # type: ignore[misc]
    aligned = [encoder for encoder in encoders if encoder.has("alignment")]
    table = _by_encoder("Weak and strong alignment", aligned, shown)
    return replace(table, where="both", looks=narrower("strict", "every pair", "own")) if aligned else None


def _remove_one(encoders: Views) -> Table | None:
    """Return Table 3."""
    columns: list[Shown] = [
        NAME,
        (Column("mAP −same"), lambda e: e.cell("remove_one", "same")),
        (Column("mAP −rand"), lambda e: e.cell("remove_one", "rand")),
        (Column("Δ"), lambda e: e.share(*DELTA)),
        (Column("questions"), lambda e: Cell.count(int(e.number("remove_one", "n_questions") or 0))),
    ]
    note = (
        "−same: without the answer in the question's language. −rand: without one in another language, "
        "averaged over all of them. Δ = (rand − same)/rand; above 0 the question's language is preferred."
    )
    shown = [encoder for encoder in encoders if encoder.has("remove_one")]
    return _by_encoder("One answer removed", shown, columns, note) if shown else None


def _subsets(encoders: Views) -> Table | None:
    """Return Table 5: mAP where pool and questions hold some of the languages only."""
    shown, languages = [encoder for encoder in encoders if encoder.has("subsets")], languages_of(encoders)
    keys = list(dict.fromkeys(key for encoder in shown for key in encoder.mapping("subsets")))
    heads = ["languages", *(Column(encoder.row.label, data=True) for encoder in shown)]
    rows = [["all languages", *(Cell.of(encoder.row.value, encoder.row.ci) for encoder in shown)]]
    for key in sorted(keys, key=lambda key: -len(key.split(","))):
        tags = key.split(",")
        gone = [tag for tag in languages if tag not in tags]
        name = f"all but {gone[0]}" if len(gone) == 1 and len(tags) > 1 else ", ".join(tags)
        rows.append([name, *(encoder.cell("subsets", key) for encoder in shown)])
    title = "Subsets of the languages"
    table = Table.of_texts(title, heads, rows, notes=("mAP.",), titled=False, where="written")
    return table if shown else None


def _fairness(encoders: Views) -> Table | None:
    """Return PEER: how equally the ranking treats the languages."""
    rows: list[list[str | Cell]] = [
        [encoder.row.label, name, *(Cell.of(value.get(kind)) for kind in ("value", "relevant", "other"))]
        for encoder in encoders
        for name, value in encoder.mapping("fairness").items()
    ]
    heads = ["encoder", "measure", "fairness", "among answers", "among other candidates"]
    notes = ("1: the ranks of all languages' candidates look alike. 0: they do not.",)
    table = Table.of_texts("Language fairness", heads, rows, names=2, data=True, notes=notes, titled=False)
    return replace(table, where="written") if rows else None


def _worst(runs: Sequence[Results], encoders: Views) -> Iterator[Block]:
    """Yield the worst questions of the leading encoders, with the candidates above their answers."""
    for place, (encoder, rows) in enumerate(tables_of(runs, encoders, "worst")[:MOST_ENCODERS]):
        questions: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            questions.setdefault((row["question_id"], row["question_language"]), []).append(row)
        cards = [("", [_question(each)]) for each in list(questions.values())[:MOST_QUESTIONS]]
        if place == 0:
            yield Heading("The worst questions")
        yield Fold(encoder.row.label, [Cards(cards)], open=place == 0, data=True)


def _question(rows: Sequence[Mapping[str, Any]]) -> Card:
    """Return a question and its ranked candidates: wrong ones above its answers, then answers."""

    def rank(place: float | None) -> str:  # with a decimal only where a tie makes it a mean
        if place is None:
            return numbers.MISSING
        return numbers.count(round(place)) if float(place).is_integer() else f"{place:,.1f}"

    first = rows[0]
    best = f", its best answer at rank {rank(first['rank_of_best'])}" if first.get("rank_of_best") else ""
    remark = f"{first.get('measure') or 'AP'} {numbers.number(first['value'])}{best}"
    text = shortened(first["question"] or "", MOST_LETTERS)
    ordered = sorted(rows, key=lambda row: math.inf if row["place"] is None else row["place"])
    ranked = [
        Text(
            row["candidate_language"],
            shortened(row["candidate"] or "", MOST_LETTERS),
            place=rank(row["place"]),
            tone=kind,
            badge=Badge("answer") if kind == "answer" else None,
        )
        for kind, most in (("above", MOST_ABOVE), ("answer", MOST_ANSWERS))
        for row in [row for row in ordered if row["kind"] == kind][:most]
    ]
    return Card(Text(first["question_language"], text, "question", remark=remark), ranked, style="asked")
