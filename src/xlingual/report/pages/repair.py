"""The page of a repair: the verdict, before and after by language, and all that was tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Fold, Page, Prose, Section
from xlingual.report.figures.repair import changes_by_pair
from xlingual.report.findings.repair import findings, label
from xlingual.report.table import Cell, Column, Row, Table, Where, narrower
from xlingual.report.transforms import in_words, repaired_by
from xlingual.results.repair import CROSSLINGUAL_MAP, POOL_MAP, Change, Repair, TriedRepair

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
    CROSSLINGUAL_MAP: "mAP among the candidates of each other language by itself",
}
_OTHER = {POOL_MAP: CROSSLINGUAL_MAP, CROSSLINGUAL_MAP: POOL_MAP}
_PAIR = {
    POOL_MAP: "mAP of a single answer, by language pair",
    CROSSLINGUAL_MAP: "mAP among the candidates of the answer's language, by language pair",
}
_NO_JUDGE = (
    "Backretrieval and SIM are no judges of a repair: they fall where search over all languages gets better "
    "(docs/repair.md)."
)


def page(found: Repair, *, title: str | None = None) -> Page:
    """Return the page of a repair."""
    parts = {
        "fitted on": found.fit,
        "chosen on": found.choose,
        "tested on": found.test,
    }
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
        facts["use it as"] = f"model:DIR/{found.model}::{found.spec or 'SPEC'}"
    if found.similarity != "cosine":
        mark = "&" if "?" in found.similarity else "?"
        of = "QUESTIONS" if found.parts is None else f"DIR/{found.parts}#fit"
        facts["compare with"] = f"--similarity '{found.similarity}{mark}fit={of}'"
    if found.parts is not None:
        facts["rows of the parts"] = f"DIR/{found.parts}, with --split fit, choose or test"
    sections = [Section("Before and after", [*_before_and_after(found), Prose(_ABOUT)])]
    sections.append(Section("What was tried", _tried(found)))
    methods = {one.ci.method for one in [found.whole, *found.languages, *found.pairs] if one.ci is not None}
    return Page(
        kind="repair",
        title=title or f"Can {found.encoder} be repaired?",
        verdict=[Finding(findings(found))],
        sections=sections,
        facts=list(facts.items()),
        warnings=found.warnings,
        conditions=[(key, [value]) for key, value in found.conditions.items()],
        methods=sorted(methods),
        names=[found.encoder],
    )


def _before_and_after(found: Repair) -> list[Block]:
    blocks: list[Block] = [
        _changes(f"{_WHOLE[found.criterion]}, by the question's language", [found.whole, *found.languages])
    ]
    if found.other is not None:
        blocks.append(_changes(_WHOLE[_OTHER[found.criterion]], [found.other]))
    by_pair = _PAIR[found.criterion]
    if len(found.pairs) > 1:
        languages = {tag for one in found.pairs for tag in (one.source, one.target)}
        table = _changes(by_pair, found.pairs, where="written")
        worst = sorted(found.pairs, key=lambda one: one.difference)[:_SHOWN]
        if len(languages) >= _FEW_LANGUAGES:
            blocks += [changes_by_pair(found), Fold("Every language pair", [table], where="written")]
        else:
            blocks.append(table)
        note = f"the {len(worst)} that gain least, of {len(found.pairs)}"
        blocks.append(
            _changes(
                by_pair,
                worst,
                where="screen",
                notes=(note,) if len(worst) < len(found.pairs) else (),
            )
        )
    if found.monolingual:
        blocks.append(_changes("mAP within one language", found.monolingual, alone=True))
    more = [
        f"Skewness of hubs (first {found.hubs.k} places): {numbers.number(found.hubs.before)} before, "
        f"{numbers.number(found.hubs.after)} after."
    ]
    blocks.append(Prose(" ".join(more)))
    if found.beside:
        blocks += [_beside_table(found), Prose(_NO_JUDGE)]
    return blocks


def _changes(
    title: str,
    changes: Sequence[Change],
    *,
    where: Where = "both",
    alone: bool = False,
    notes: tuple[str, ...] = (),
) -> Table:
    columns = (
        Column("Language", "name", "language"),
        Column("Before", short="before"),
        Column("After", short="after", main=True),
        Column("Difference", short="difference", interval="interval"),
        Column("At least", short="at least"),
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
    return [
        _tried_table(found, found.tried, where="written"),
        _tried_table(found, [*best, *plain], where="screen", notes=(note,)),
        *left,
    ]


def _is_chosen(found: Repair, one: TriedRepair) -> bool:
    return (one.spec, one.similarity) == (found.chosen, found.similarity)


def _tried_table(found: Repair, tried: Sequence[TriedRepair], **more: Any) -> Table:  # noqa: ANN401
    columns = (
        Column("Transform", "name", "transform"),
        Column("Compared by", "name", "compared by"),
        Column("In words", "words", "in words"),
        Column(f"{found.criterion}, part for choosing", short="mAP", main=True),
    )
    return Table(
        "Transforms, the best first",
        columns,
        tuple(
            Row(
                (
                    Cell(one.spec, mark=" ←" if _is_chosen(found, one) else ""),
                    Cell(one.similarity),
                    Cell(repaired_by(one.spec, one.similarity)),
                    Cell.of(one.value),
                )
            )
            for one in tried
        ),
        titled=False,
        looks=narrower("in words"),
        records=[{"transform": one.spec, "similarity": one.similarity, "value": one.value} for one in tried],
        **more,
    )
