"""Table 1 of the Backretrieval paper: validations of several data sets, a row for each direction; its page.

Coefficients, standard errors over seeds and the tests of differences are those of the validations. New are
the correction of their p for the number of rows, and the mean over rows with its error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from msgspec import Struct, field, structs

from xlingual.errors import InputError, listed
from xlingual.evaluation.metric_validation.agreement import spread
from xlingual.papers.validation import (
    ALPHA,
    MONTE_CARLO,
    RIVAL_NAMES,
    TERMS,
    conditions_of,
    notes_of,
    outcome,
)
from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.table import Cell, Table, TableRoom, narrower
from xlingual.requests.provenance import note_argument
from xlingual.results.document import FolderDocument
from xlingual.results.files import REPORT
from xlingual.results.provenance import noted, noting
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    RIVALS,
    Agreement,
    CoefficientDifference,
    PairValidation,
    Validation,
    lacking,
)
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Note,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
)
from xlingual.stats.corrections import holm

ValidationLike: TypeAlias = Validation | str | Path
_OF_DATA = {  # conditions in which data sets differ or that are refused, which are no protocol
    "data", "sample", "images", "measure", "conventions", "source", "target", "seeds", "n_source", "n_target",
    "n_matching", "n_pictures",
}  # fmt: skip
_ROUNDING = 1e-12  # what the order of additions leaves between equal means


class CorrectedDifference(CoefficientDifference, frozen=True):
    """A difference of two coefficients of one row, with p corrected for all tests of the table."""

    p_adjusted: Annotated[
        Share | None, about("p corrected by Holm over all differences of the table; null without a test.")
    ] = None


class TableRow(Struct, frozen=True, kw_only=True):
    """One language pair of one data set."""

    data_set: Annotated[str, about("Name of the data set.")]
    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    n_source: Annotated[Size, about("Source texts of a sample: N.")]
    k: Annotated[Size, about("K of the measure.")]
    n_seeds: Annotated[Size, about("Samples.")]
    n_encoders: Annotated[Count, about("Text encoders.")]
    n_families: Annotated[Count, about("Families of text encoders: the unit of the tests.")]
    image_encoder: Annotated[str, about("Name of the image encoder.")]
    agreement: Annotated[
        dict[str, dict[str, Agreement]], about("Agreement with XLR, by measure and coefficient.")
    ]
    differences: Annotated[
        dict[str, dict[str, CorrectedDifference]],
        about("Differences of dependent coefficients: by BkR-CORR and BkR-SIM, then by coefficient."),
    ]
    conditions: Conditions

    def best(self, kind: str) -> list[str]:
        """Name the measures with the highest mean of a coefficient: several where they are equal."""
        means = {name: self.agreement[name][kind].mean for name in MEASURES}
        highest = max((mean for mean in means.values() if mean is not None), default=0.0)
        return [name for name, mean in means.items() if mean is not None and highest - mean < _ROUNDING]


class MeanAgreement(Struct, frozen=True):
    """The mean of a coefficient over the rows of a table."""

    mean: Annotated[Number | None, about("Mean over the rows that have the coefficient.")]
    se: Annotated[
        Amount | None,
        about("Monte Carlo error of the mean; rows of one data set share their samples, and count so."),
    ]
    n_rows: Annotated[Count, about("Rows that have the coefficient.")]
    note: Note = None


class ValidationTable(FolderDocument, frozen=True, tag="xlingual/validation_table/1"):
    """How BkR, SIM and CORR agree with true retrieval on several data sets."""

    made_by = "xlingual papers backretrieval table1 … --out DIR"
    file = "validation_table.json"
    derived = (REPORT,)

    measure: Annotated[str, about("Canonical name of the measure of BkR: R@10.")]
    rows: Annotated[list[TableRow], about("One entry per data set and language pair, in order.")]
    mean: Annotated[
        dict[str, dict[str, MeanAgreement]], about("The mean over rows: by measure, then by coefficient.")
    ]
    n_tests: Annotated[Count, about("Differences that p_adjusted is corrected for.")]
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def problem(self) -> str | None:
        """Name the first row, measure or coefficient that is missing."""
        by_row = [lacking(row.agreement, row.differences) for row in self.rows]
        gaps = [f"rows[{number}].{gap}" for number, gap in enumerate(by_row) if gap]
        gaps += [f"mean.{name}" for name in MEASURES if {*COEFFICIENTS} - {*self.mean.get(name, {})}]
        if not self.rows:
            return "'rows' is empty"
        return f"the field {gaps[0]!r} is missing" if gaps else None


def validation_table(validations: Mapping[str, ValidationLike]) -> ValidationTable:
    """Put several validations in one table: a row for each data set and language pair, in order.

    Args:
        validations: records, or their files or folders, by the names of the data sets.

    Raises:
        InputError: a file is no validation; measure, K or conventions differ; a row is there twice.

    """
    with noting():
        note_argument(validations)
        read = {
            name: v if isinstance(v, Validation) else Validation.read(v) for name, v in validations.items()
        }
        provenance = noted(None)
    pairs = [(name, pair) for name, validation in read.items() for pair in validation.pairs]
    if not pairs:
        raise InputError("there is no validation with a language pair: name folders with validation.json")
    wholes = [pair.subsets["all"] for _, pair in pairs]
    contrasts = [(f"BkR-{rival}", kind) for rival in RIVALS for kind in COEFFICIENTS]
    places = [(place, *contrast) for place in range(len(pairs)) for contrast in contrasts]
    tests = {place: wholes[place[0]].differences[place[1]][place[2]] for place in places}
    p_values = {place: test.p for place, test in tests.items() if test.p is not None}
    adjusted = dict(zip(p_values, holm(np.array([*p_values.values()])).tolist(), strict=True))
    corrected: list[dict[str, dict[str, CorrectedDifference]]] = [{} for _ in pairs]
    for (place, name, kind), test in tests.items():
        difference = CorrectedDifference(**structs.asdict(test), p_adjusted=adjusted.get((place, name, kind)))
        corrected[place].setdefault(name, {})[kind] = difference
    shared = ("source", "target", "n_source", "k", "n_seeds", "conditions")
    rows = [
        TableRow(
            data_set=name, n_encoders=whole.n_encoders, n_families=whole.n_families,
            image_encoder=read[name].image_encoder, agreement=whole.agreement, differences=differences,
            **{field: getattr(pair, field) for field in shared},
        )
        for (name, pair), whole, differences in zip(pairs, wholes, corrected, strict=True)
    ]  # fmt: skip
    warnings = [f"{name}: {warning}" for name, validation in read.items() for warning in validation.warnings]
    return ValidationTable(
        measure=next(iter(read.values())).measure,
        rows=rows,
        mean={name: {kind: _mean(rows, name, kind) for kind in COEFFICIENTS} for name in MEASURES},
        n_tests=len(adjusted),
        warnings=[*_protocol(pairs), *warnings],
        timings={name: sum(validation.timings.values()) for name, validation in read.items()},
        provenance=provenance,
    )


def _protocol(pairs: Sequence[tuple[str, PairValidation]]) -> Iterator[str]:
    """Warn of conditions in which rows differ; raise InputError where rows cannot stand together."""
    seen: dict[Any, str] = {}
    values: dict[str, dict[str, list[str]]] = {}
    for name, pair in pairs:
        place, first = f"{name} {pair.source}-{pair.target}", pairs[0][1].conditions
        if different := [
            key for key in ("measure", "conventions") if pair.conditions.get(key) != first.get(key)
        ]:
            raise InputError(
                f"{place} and {pairs[0][0]} differ in {listed(different)}: validate all with one --measure "
                "and one version"
            )
        row = (*pair.conditions.items(), frozenset(encoder.encoder for encoder in pair.encoders))
        if seen.setdefault(row, place) != place:
            raise InputError(f"{place} is {seen[row]} once more, and a row counts once: give one of them")
        conditions = {key: value for key, value in pair.conditions.items() if key not in _OF_DATA}
        for key, value in (conditions | {"seeds": str(pair.n_seeds)}).items():
            values.setdefault(key, {}).setdefault(value, []).append(place)
        if pair.n_matching not in (None, pair.n_target):
            yield f"{place}: XLR chooses among {pair.n_matching} texts, BkR among {pair.n_target}"
    for key, places in values.items():
        if sum(map(len, places.values())) < len(pairs) or len(places) > 1:
            shown = "; ".join(f"{value} for {listed(rows)}" for value, rows in places.items())
            yield f"rows differ in {key}: {shown}"


def _mean(rows: Sequence[TableRow], name: str, kind: str) -> MeanAgreement:
    """Average a coefficient over rows, with its Monte Carlo error.

    Rows of one data set with one sample share their seeds: the variance of their sum is that of its values by
    seed, so what the rows have in common counts in full. Data sets are independent.
    """
    present = [row for row in rows if row.agreement[name][kind].mean is not None]
    if not present:
        return MeanAgreement(None, None, 0, "no row has the coefficient")
    left_out = len(rows) - len(present)
    note = f"without {left_out} of {len(rows)} rows" if left_out else None
    mean, variance = float(np.mean([row.agreement[name][kind].mean for row in present])), 0.0
    groups: dict[tuple[str | None, str | None, int], list[list[float | None]]] = {}
    for row in present:
        sampled = row.conditions.get("data"), row.conditions.get("sample"), row.n_seeds
        groups.setdefault(sampled, []).append(row.agreement[name][kind].per_seed)
    for series in groups.values():
        sums = [float(np.sum(values)) for values in zip(*series, strict=False) if None not in values]
        sd = spread(sums)
        if sd is None:
            return MeanAgreement(mean, None, len(present), note)
        variance += sd**2 / len(sums)
    return MeanAgreement(mean, float(np.sqrt(variance)) / len(present), len(present), note)


def page(table: ValidationTable, *, title: str | None = None) -> Page:
    """Make the page of Table 1."""
    sets = list(dict.fromkeys(row.data_set for row in table.rows))
    tests = [test for row in table.rows for by_kind in row.differences.values() for test in by_kind.values()]
    return Page(
        kind="report",
        title=title or f"Backretrieval compared with true retrieval: {numbers.in_words(sets, 4)}",
        verdict=[Finding(_sentences(table, len(sets)))],
        sections=[
            Section("Agreement with true retrieval", _table1(table)),
            Section("Is BkR's advantage real?", [_corrected(table)]),
        ],
        facts=[
            *numbers.facts((len(sets), "data set", "data sets"), (len(table.rows), "row", "rows")),
            ("measure", table.measure),
        ],
        terms=[(name, term) for name, term in TERMS.items() if name != "Order of two encoders"],
        warnings=list(dict.fromkeys(table.warnings)),
        conditions=list(conditions_of(row.conditions for row in table.rows).items()),
        methods=sorted({test.test for test in tests if test.test}),
        timings=[(name, numbers.duration(value)) for name, value in table.timings.items()],
        names=sets,
    )


def _sentences(table: ValidationTable, n_sets: int) -> list[str]:
    """Say how the measures agree on average, and in how many rows BkR is shown to be better than a rival."""
    over = f"{numbers.counted(len(table.rows), 'row')} of {numbers.counted(n_sets, 'data set')}"
    means = [
        f"{name} {' and '.join(Cell.mean(mean.mean, mean.se).plain for mean in table.mean[name].values())}"
        for name in MEASURES
    ]
    sentences = [
        f"Agreement with true retrieval (XLR), mean over {over} ± standard error over seeds (Pearson and "
        f"Spearman): {'; '.join(means)}."
    ]
    for rival in RIVALS:
        shown = []
        for kind in COEFFICIENTS:
            tests = [row.differences[f"BkR-{rival}"][kind] for row in table.rows]
            counts = {word: [test for test in tests if outcome(test) == word] for word in ("better", "worse")}
            text = f"{kind.capitalize()} in {len(counts['better'])} of {numbers.counted(len(tests), 'row')}"
            if counts["better"]:
                sure = [test for test in counts["better"] if (test.p_adjusted or 0.0) < ALPHA]
                text += f" ({len(sure)} after correction for {numbers.counted(table.n_tests, 'test')})"
            shown.append(text + (f", worse in {len(counts['worse'])}" if counts["worse"] else ""))
        sentences.append(f"BkR is shown to agree better than {RIVAL_NAMES[rival]} by {'; by '.join(shown)}.")
    return [*sentences, f"{MONTE_CARLO} The mean over rows has no test: its unit is the data set."]


def _table1(table: ValidationTable) -> list[Block]:
    """List the paper's Table 1: by data set and direction, Pearson and Spearman of each measure."""
    columns = [(kind, name) for kind in COEFFICIENTS for name in MEASURES]
    rows, noted = [], []
    for row in table.rows:
        cells = [_coefficient(row, kind, name) for kind, name in columns]
        rows.append([row.data_set, words.pair(row.source, row.target), *cells])
        noted += [
            (f"{_place(row)} {kind.capitalize()} {name}", row.agreement[name][kind].note)
            for kind, name in columns
        ]
    if len(rows) > 1:
        means = [table.mean[name][kind] for kind, name in columns]
        rows.append(["mean", "", *(Cell.mean(mean.mean, mean.se) for mean in means)])
    heads = ["data set", "direction", *(f"{kind.capitalize()} {name}" for kind, name in columns)]
    latex_table = Table.of_texts(
        "Agreement with true retrieval (XLR)", heads, rows, names=2, notes=notes_of(noted), titled=False,
        looks=(TableRoom(), TableRoom(heads=8)), splits=True, where="both",
    )  # fmt: skip
    legend = (
        f"Mean ± standard error over seeds. * differs from BkR (table below), p below {ALPHA:g} by itself; "
        f"** also after correction for {table.n_tests} tests (Holm)."
    )
    best = Prose("The highest of a row is bold.", "note-line", "both", bold=True)
    return [latex_table, Prose(legend, "note-line", "both"), best]


