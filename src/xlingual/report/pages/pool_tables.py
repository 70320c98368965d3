"""The tables about a multilingual pool, and those that a terminal shows instead of leaderboards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from xlingual.report import numbers
from xlingual.report.blocks import Badge, Block, Cell, Column, Look, Prose, Table
from xlingual.report.blocks import Row as TableRow
from xlingual.report.findings.multilingual_pool import ALONE, DELTA, GAP, has_strong_hubs, monolingual_ranks
from xlingual.report.pool_views import PREFER_OWN, Seen, amount, languages_of, share, sides_of
from xlingual.tasks import Task

RANKS = "monolingual → here"
FAIRNESS = "Language fairness"
EVERYWHERE = "all languages"
NO_ANSWER = "first is no answer, in the question's language or another"
FIRSTS = {  # what stands first where the own language is wanted: its name on the page, in a terminal, meaning
    "right": (
        "right",
        "right",
        "share of the questions whose first candidate is an answer in the question's language",
    ),
    "right_meaning_wrong_language": (
        "right, but wrong language",
        "in another",
        "first is a right answer, but in another language",
    ),
    "own_wrong": ("wrong, own language", "wrong own", NO_ANSWER),
    "other_wrong": ("wrong, another language", "wrong other", NO_ANSWER),
    "wrong_untold": (
        "wrong, language not told",
        "wrong untold",
        "first is no answer, its language not told",
    ),
}
SPARE = ("monolingual", RANKS, "behind")  # in a terminal, one after the other
LOOKS = (
    Look(),
    *(Look(dropped=SPARE[:n], names=width) for n in range(1, len(SPARE) + 1) for width in (28, 14)),
    *(Look(dropped=SPARE, names=width, badges="none") for width in (28, 14)),
)
MOST_LANGUAGES = 8  # of the matrix in a terminal

Shown: TypeAlias = tuple[Column, Callable[[Seen], Cell]]  # a column, and its cell for an encoder
ENCODER: Shown = (Column("encoder", "name", data=True), lambda one: Cell(one.row.label))


def _by_encoder(title: str, found: Sequence[Seen], shown: Sequence[Shown], *notes: str) -> Table:
    """Return a row for each encoder, without columns of numbers that say nothing."""
    rows = tuple(TableRow(tuple(cell(one) for _, cell in shown)) for one in found)
    table = Table(title, tuple(column for column, _ in shown), rows, notes)
    return table.without_empty()


def _bias(found: Sequence[Seen]) -> dict[str, Shown]:
    """Return the columns that show own and other languages, by name."""
    ranks = monolingual_ranks(found)
    moved = {id(one): ranks.get(i) for i, one in enumerate(found)}
    chances = {
        numbers.number(c) for one in found if (c := one.number("language_id_chance", "all")) is not None
    }
    chance = f" (chance {' / '.join(sorted(chances))})" if chances else ""
    only = "mAP with a single answer in the pool, in the question's language or another"
    alone = "candidates of the question's language only"

    def number(name: str, meaning: str, *keys: str) -> Shown:
        return Column(name, meaning=meaning), lambda one: Cell.of(one.number(*keys))

    gap = Column("gap", meaning="own minus other")
    delta = Column("Δ", meaning="what removing the own-language answer costs more than removing another")
    order = Column(
        f"rank, {RANKS}", short=RANKS, meaning=f"rank with {alone}, and over the pool where it is another"
    )
    columns: list[Shown] = [
        number("macro", "mean over question languages", "macro"),
        number("own", only, "one_target_summary", "own"),
        number("other", only, "one_target_summary", "other"),
        (gap, lambda one: Cell.difference(one.number(*GAP), one.interval(*GAP))),
        (delta, lambda one: one.share(*DELTA)),
        number("monolingual", f"mAP with {alone}, mean over languages", ALONE),
        (order, lambda one: _moved(moved[id(one)])),
        number(
            "language told",
            f"how often a linear model tells a text's language from its vector{chance}",
            "language_id_accuracy",
            "all",
        ),
    ]
    return {column.key: (column, cell) for column, cell in columns}


def _moved(ranks: tuple[int, int] | None) -> Cell:
    """Return "1 → 3", or the rank alone where it is the same."""
    return Cell(" → ".join(str(rank) for rank in dict.fromkeys(ranks)) if ranks else numbers.MISSING)


def _value(found: Sequence[Seen], task: Task, *, interval: bool = True) -> Shown:
    """Return the column of the number that the boards are about."""
    name = task.measure_name(found[0].row.measure) if found else ""

    def cell(one: Seen) -> Cell:
        return Cell.of(one.row.value, one.row.ci if interval else None, one.row.measure)

    return Column(name, main=True), cell


def glance(found: Sequence[Seen], task: Task) -> Table | None:
    """Return the languages' side of every encoder in one row; None where there is none."""
    columns = _bias(found)
    if all(one.number("macro") is None or _same(one) for one in found):
        del columns["macro"]
    table = _by_encoder(
        "At a glance", found, [ENCODER, _value(found, task, interval=False), *columns.values()]
    )
    heads = {column.key for column in table.columns}
    if not heads & (set(columns) - {"macro"}):
        return None
    biased = "Δ" in heads or {"own", "other"} <= heads
    return replace(table, title="Own and other languages") if biased else table


