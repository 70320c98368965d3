"""The page of a repair: the verdict, before and after by language, and all that was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlingual.online import page as address
from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Fold, Matrix, Page, Prose, Section
from xlingual.report.figures.repair import changes_by_pair
from xlingual.report.findings.repair import findings, label
from xlingual.report.pages.before_and_after import SideBySide
from xlingual.report.table import Badge, Cell, Column, Row, Table, Where, narrower
from xlingual.report.transforms import in_words, repaired_by
from xlingual.results.repair import (
    BETTER,
    CROSSLINGUAL_MAP,
    POOL_MAP,
    BeforeAndAfter,
    Change,
    Repair,
    TriedRepair,
)

_SHOWN = 8  # of what was tried, in a terminal
_FEW_LANGUAGES = 3
_ABOUT = (
    "Transforms were fitted on one part of the data, one was chosen on another, and this is the third, which "
    "was used once. Differences are paired by question; the intervals by language, by pair and within one "
    "language hold together, all of them (max-t), so that the worst of them can be read; those over all "
    "languages stand alone."
)
_WHOLE = {
    POOL_MAP: "mAP over the pool",
    CROSSLINGUAL_MAP: "mAP in each other language by itself",
}
_OTHER = {POOL_MAP: CROSSLINGUAL_MAP, CROSSLINGUAL_MAP: POOL_MAP}
_PAIR = {
    POOL_MAP: "mAP of a single answer, by language pair",
    CROSSLINGUAL_MAP: "mAP among the candidates of the answer's language, by language pair",
}
_LEAST = "lower bound of the difference, one-sided, for one line alone"
_NO_JUDGE = (
    "Do not judge a repair by Backretrieval and SIM: they may fall when search over all languages improves: "
    f"{address('explanation/repair-without-leakage')}"
)


def page(found: Repair | BeforeAndAfter, *, title: str | None = None) -> Page:
    """Return the page of a repair; with the evaluation of both, the space, languages and hubs too."""
    both = SideBySide.of(found) if isinstance(found, BeforeAndAfter) else None
    found = found.found if isinstance(found, BeforeAndAfter) else found
    methods = {one.ci.method for one in [found.whole, *found.languages, *found.pairs] if one.ci is not None}
    return Page(
        kind="repair",
        title=title or f"Can {found.encoder} be repaired?",
        verdict=[Finding(findings(found))],
        sections=[
            Section("Before and after", list(_before_and_after(found, both)), _ABOUT),
            *([] if both is None else [both.section()]),
            Section("What was tried", _tried(found)),
        ],
        facts=list(_facts(found).items()),
        warnings=found.warnings,
        conditions=[(key, [value]) for key, value in found.conditions.items()],
        methods=sorted(methods),
        names=[found.encoder],
    )


def _facts(found: Repair) -> dict[str, str]:
    parts = {"fitted on": found.fit, "chosen on": found.choose, "tested on": found.test}
    facts = {
        "encoder": found.encoder,
        "transform": found.chosen,
        "compared by": found.similarity,
        "criterion": f"{found.criterion} on the part for choosing",
        **{
            name: ", ".join(
                numbers.counted(count, noun)
                for count, noun in (
                    (part.questions, "question"),
                    (part.candidates, "candidate"),
                    (part.clusters, "cluster"),
                )
            )
            for name, part in parts.items()
        },
        "dimensions": numbers.count(found.dim),
    }
    if found.model is not None:
        said = "use it as" if found.outcome == BETTER else "the model, not shown to help"
        facts[said] = f"model:DIR/{found.model}::{found.spec or 'SPEC'}"
    if found.parts is not None:
        facts["rows of the parts"] = f"DIR/{found.parts}, with --split fit, choose or test"
    return facts


def _before_and_after(found: Repair, both: SideBySide | None) -> Iterator[Block]:
    title = f"{_WHOLE[found.criterion]}, by the question's language"
    yield _changes(title, [found.whole, *found.languages], least=_LEAST)
    if found.other is not None:
        yield _changes(_WHOLE[_OTHER[found.criterion]], [found.other])
    if len(found.pairs) > 1:
        maps = None if both is None or found.criterion != POOL_MAP else both.by_pair()
        yield from _by_pair(found, maps)
    if found.monolingual:
        title = "mAP in one language alone, without candidates of other languages"
        yield _changes(title, found.monolingual, alone=True)
    yield _space(found, where="both" if both is None else "screen")
    if found.beside:
        yield from (_beside_table(found), Prose(_NO_JUDGE))


def _by_pair(found: Repair, maps: Matrix | None) -> Iterator[Block]:
    """Yield maps before, after and of the changes, and a table: of all pairs, in a terminal of the worst."""
    title = _PAIR[found.criterion]
    every = _changes(title, found.pairs, where="written")
    if len({tag for one in found.pairs for tag in (one.source, one.target)}) >= _FEW_LANGUAGES:
        yield from (one for one in (maps, changes_by_pair(found)) if one is not None)
        yield Fold("Every language pair, with the interval of its change", [every], where="written")
    else:
        yield every
    worst = sorted(found.pairs, key=lambda one: one.difference)[:_SHOWN]
    notes = (f"the {len(worst)} that gain least, of {len(found.pairs)}",)
    yield _changes(title, worst, where="screen", notes=notes if len(worst) < len(found.pairs) else ())


def _space(found: Repair, where: Where) -> Table:
    """Return the advantage of the own language, and hubs, before and after."""
    rows = []
    if (bias := found.bias) is not None:
        rows.append(
            ("own language's advantage", bias.before, bias.after, Cell.difference(bias.difference, bias.ci))
        )
    change = found.hubs.after - found.hubs.before
    rows.append(
        (
            f"skewness of hubs, first {found.hubs.k}",
            found.hubs.before,
            found.hubs.after,
            Cell.difference(change, None),
        )
    )
    columns = (
        Column("", "name", "what"),
        Column("Before", short="before"),
        Column("After", short="after", main=True),
        Column("Difference", short="difference", interval="interval"),
    )
    return Table(
        "Own language and hubs",
        columns,
        tuple(
            Row((Cell(name), Cell.of(before), Cell.of(after), change)) for name, before, after, change in rows
        ),
        where=where,
    )


def _changes(
    title: str,
    changes: Sequence[Change],
    *,
    where: Where = "both",
    alone: bool = False,
    notes: tuple[str, ...] = (),
    least: str = "",
) -> Table:
    columns = (
        Column("Language", "name", "language"),
        Column("Before", short="before"),
        Column("After", short="after", main=True),
        Column("Difference", short="difference", interval="interval"),
        Column("At least", short="at least", meaning=least),
        Column("Questions", short="questions"),
    )
    return Table(
        title,
        columns,
        tuple(
            Row(
                (
                    Cell(label(one, alone=alone)),
                    Cell.of(one.before),
                    Cell.of(one.after),
                    Cell.difference(one.difference, one.ci),
                    _least(one),
                    Cell.count(one.n_questions),
                )
            )
            for one in changes
        ),
        looks=narrower("questions", "at least"),
        in_verdict=("questions", "at least"),
        records=[
            {
                "table": title, "source": one.source, "target": one.target, "before": one.before,
                "after": one.after, "difference": one.difference, "low": one.ci and one.ci.low,
                "high": one.ci and one.ci.high, "least": one.least, "p_harmed": one.p_harmed,
                "n_questions": one.n_questions, "n_clusters": one.n_clusters,
            }
            for one in changes
        ],
        where=where,
        notes=notes,
    )  # fmt: skip


def _beside_table(found: Repair) -> Table:
    columns = (
        Column("Without translations", "name", "measure"),
        Column("Before", short="before"),
        Column("After", short="after"),
        Column("Difference", short="difference", interval="interval"),
    )
    return Table(
        "Backretrieval and SIM, which do not judge a repair",
        columns,
        tuple(
            Row(
                (
                    Cell("SIM" if one.measure == "SIM" else f"BkR {one.measure}"),
                    Cell.of(one.before),
                    Cell.of(one.after),
                    Cell.difference(one.difference, one.ci),
                )
            )
            for one in found.beside
        ),
        where="both",
    )


def _least(one: Change) -> Cell:
    return Cell(numbers.MISSING) if one.least is None else Cell(numbers.signed(one.least), value=one.least)


def _tried(found: Repair) -> list[Block]:
    best = found.tried[:_SHOWN]
    plain = [
        one for one in found.tried if (one.spec, one.similarity) == ("none", "cosine") and one not in best
    ]
    note = f"the best {len(best)} of {len(found.tried)}" + (", and none" if plain else "")
    left = [Prose(f"Not possible on these data: {in_words(one.spec)} ({one.why}).") for one in found.left_out]
    shown, few = [*best, *plain], len(found.tried) == len(best) + len(plain)
    return [
        _tried_table(found, shown, where="written" if few else "page", notes=() if few else (note,)),
        *(
            []
            if few
            else [Fold(f"All {len(found.tried)}", [_tried_table(found, found.tried)], where="written")]
        ),
        _tried_table(found, shown, where="screen", notes=(note,), words=False),
        *left,
    ]


def _spec(found: Repair, one: TriedRepair) -> Cell:
    if (one.spec, one.similarity) != (found.chosen, found.similarity):
        return Cell(one.spec)
    return Cell(one.spec, mark=" ←", badges=(Badge("chosen", where="page"),))


def _tried_table(
    found: Repair, tried: Sequence[TriedRepair], *, where: Where = "written", notes: tuple[str, ...] = (),
    words: bool = True,
) -> Table:  # fmt: skip
    """Return what was tried, in `words` too: a terminal has no room for them."""
    columns = (
        Column("Transform", "name", "transform"),
        Column("Compared by", "name", "compared by"),
        *([Column("In words", "words", "in words")] if words else []),
        Column(f"{found.criterion}, part for choosing", short="mAP", main=True),
    )
    return Table(
        "Transforms, the best first",
        columns,
        tuple(
            Row(
                (
                    _spec(found, one),
                    Cell(one.similarity),
                    *([Cell(repaired_by(one.spec, one.similarity))] if words else []),
                    Cell.of(one.value),
                )
            )
            for one in tried
        ),
        titled=False,
        looks=narrower("in words"),
        records=[{"transform": one.spec, "similarity": one.similarity, "value": one.value} for one in tried],
        where=where,
        notes=notes,
    )
