"""The verdict on a table of validations: which measure agrees best with true retrieval, and is that real."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.findings.validation import ALPHA, MONTE_CARLO
from xlingual.report.leaders import contains
from xlingual.report.table import Cell
from xlingual.results.validation import COEFFICIENTS, MEASURES
from xlingual.results.validation_table import (
    CONTRASTS,
    CorrectedDifference,
    MeanAgreement,
    TableRow,
    ValidationTable,
)


def findings(table: ValidationTable) -> list[str]:
    """Return the sentences: agreement on average, the best of each row, and each rival of BkR."""
    return [
        *_means(table),
        *(_best(table, kind) for kind in COEFFICIENTS),
        *(_rival(table, contrast) for contrast in reversed(CONTRASTS)),
        f"{MONTE_CARLO} Differences are tested row by row, over families of encoders and items; the mean "
        "over rows has no test, since its unit is the data set, and there are few data sets.",
    ]


def data_sets(table: ValidationTable) -> list[str]:
    """Return the names of the data sets, in order."""
    return list(dict.fromkeys(row.data_set for row in table.rows))


def row_name(row: TableRow) -> str:
    """Return how sentences name a row: IKEA en → de."""
    return f"{row.data_set} {words.pair(row.source, row.target)}"


def outcome(one: CorrectedDifference) -> str:
    """Return what the test of a row says by itself: better, worse, no difference found, cannot tell."""
    if one.value is None or one.ci is None or one.p is None:
        return "cannot tell"
    if contains(one.ci, 0.0) or one.p >= ALPHA:
        return "no difference found"
    return "better" if one.value > 0 else "worse"


def is_sure(one: CorrectedDifference) -> bool:
    """Tell whether a difference is real also after the correction for all tests of the table."""
    return outcome(one) in ("better", "worse") and one.p_adjusted is not None and one.p_adjusted < ALPHA


def _means(table: ValidationTable) -> list[str]:
    over = (
        f"{numbers.counted(len(table.rows), 'row')} of {numbers.counted(len(data_sets(table)), 'data set')}"
    )
    shown = {name: [*map(_mean, table.mean[name].values())] for name in MEASURES}
    if all(one.mean is None for own in table.mean.values() for one in own.values()):
        return [f"No row of {over} has a coefficient."]
    head, *rest = (f"{name} {' and '.join(values)}" for name, values in shown.items())
    kinds = " and ".join(kind.capitalize() for kind in COEFFICIENTS)
    return [
        f"Agreement with true retrieval (XLR), mean over {over} ± standard error over seeds ({kinds}): "
        f"{head}; {'; '.join(rest)}."
    ]


def _mean(one: MeanAgreement) -> str:
    return Cell.mean(one.mean, one.se).plain


def _best(table: ValidationTable, kind: str) -> str:
    rows = [row for row in table.rows if row.leaders(kind)]
    known = [name for row in rows for name in row.leaders(kind)]
    counts = [
        f"{name} in {known.count(name)}"
        for name in sorted(MEASURES, key=known.count, reverse=True)
        if name in known
    ]
    equal = sum(len(row.leaders(kind)) > 1 for row in rows)
    tied = f" (equal ones in {equal})" if equal else ""
    others = [row for row in table.rows if "BkR" not in (row.leaders(kind) or ["BkR"])]
    named = f"; not BkR in {numbers.in_words([*map(row_name, others)], 12)}" if others else ""
    return (
        f"Highest {kind.capitalize()} of {numbers.counted(len(rows), 'row')}: "
        f"{numbers.in_words(counts) or 'none'}{tied}{named}."
    )


def _rival(table: ValidationTable, contrast: str) -> str:
    """Return a sentence on BkR against SIM or CORR: in how many rows a difference is real."""
    rival, found = contrast.partition("-")[2], []
    for kind in COEFFICIENTS:
        tested = [(row, row.differences[contrast][kind]) for row in table.rows]
        better, worse = (
            [pair for pair in tested if outcome(pair[1]) == word] for word in ("better", "worse")
        )
        text = f"{kind.capitalize()} in {len(better)} of {numbers.counted(len(tested), 'row')}"
        text += _corrected(table, better)
        if worse:
            names = numbers.in_words([row_name(row) for row, _ in worse], 12)
            text += f", worse in {len(worse)}{_corrected(table, worse)}: {names}"
        found.append(text)
    return f"BkR is shown to agree better than {rival} by {'; by '.join(found)}."


def _corrected(table: ValidationTable, tested: Sequence[tuple[TableRow, CorrectedDifference]]) -> str:
    sure = sum(is_sure(one) for _, one in tested)
    return f" ({sure} after correction for {numbers.counted(table.n_tests, 'test')})" if tested else ""