def _same(one: Seen) -> bool:
    return numbers.number(one.number("macro")) == numbers.number(one.row.value)


def remove_one(found: Sequence[Seen]) -> Table | None:
    """Return Table 3."""
    own = [one for one in found if one.mapping("remove_one")]
    columns: list[Shown] = [
        ENCODER,
        (Column("mAP −same"), lambda one: one.cell("remove_one", "same")),
        (Column("mAP −rand"), lambda one: one.cell("remove_one", "rand")),
        (Column("Δ"), lambda one: one.share(*DELTA)),
        (Column("questions"), lambda one: _count(one.number("remove_one", "n_questions"))),
    ]
    note = (
        "−same: without the answer in the question's language. −rand: without one in another language, "
        "averaged over all of them. Δ = (rand − same)/rand; above 0 the question's language is preferred."
    )
    return _by_encoder("One answer removed", own, columns, note) if own else None


def _count(value: float | None) -> Cell:
    return Cell(numbers.MISSING) if value is None else Cell(numbers.count(int(value)), value=int(value))


def subsets(found: Sequence[Seen]) -> Table | None:
    """Return Table 5: mAP where pool and questions hold some of the languages only."""
    own = [one for one in found if one.mapping("subsets")]
    if not own:
        return None
    languages = languages_of(found)
    keys = list(dict.fromkeys(key for one in own for key in one.mapping("subsets")))
    keys.sort(key=lambda key: len(languages) - len(key.split(",")))
    columns = (Column("languages", "name"), *(Column(one.row.label, data=True) for one in own))
    rows = [(Cell(EVERYWHERE), *(Cell.of(one.row.value, one.row.ci) for one in own))]
    rows += [(Cell(_subset_name(key, languages)), *(one.cell("subsets", key) for one in own)) for key in keys]
    return Table("Subsets of the languages", columns, tuple(map(TableRow, rows)), ("mAP.",), titled=False)


def _subset_name(key: str, languages: list[str]) -> str:
    """Return "all but hi" for all languages but one, else the languages.

    >>> _subset_name("ar,de", ["ar", "de", "hi"]), _subset_name("ar,de", ["ar", "de", "hi", "zh"])
    ('all but hi', 'ar, de')
    """
    names = key.split(",")
    gone = [name for name in languages if name not in names]
    return f"all but {gone[0]}" if len(gone) == 1 and len(names) > 1 else ", ".join(names)


def fairness(found: Sequence[Seen]) -> Table | None:
    """Return PEER: how equally the ranking treats the languages."""
    rows = [
        (one.row.label, name, *(Cell.of(value.get(part)) for part in ("value", "relevant", "other")))
        for one in found
        for name, value in one.mapping("fairness").items()
    ]
    if not rows:
        return None
    heads = ["encoder", "measure", "fairness", "among answers", "among other candidates"]
    note = "1: the ranks of all languages' candidates look alike. 0: they do not."
    return Table.of_texts(FAIRNESS, heads, rows, names=2, data=True, notes=(note,), titled=False)


def hubs(found: Sequence[Seen]) -> Table | None:
    """Return how strongly few candidates crowd the top of many questions."""
    own = [one for one in found if one.number("hubs", "k") is not None]
    languages = [
        tag for tag in languages_of(own) if any(one.number("hubs", "by_language", tag) for one in own)
    ]
    columns: list[Shown] = [
        ENCODER,
        (Column("skewness"), _skewness),
        _amount("largest hub", "hubs", "largest"),
        _amount("expected", "hubs", "expected"),
        (Column("never found"), lambda one: share(one.number("hubs", "never"), digits=0)),
        *(_share(Column(language), "hubs", "by_language", language) for language in languages),
        (Column("alarm"), lambda one: Cell("strong" if has_strong_hubs(one) else "")),
    ]
    k = numbers.span([int(one.number("hubs", "k") or 0) for one in own])
    note = (
        f"How often a candidate is among the {k} best of a question: the largest hub, the mean, and the share "
        "of candidates that never are."
    )
    if languages:
        note += " By language: the share of all these places that its hubs hold."
    return _by_encoder("Hubs", own, columns, note) if own else None


def _skewness(one: Seen) -> Cell:
    value = one.number("hubs", "skewness")
    return Cell(numbers.number(value, digits=1), value=value)


def _amount(name: str, *keys: str) -> Shown:
    return Column(name), lambda one: Cell(amount(one.number(*keys)), value=one.number(*keys))


