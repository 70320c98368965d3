"""The page of a repair: the verdict, before and after by language, and all that was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xlingual.languages import named
from xlingual.online import page as address
from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Fold, Matrix, Page, Prose, Section
from xlingual.report.columns import Col, of_records
from xlingual.report.figures.repair import changes_of
from xlingual.report.pages.before_and_after import SideBySide
from xlingual.report.table import Badge, Cell, Table
from xlingual.report.transforms import in_words, repaired_by
from xlingual.results.repair import (
    BETTER,
    CROSSLINGUAL_MAP,
    POOL_MAP,
    UNCHANGED,
    UNDECIDED,
    BeforeAndAfter,
    Change,
    Repair,
    TriedRepair,
)

_SHOWN = 8  # of what was tried, in a terminal
_FEW_LANGUAGES = 3
_SEVERAL = 3  # pairs of a language that lose alike: two may by chance
_ABOUT = (
    "Transforms were fitted on one part of the data, one was chosen on another, and this is the third, which "
    "was used once. Differences are paired by question; the intervals by language, by pair and within one "
    "language hold together, all of them (max-t), so that the worst of them can be read; those over all "
    "languages stand alone."
)
_WHOLE = {POOL_MAP: "mAP over the pool", CROSSLINGUAL_MAP: "mAP in each other language by itself"}
_OTHER = {POOL_MAP: CROSSLINGUAL_MAP, CROSSLINGUAL_MAP: POOL_MAP}
_PAIR = {
    POOL_MAP: "mAP of a single answer",
    CROSSLINGUAL_MAP: "mAP among the candidates of the answer's language",
}
_LEAST = "lower bound of the difference, one-sided, for one line alone"
_NO_JUDGE = (
    "Do not judge a repair by Backretrieval and SIM: they may fall when search over all languages improves: "
    f"{address('explanation/repair-without-leakage')}"
)


def page(found: Repair | BeforeAndAfter, *, title: str | None = None) -> Page:
    """Make the page of a repair; with the evaluation of both, the space, languages and hubs too."""
    both = SideBySide.of(found) if isinstance(found, BeforeAndAfter) else None
    repair = found.found if isinstance(found, BeforeAndAfter) else found
    changes = [repair.whole, *repair.languages, *repair.pairs]
    return Page(
        kind="repair",
        title=title or f"Can {repair.encoder} be repaired?",
        verdict=[Finding(findings(repair))],
        sections=[
            Section("Before and after", list(_before_and_after(repair, both)), _ABOUT),
            *([] if both is None else [both.section()]),
            Section("What was tried", _tried(repair)),
        ],
        facts=list(_facts(repair).items()),
        warnings=repair.warnings,
        conditions=[(key, [value]) for key, value in repair.conditions.items()],
        methods=sorted({one.ci.method for one in changes if one.ci is not None}),
        names=[repair.encoder],
    )


def _facts(repair: Repair) -> dict[str, str]:
    facts = {
        "encoder": repair.encoder,
        "transform": repair.chosen,
        "compared by": repair.similarity,
        "criterion": f"{repair.criterion} on the part for choosing",
    }
    parts = {"fitted on": repair.fit, "chosen on": repair.choose, "tested on": repair.test}
    for name, part in parts.items():
        counts = (part.questions, "question"), (part.candidates, "candidate"), (part.clusters, "cluster")
        facts[name] = ", ".join(numbers.counted(count, noun) for count, noun in counts)
    facts["dimensions"] = numbers.count(repair.dim)
    if repair.model is not None:
        use = "use it as" if repair.outcome == BETTER else "the model, not shown to help"
        facts[use] = f"model:DIR/{repair.model}::{repair.spec or 'SPEC'}"
    if repair.parts is not None:
        facts["rows of the parts"] = f"DIR/{repair.parts}, with --split fit, choose or test"
    return facts


def _before_and_after(repair: Repair, both: SideBySide | None) -> Iterator[Block]:
    title = f"{_WHOLE[repair.criterion]}, by the question's language"
    yield _changes(title, [repair.whole, *repair.languages], least=_LEAST)
    if repair.other is not None:
        yield _changes(_WHOLE[_OTHER[repair.criterion]], [repair.other])
    if len(repair.pairs) > 1:
        yield from _by_pair(repair, None if both is None or repair.criterion != POOL_MAP else both.by_pair())
    if repair.monolingual:
        yield _changes(
            "mAP in one language alone, without candidates of other languages",
            repair.monolingual,
            Col("Language", lambda one: named(one.source), kind="name"),
        )
    yield _space(repair, where="both" if both is None else "screen")
    if repair.beside:
        yield of_records(
            "Backretrieval and SIM, which do not judge a repair",
            repair.beside,
            Col(
                "Without translations",
                lambda one: "SIM" if one.measure == "SIM" else f"BkR {one.measure}",
                kind="name",
                short="measure",
            ),
            Col("Before", "before"),
            Col("After", "after"),
            Col("Difference", "difference", ci="ci"),
        )
        yield Prose(_NO_JUDGE)


def label(change: Change) -> str:
    """Name the languages of a change in English."""
    if change.target in ("pool", "others"):
        return "all languages" if change.source == "all" else named(change.source)
    return f"{named(change.source)} → {named(change.target)}"


def _changes(
    title: str,
    changes: Sequence[Change],
    name: Col = Col("Language", label, kind="name"),  # noqa: B008  (it is frozen)
    least: str = "",
    **more: Any,  # noqa: ANN401
) -> Table:
    def at_least(one: Change) -> Cell:
        return (
            Cell(numbers.MISSING) if one.least is None else Cell(numbers.signed(one.least), value=one.least)
        )

    return of_records(
        title,
        changes,
        name,
        Col("Before", "before"),
        Col("After", "after", main=True),
        Col("Difference", "difference", ci="ci"),
        Col("At least", at_least, spare=True, meaning=least),
        Col("Questions", "n_questions", spare=True),
        csv="source target before after difference ci.low ci.high least p_harmed n_questions n_clusters",
        **more,
    )


def _by_pair(repair: Repair, maps: Matrix | None) -> Iterator[Block]:
    """Yield maps before, after and of the changes, and a table: of all pairs, in a terminal of the worst."""
    title = f"{_PAIR[repair.criterion]}, by language pair"
    every = _changes(title, repair.pairs, where="written")
    if len({tag for one in repair.pairs for tag in (one.source, one.target)}) >= _FEW_LANGUAGES:
        yield from [] if maps is None else [maps]
        yield changes_by_pair(repair)
        yield Fold("Every language pair, with the interval of its change", [every], where="written")
    else:
        yield every
    worst = sorted(repair.pairs, key=lambda one: one.difference)[:_SHOWN]
    notes = (f"the {len(worst)} that gain least, of {len(repair.pairs)}",)
    yield _changes(title, worst, where="screen", notes=notes if len(worst) < len(repair.pairs) else ())


def changes_by_pair(repair: Repair) -> Matrix:
    """Draw the differences by the question's language (rows) and the answer's (columns), in two hues."""
    return changes_of(
        repair.pairs,
        label,
        title=f"{_PAIR[repair.criterion]}: what changes, by language pair",
        corner="question ↓\nanswer →",
        framed="question and answer are in one language",
    )


def _space(repair: Repair, **more: Any) -> Table:  # noqa: ANN401
    """Show the advantage of the question's language, and hubs, before and after."""
    hubs, bias = repair.hubs, repair.bias
    rows = [] if bias is None else [("own language's advantage", bias.before, bias.after, bias.ci)]
    rows.append((f"skewness of hubs, first {hubs.k}", hubs.before, hubs.after, None))
    return of_records(
        "Own language and hubs",
        rows,
        Col("", lambda row: row[0], kind="name", short="what"),
        Col("Before", lambda row: row[1]),
        Col("After", lambda row: row[2], main=True),
        Col("Difference", lambda row: Cell.difference(row[2] - row[1], row[3])),
        **more,
    )