def _coefficient(row: TableRow, kind: str, name: str) -> Cell:
    """Write a coefficient, bold where it is the highest, with stars where BkR differs from it."""
    coefficient, tested = row.agreement[name][kind], row.differences.get(f"BkR-{name}", {}).get(kind)
    cell = Cell.mean(coefficient.mean, coefficient.se, tone="best" if name in row.best(kind) else "")
    if tested is None or outcome(tested) not in ("better", "worse"):
        return cell
    sure = tested.p_adjusted is not None and tested.p_adjusted < ALPHA
    return replace(cell, interval=f"{cell.interval}{'**' if sure else '*'}")


def _corrected(table: ValidationTable) -> Table:
    """List BkR's differences from its rivals in each row, with p corrected for all of them."""
    rows, noted = [], []
    for rival in RIVALS:
        for row, kind in ((row, kind) for row in table.rows for kind in COEFFICIENTS):
            test = row.differences[f"BkR-{rival}"][kind]
            cells = (
                Cell.difference(test.value, test.ci),
                *(Cell.by(numbers.p_value, p) for p in (test.p, test.p_adjusted)),
            )
            rows.append([_place(row), f"BkR − {rival}", kind.capitalize(), *cells, outcome(test)])
            noted.append((f"{_place(row)} {kind.capitalize()}", test.note))
    notes = (
        "BkR's coefficient less the other's, of the encoders' means over seeds. The coefficients above are "
        "means over seeds: their difference is another number.",
        *notes_of(noted),
    )
    heads = ["row", "difference", "coefficient", "value", "p", "adjusted p", "BkR is"]
    return Table.of_texts(
        "Differences", heads, rows, names=3, words=("BkR is",), data=True, notes=notes, titled=False,
        about=f"adjusted p: Holm, over {table.n_tests} tests", looks=narrower("BkR is", "adjusted p"),
        where="both",
    )  # fmt: skip


def _place(row: TableRow) -> str:
    return f"{row.data_set} {words.pair(row.source, row.target)}"