def _share(column: Column, *keys: str) -> Shown:
    return column, lambda one: share(one.number(*keys))


def _firsts(*, narrow: bool) -> list[Shown]:
    """Return the columns of what stands first."""
    return [
        _share(Column(short, meaning=meaning) if narrow else Column(f"first: {long}"), "first", kind)
        for kind, (long, short, meaning) in FIRSTS.items()
    ]


def own_first(found: Sequence[Seen], task: Task) -> Table | None:
    """Return what was measured under the policy that wants answers in the question's language first."""
    own = [_measured(one) for one in found if one.entry is not None]
    errors = ("right_meaning_wrong_language", "own_wrong", "other_wrong")
    note = (
        f"Policy {PREFER_OWN}: only answers in the question's language count as right. first: what stands "
        "first, share of the questions. above: mean number of candidates above the best own-language answer."
    )
    columns = [
        ENCODER,
        _value(own, task),
        *_firsts(narrow=False),
        *(_amount(f"above: {FIRSTS[kind][0]}", "errors", kind) for kind in errors),
    ]
    title = "When the question's language must come first"
    return _by_encoder(title, own, columns, note) if own else None


def _measured(one: Seen) -> Seen:
    """Return the row with what was measured under the policy of the entry, held against nobody."""
    if one.entry is None:
        return one
    bare = replace(one.row, rank=None, behind=None, standing="unknown", chance=None)
    return replace(one, row=replace(bare, value=one.entry.value, ci=one.entry.ci))


def in_terminal(found: Sequence[Seen], strict: Sequence[Seen], task: Task) -> list[Block]:
    """Return what a terminal shows: the encoders side by side, the leader's languages, and what stands first.

    `found` and `strict` are the same encoders as measured under either policy.
    """
    name = task.measure_name(found[0].row.measure)
    both = list(zip(found, strict, strict=True))
    merged = [own if one.entry is None else one for one, own in both]
    best = next((one for one in found if one.pairs("one_target")), None)
    twice = [_measured(own) for one, own in both if one.entry and own.entry]
    blocks: list[Block] = [_board(merged, f"{task.name} · {name}", task)]
    blocks += [] if best is None else [_languages(best)]
    if any(one.number("first", "right") is not None for one in twice):
        blocks.append(_board(twice, f"own language wanted · {name}", task))
    return blocks


def _board(found: Sequence[Seen], title: str, task: Task) -> Table:
    """Return the encoders side by side, for a terminal: of all intervals that of the value."""
    shown = [
        (Column("", "rank"), lambda one: Cell(one.row.rank_text, value=one.row.rank)),
        (ENCODER[0], _named),
        _value(found, task),
        (Column("behind"), _behind),
        *(shown for name, shown in _bias(found).items() if name not in ("macro", "gap", "language told")),
        *_firsts(narrow=True),
    ]
    ranked = any(one.row.rank is not None for one in found)
    table = _by_encoder(title, found, shown if ranked else shown[1:])
    rows = tuple(
        replace(
            row,
            cells=tuple(
                c if column.main else replace(c, interval="") for column, c in zip(table.columns, row.cells)
            ),
            tone="leader" if one.row.standing == "leader" else "at-chance" if one.row.at_chance else "",
            note="no value" if one.row.value is None else "",
        )
        for one, row in zip(found, table.rows, strict=True)
    )
    return replace(table, rows=rows, looks=LOOKS, where="terminal")


def _named(one: Seen) -> Cell:
    """Return the name of an encoder with what is to be said of its place."""
    remark = "at chance" if one.row.at_chance else "level" if one.row.standing == "level" else ""
    return Cell(one.row.label, badges=(Badge(remark),) if remark else ())


def _behind(one: Seen) -> Cell:
    behind = one.row.behind
    return Cell(numbers.MISSING) if behind is None else Cell.of(behind.value, behind.ci, one.row.measure)


def _languages(best: Seen) -> Block:
    """Return the leader's mAP by question and answer language, or where it can be seen."""
    n, label = len(best.languages), best.row.label
    elsewhere = Prose(
        f"{label} by language: {n} × {n} have no room here, --report shows them", "note-line", "terminal"
    )
    if n > MOST_LANGUAGES:
        return elsewhere
    values = best.pairs("one_target")
    asked_in, answered_in = sides_of(best.languages, values)
    rows = tuple(
        TableRow(
            (Cell(asked), *(_entry(values.get((asked, answer)), asked == answer) for answer in answered_in))
        )
        for asked in asked_in
    )
    return Table(
        f"{label}: questions in the language of the row, a single answer in that of the column",
        (Column("", "name"), *map(Column, answered_in)),
        rows,
        looks=(Look(),),
        instead=elsewhere,
        where="terminal",
    )


def _entry(value: float | None, own: bool) -> Cell:
    return Cell(numbers.number(value, digits=2), value=value, tone="best" if own else "")
