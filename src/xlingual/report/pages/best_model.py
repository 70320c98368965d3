"""Tables of the best model of a case study against every other, as the paper's Table 2 claims it."""

from __future__ import annotations

from collections.abc import Mapping

from xlingual.report import words
from xlingual.report.blocks import Block, Fold
from xlingual.report.findings import case_study as verdict
from xlingual.report.findings.case_study import SCALE, UNIT, label
from xlingual.report.table import Cell, Table, narrower
from xlingual.report.trainings import differences
from xlingual.results.case_study import BestModel, BestOnPair, CaseStudy
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, WORSE

_KINDS = ((BETTER,), (NO_DIFFERENCE, CANNOT_TELL), (WORSE,))


def best_model_tables(study: CaseStudy) -> list[Block]:
    """Return the tests of the best model against every other: on average, and on each language pair."""
    best, names = study.best, {model.name: label(model) for model in study.models}
    if best is None:
        return []
    leader, others = names[best.name], sorted(best.others, key=lambda other: -other.value)
    several = any(other.pairs for other in others)
    counted = ["pairs: better", "none found", "worse"] if several else []
    rows = [
        [
            names[other.model],
            Cell.by(verdict.gain, other.value, other.ci, scale=SCALE),
            other.p_adjusted,
            other.outcome,
            *(Cell.count(sum(p.outcome in kinds for p in other.pairs)) for kinds in _KINDS if several),
        ]
        for other in others
    ]
    tests = f"p corrected for all {best.n_tests} pairs of models" if best.n_tests > 1 else "one test"
    note = f"ahead: the value of {leader} less the other's, on average over language pairs; {tests}."
    if several:
        note += (
            f" pairs: on how many language pairs {leader} is better, none is found to be (or none could be "
            f"tested), or it is worse; p corrected for {best.n_pair_tests:,} tests."
        )
    notes = [note, *(f"{names[other.model]}: {other.note}." for other in others if other.note)]
    table = differences(
        f"{leader} against every other", ["other", f"ahead, BkR {UNIT}"], rows, more=counted,
        notes=tuple(notes), looks=narrower(*counted, "outcome"), in_verdict=("outcome",), where="both",
    )  # fmt: skip
    single = _best_on_pairs(best, names)
    return [table, Fold(single.title, [single])] if single.rows else [table]


def _best_on_pairs(best: BestModel, names: Mapping[str, str]) -> Table:
    """Return what the best model gains over each other model on each language pair, with marks."""
    others = sorted(best.others, key=lambda other: -other.value)
    rows = [
        [words.pair(own[0].source, own[0].target), *map(_marked_gain, own)]
        for own in zip(*(other.pairs for other in others), strict=True)
    ]
    note = f"*: a difference is found; p corrected for {best.n_pair_tests:,} tests."
    title = f"{names[best.name]} less every other on each language pair, BkR {UNIT}"
    return Table.of_texts(
        title, ["pair", *(names[o.model] for o in others)], rows, titled=False, notes=(note,)
    )


def _marked_gain(pair: BestOnPair) -> Cell:
    if pair.outcome not in (BETTER, WORSE):
        return Cell.by(verdict.gain, pair.value, scale=SCALE)
    return Cell.by(lambda value: f"{verdict.gain(value)}*", pair.value, scale=SCALE, tone="best")
