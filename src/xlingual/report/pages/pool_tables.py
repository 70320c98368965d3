"""The tables about a multilingual pool, and those that a terminal shows instead of leaderboards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from msgspec import structs

from xlingual.report import numbers
from xlingual.report.blocks import Block, Prose
from xlingual.report.findings.multilingual_pool import ALONE, DELTA, monolingual_ranks
from xlingual.report.pool_views import (
    FOUND,
    PREFER_OWN,
    EncoderViews,
    amount,
    languages_of,
    question_and_answer_languages,
    share,
)
from xlingual.report.table import Badge, Cell, Column, Table, TableRoom, narrower
from xlingual.results import Entry
from xlingual.tasks import Task

ALIGNMENT = "alignment"
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
WITH_CHANCE = ("weak", "strong")  # that of the others is the same, or nearly 0
FOREIGN = "right_meaning_wrong_language"
RANKS = "monolingual → here"
SPARE = ("monolingual", RANKS, "behind")  # columns of a terminal that go one after the other
LOOKS = (
    TableRoom(),
    *(TableRoom(dropped=SPARE[:n], names=width) for n in (1, 2, 3) for width in (28, 14)),
    *(TableRoom(dropped=SPARE, names=width, badges="none") for width in (28, 14)),
)
MOST_LANGUAGES = 8  # of the matrix in a terminal
NO_ANSWER = "first is no answer, in the question's language or another"
FIRSTS = (  # kinds of first candidates under prefer-own: key, name on the page, in a terminal, meaning
    ("right", "right", "right", "share of questions whose first candidate is an answer in their language"),
    (FOREIGN, "right, but wrong language", "in another", "first is a right answer, but in another language"),
    ("own_wrong", "wrong, own language", "wrong own", NO_ANSWER),
    ("other_wrong", "wrong, another language", "wrong other", NO_ANSWER),
    ("wrong_untold", "wrong, language unknown", "wrong unknown", "first is no answer, its language unknown"),
)

Shown: TypeAlias = tuple[Column, Callable[[EncoderViews], Cell]]  # a column, and its cell for an encoder
NAME: Shown = (Column("encoder", "name", data=True), lambda one: Cell(one.row.label))


def _by_encoder(title: str, found: Sequence[EncoderViews], shown: Sequence[Shown], *notes: str) -> Table:
    """Return a row for each encoder, without empty columns of numbers."""
    heads, cells = zip(*shown, strict=True)
    rows = ([cell(one) for cell in cells] for one in found)
    return Table.of_texts(title, heads, rows, notes=notes, where="written").without_empty()


def _of(name: str, form: Callable[[float], str], *keys: str, meaning: str = "") -> Shown:
    """Return the column of a number of the views, as `form` writes it."""
    return Column(name, meaning=meaning), lambda one: Cell.by(form, one.number(*keys))


def _share(value: float) -> str:
    return share(value).text


def _bias(found: Sequence[EncoderViews], task: Task) -> dict[str, Shown]:
    """Return the columns that show own and other languages, by name."""
    ranks = monolingual_ranks(found)
    moved = {id(one): dict.fromkeys(ranks.get(i, ())) for i, one in enumerate(found)}
    known = [c for one in found if (c := one.number("language_id_chance", "all")) is not None]
    chances = " / ".join(sorted({numbers.number(chance) for chance in known}))
    chance = f" (chance {chances})" if chances else ""
    identified = f"how often a linear model identifies a text's language from its vector{chance}"
    summary, name = found[0].summary, task.measure_name(found[0].row.measure)
    only = f"{name} with a single answer in the pool, in the question's language or another"
    if not any(one.has(summary) for one in found):
        only = ""
    elif summary == FOUND:
        cut = next(one.cut for one in found if one.cut)
        only = f"share of the answers among the first {cut}, of those in the question's language or another"
    alone = "candidates of the question's language only"
    cost = "what removing the own-language answer costs more than removing another"
    order = f"rank with {alone}, and over the pool where it is another"
    columns: list[Shown] = [
        _of("macro", numbers.number, "macro", meaning="mean over question languages"),
        _of("own", numbers.number, summary, "own", meaning=only),
        _of("other", numbers.number, summary, "other", meaning=only),
        (Column("gap", meaning="own minus other"), lambda one: one.difference(summary, "gap")),
        (Column("Δ", meaning=cost), lambda one: one.share(*DELTA)),
        _of("monolingual", numbers.number, ALONE, meaning=f"{name} with {alone}, mean over languages"),
        (
            Column(f"rank, {RANKS}", short=RANKS, meaning=order),
            lambda one: Cell(" → ".join(map(str, moved[id(one)])) or numbers.MISSING),
        ),
        _of("language identified", numbers.number, "language_id_accuracy", "all", meaning=identified),
    ]
    return {column.key: (column, cell) for column, cell in columns}


def glance(found: Sequence[EncoderViews], task: Task) -> Table | None:
    """Return the numbers by language of every encoder in one row; None where there are none."""
    columns = _bias(found, task)
    macros = {(numbers.number(one.number("macro")), numbers.number(one.row.value)) for one in found}
    if all(macro in (numbers.MISSING, value) for macro, value in macros):
        del columns["macro"]
    value = Column(task.measure_name(found[0].row.measure), main=True)
    shown = [NAME, (value, lambda one: Cell.of(one.row.value)), *columns.values()]
    table = _by_encoder("At a glance", found, shown)
    heads = {column.key for column in table.columns}
    if not heads & (set(columns) - {"macro"}):
        return None
    biased = "Δ" in heads or {"own", "other"} <= heads
    return replace(table, title="Own and other languages") if biased else table


def alignment(found: Sequence[EncoderViews]) -> Table | None:
    """Return weak and strong alignment of every encoder."""
    own = [one for one in found if one.has(ALIGNMENT)]
    if not own:
        return None
    columns = (_aligned(own, *column) for column in ALIGNED)
    table = _by_encoder("Weak and strong alignment", own, [NAME, *columns])
    return replace(table, where="both", looks=narrower("strict", "every pair", "own"))


def _aligned(found: Sequence[EncoderViews], key: str, head: str, short: str, meaning: str) -> Shown:
    """Return a column of the table of alignment; its meaning ends with chance."""
    known = [chance for one in found if (chance := one.number(f"{ALIGNMENT}_chance", key)) is not None]
    chances = " / ".join(dict.fromkeys(numbers.mark(value) for value in sorted(known)))
    text = f"{meaning} (chance {chances})" if key in WITH_CHANCE and chances else meaning
    return Column(head, short=short, meaning=text), lambda one: one.cell(ALIGNMENT, key)


def remove_one(found: Sequence[EncoderViews]) -> Table | None:
    """Return Table 3."""
    own = [one for one in found if one.has("remove_one")]
    columns: list[Shown] = [
        NAME,
        (Column("mAP −same"), lambda one: one.cell("remove_one", "same")),
        (Column("mAP −rand"), lambda one: one.cell("remove_one", "rand")),
        (Column("Δ"), lambda one: one.share(*DELTA)),
        _of("questions", lambda value: numbers.count(int(value)), "remove_one", "n_questions"),
    ]
    note = (
        "−same: without the answer in the question's language. −rand: without one in another language, "
        "averaged over all of them. Δ = (rand − same)/rand; above 0 the question's language is preferred."
    )
    return _by_encoder("One answer removed", own, columns, note) if own else None


def subsets(found: Sequence[EncoderViews]) -> Table | None:
    """Return Table 5: mAP where pool and questions hold some of the languages only."""
    own = [one for one in found if one.has("subsets")]
    languages = languages_of(found)
    keys = list(dict.fromkeys(key for one in own for key in one.mapping("subsets")))
    keys.sort(key=lambda key: len(languages) - len(key.split(",")))
    heads = ["languages", *(Column(one.row.label, data=True) for one in own)]
    rows = [["all languages", *(Cell.of(one.row.value, one.row.ci) for one in own)]]
    rows += [[_subset_name(key, languages), *(one.cell("subsets", key) for one in own)] for key in keys]
    table = Table.of_texts("Subsets of the languages", heads, rows, notes=("mAP.",), titled=False)
    return replace(table, where="written") if own else None


def _subset_name(key: str, languages: list[str]) -> str:
    """Return "all but hi" for all languages but one, else the languages.

    >>> _subset_name("ar,de", ["ar", "de", "hi"]), _subset_name("ar,de", ["ar", "de", "hi", "zh"])
    ('all but hi', 'ar, de')
    """
    names = key.split(",")
    gone = [name for name in languages if name not in names]
    return f"all but {gone[0]}" if len(gone) == 1 and len(names) > 1 else ", ".join(names)


def fairness(found: Sequence[EncoderViews]) -> Table | None:
    """Return PEER: how equally the ranking treats the languages."""
    rows: list[list[str | Cell]] = [
        [one.row.label, name, *(Cell.of(value.get(part)) for part in ("value", "relevant", "other"))]
        for one in found
        for name, value in one.mapping("fairness").items()
    ]
    heads = ["encoder", "measure", "fairness", "among answers", "among other candidates"]
    notes = ("1: the ranks of all languages' candidates look alike. 0: they do not.",)
    table = Table.of_texts("Language fairness", heads, rows, names=2, data=True, notes=notes, titled=False)
    return replace(table, where="written") if rows else None


def own_first(found: Sequence[EncoderViews], task: Task) -> Table | None:
    """Return the numbers under the policy that prefers answers in the question's language."""
    own = [_measured(one, one.entry) for one in found if one.entry is not None]
    if not own:
        return None
    note = (
        f"Policy {PREFER_OWN}: only answers in the question's language count as right. first: share of "
        "the questions by their first candidate. above: mean number of candidates above the best "
        "own-language answer."
    )
    columns = [
        NAME,
        _value(own, task),
        *(_of(f"first: {name}", _share, "first", kind) for kind, name, _, _ in FIRSTS),
        *(_of(f"above: {name}", amount, "errors", kind) for kind, name, _, _ in FIRSTS[1:4]),
    ]
    return _by_encoder("When the question's language must come first", own, columns, note)