def _tried(repair: Repair) -> list[Block]:
    best = repair.tried[:_SHOWN]
    plain = [one for one in repair.tried if (one.spec, one.similarity) == ("none", "cosine")]
    plain = [one for one in plain if one not in best]
    shown, n = [*best, *plain], len(repair.tried)
    note = f"the best {len(best)} of {n}{', and none' if plain else ''}"
    blocks: list[Block] = [_tried_table(repair, shown, where="screen", notes=(note,), words=False)]
    if len(shown) == n:
        blocks.append(_tried_table(repair, shown, where="written"))
    else:
        blocks.append(_tried_table(repair, shown, where="page", notes=(note,)))
        blocks.append(
            Fold(f"All {n}", [_tried_table(repair, repair.tried, where="written")], where="written")
        )
    left = [f"Not possible on these data: {in_words(one.spec)} ({one.why})." for one in repair.left_out]
    return [*blocks, *map(Prose, left)]


def _tried_table(
    repair: Repair,
    tried: Sequence[TriedRepair],
    *,
    words: bool = True,
    **more: Any,  # noqa: ANN401
) -> Table:
    """Make a table of what was tried, in `words` too: a terminal has no room for them."""

    def spec(one: TriedRepair) -> Cell:
        if (one.spec, one.similarity) != (repair.chosen, repair.similarity):
            return Cell(one.spec)
        return Cell(one.spec, mark=" ←", badges=(Badge("chosen", where="page"),))

    def said(one: TriedRepair) -> str:
        return repaired_by(one.spec, one.similarity)

    return of_records(
        "Transforms, the best first",
        tried,
        Col("Transform", spec, kind="name"),
        Col("Compared by", "similarity", kind="name"),
        Col("In words", said, kind="words", spare=True) if words else None,
        Col(f"{repair.criterion}, part for choosing", "value", short="mAP", main=True),
        csv="spec similarity value",
        titled=False,
        **more,
    )