def _measured(one: EncoderViews, entry: Entry) -> EncoderViews:
    """Return the row with the value under the policy of the entry, not compared with others."""
    bare = structs.replace(one.row, rank=None, behind=None, standing="unknown", chance=None)
    return replace(one, row=structs.replace(bare, value=entry.value, ci=entry.ci))


def in_terminal(found: Sequence[EncoderViews], strict: Sequence[EncoderViews], task: Task) -> list[Block]:
    """Return the blocks of a terminal: encoders side by side, the leader's languages, and first candidates.

    `found` and `strict` are the same encoders as measured under either policy.
    """
    name = task.measure_name(found[0].row.measure)
    both = list(zip(found, strict, strict=True))
    merged = [own if one.entry is None else one for one, own in both]
    best = next((one for one in found if one.pairs("one_target")), None)
    twice = [_measured(own, own.entry) for one, own in both if one.entry and own.entry]
    blocks: list[Block] = [_board(merged, f"{task.name} · {name}", task)]
    blocks += [] if best is None else [_languages(best)]
    if any(one.number("first", "right") is not None for one in twice):
        blocks.append(_board(twice, f"own language wanted · {name}", task))
    return blocks


def _board(found: Sequence[EncoderViews], title: str, task: Task) -> Table:
    """Return the encoders side by side, for a terminal."""
    bias = _bias(found, task)
    shown = [
        (Column("", "rank"), lambda one: Cell.by(str, one.row.rank)),
        (NAME[0], _named),
        _value(found, task),
        (Column("behind"), _behind),
        bias["own"],
        bias["other"],
        (bias["Δ"][0], lambda one: replace(one.share(*DELTA), interval="")),
        bias["monolingual"],
        bias[RANKS],
        *(_of(name, _share, "first", kind, meaning=meaning) for kind, _, name, meaning in FIRSTS),
    ]
    ranked = any(one.row.rank is not None for one in found)
    table = _by_encoder(title, found, shown if ranked else shown[1:])
    rows = tuple(
        replace(
            row,
            tone=f"{one.row.standing}{' at-chance' if one.row.at_chance else ''}",
            note="no value" if one.row.value is None else "",
        )
        for one, row in zip(found, table.rows, strict=True)
    )
    return replace(table, rows=rows, looks=LOOKS, where="terminal")


def _value(found: Sequence[EncoderViews], task: Task) -> Shown:
    """Return the column of the board's measure."""
    column = Column(task.measure_name(found[0].row.measure), main=True)
    return column, lambda one: Cell.of(one.row.value, one.row.ci, one.row.measure)


def _named(one: EncoderViews) -> Cell:
    """Return the name of an encoder, with a badge for its standing."""
    remark = "at chance" if one.row.at_chance else "level" if one.row.standing == "level" else ""
    return Cell(one.row.label, badges=(Badge(remark),) if remark else ())


def _behind(one: EncoderViews) -> Cell:
    behind = one.row.behind
    if behind is None:
        return Cell(numbers.MISSING)
    return replace(Cell.of(behind.value, behind.ci, one.row.measure), interval="")


def _languages(best: EncoderViews) -> Block:
    """Return the leader's mAP by question and answer language, or where to see it."""
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