def findings(repair: Repair) -> list[str]:
    """Write the verdict, what changes by language, and who loses."""
    n, value = len(repair.tried) - 1, numbers.number(repair.tried[0].value)
    if n and len({one.value for one in repair.tried}) == 1:
        of = numbers.counted(repair.choose.questions, "question")
        too = "easy" if repair.tried[0].value == 1 else "hard"
        return [
            f"These data cannot compare repairs: all {n} repairs and the unchanged {repair.encoder} have "
            f"{repair.criterion} {value} over the {of} for choosing. These are too few, or too {too}: use "
            "more data, with more candidates."
        ]
    if repair.outcome == UNCHANGED:
        return [
            f"None of {n} repairs is better than the unchanged {repair.encoder}: {repair.criterion} "
            f"{numbers.number(repair.whole.before)} over {_tested(repair)}. Do not repair it."
        ]
    alike = repair.near_duplicates
    sentences = [
        _verdict(repair),
        _bias(repair),
        _pairs(repair),
        *_one_language(repair.pairs),
        _monolingual(repair),
        f"{'Every' if repair.harmless else 'It is not shown that every'} language pair "
        f"{'is shown to lose' if repair.harmless else 'loses'} less than {repair.delta:g}.",
        f"{alike:,} clusters have near-equal texts in others: each such family is one cluster and stands in "
        "one part."
        if alike
        else "",
    ]
    return [sentence for sentence in sentences if sentence]


def _verdict(repair: Repair) -> str:
    whole, words = repair.whole, repaired_by(repair.chosen, repair.similarity)
    words = words[0].upper() + words[1:]
    written = "With --out the model is written (model:DIR/model), but it {}: leave the encoder as it is"
    does, ending = {
        BETTER: (f"{words} makes {repair.encoder} better", "The interval excludes zero."),
        UNDECIDED: (
            f"{words} was chosen for {repair.encoder}, but no benefit is shown by the test",
            f"The interval contains zero. {written.format('is not shown to help')}, or test on more data.",
        ),
    }.get(
        repair.outcome,
        (
            f"{words} was chosen for {repair.encoder}, and makes it worse",
            f"{written.format('makes it worse')}.",
        ),
    )
    values = f"{repair.criterion} {numbers.number(whole.before)} → {numbers.number(whole.after)}"
    return f"{does}: {values}, {_by(whole)}, over {_tested(repair)}. {ending}"


def _tested(repair: Repair) -> str:
    return f"{numbers.counted(repair.whole.n_questions, 'question')} that took no part in the choice"


def _by(change: Change) -> str:
    return numbers.signed(change.difference, change.ci)


def _bias(repair: Repair) -> str:
    if repair.bias is None:
        return ""
    before, after = numbers.number(repair.bias.before), numbers.number(repair.bias.after)
    return (
        f"The advantage of the question's own language goes from {before} to {after}: {_by(repair.bias)} "
        "(mAP of a single answer in it, less that of one in another)."
    )


def _pairs(repair: Repair) -> str:
    """Count the pairs that are shown to gain and to lose, and name the worst."""
    if len(repair.pairs) < 2:
        return ""
    gain, lose = shown(repair.pairs)
    among = "of the answer's language" if repair.criterion == CROSSLINGUAL_MAP else "of all languages"
    counts = (
        f"Of {len(repair.pairs)} language pairs (a single answer, among candidates {among}) {len(gain)} "
        f"{'is' if len(gain) == 1 else 'are'} shown to gain and {len(lose)} to lose"
    )
    worst = min(repair.pairs, key=lambda one: one.difference)
    if worst.difference >= 0:
        return f"{counts}; none loses anything."
    return f"{counts}; {label(worst)} loses most: {_by(worst)}."


def _one_language(pairs: Sequence[Change]) -> Iterator[str]:
    """Yield the languages whose answers, or questions, lose in every pair, and are shown to in some."""
    for side, sentence in (
        ("target", "Retrieval of answers in {} is worse for questions in every language"),
        ("source", "Questions in {} have worse retrieval of answers in every language"),
    ):
        for tag in dict.fromkeys(getattr(one, side) for one in pairs):
            alike = [one for one in pairs if getattr(one, side) == tag]
            n = len(shown(alike)[1])
            if n and len(alike) >= _SEVERAL and all(one.difference < 0 for one in alike):
                where = f"in {n} of {len(alike)} pairs the interval excludes zero"
                yield f"{sentence.format(named(tag))}; {where}."


def _monolingual(repair: Repair) -> str:
    if not repair.monolingual:
        return ""
    _, lose = shown(repair.monolingual)
    least, most = (pick(repair.monolingual, key=lambda one: one.difference) for pick in (min, max))
    begin = "Search in one language is measured separately, without candidates of other languages:"
    if not lose:
        span = f"{numbers.signed(least.difference)} to {numbers.signed(most.difference)}"
        return f"{begin} no language is shown to lose there ({span})."
    return (
        f"{begin} {len(lose)} of {numbers.counted(len(repair.monolingual), 'language')} "
        f"{'is' if len(lose) == 1 else 'are'} shown to lose there, {named(least.source)} most: {_by(least)}."
    )


def shown(changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Choose the changes whose intervals are above zero, and those below."""
    tested = [(one, one.ci) for one in changes if one.ci is not None]
    return [one for one, ci in tested if ci.low > 0], [one for one, ci in tested if ci.high < 0]
