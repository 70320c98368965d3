"""The page of a table of validations: Table 1 of the Backretrieval paper on several data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.findings.validation import ALPHA, share_text
from xlingual.report.findings.validation_table import data_sets, findings, is_sure, outcome, row_name
from xlingual.report.pages.validation import TERMS
from xlingual.report.table import Bar, Cell, Column, Key, Row, Table, TableRoom
from xlingual.results.validation import COEFFICIENTS, MEASURES
from xlingual.results.validation_table import CONTRASTS, TableRow, ValidationTable

_TITLE = "Agreement with true retrieval (XLR)"
_OF_ONE = {
    "XLR at K = 1",
    "Order of two encoders",
    "Oracle and chance",
    "Nearest images kept",
}  # its page has it
_TONES = {"better": "leader", "worse": "behind"}


def page(table: ValidationTable, *, title: str | None = None) -> Page:
    """Return the page of a table of validations."""
    sets = data_sets(table)
    facts = numbers.facts((len(sets), "data set", "data sets"), (len(table.rows), "row", "rows"))
    tested = [one for row in table.rows for own in row.differences.values() for one in own.values()]
    return Page(
        kind="report",
        title=title or f"Backretrieval compared with true retrieval: {numbers.in_words(sets, 4)}",
        verdict=[Finding(findings(table))],
        sections=[
            Section("Agreement with true retrieval", [*_agreement(table)]),
            Section("Is BkR's advantage real?", [_differences(table, one) for one in CONTRASTS[::-1]]),
            Section("What the rows are", [_rows(table)]),
        ],
        facts=[*facts, ("measure", table.measure)],
        terms=[(name, term) for name, term in TERMS.items() if name not in _OF_ONE],
        warnings=list(dict.fromkeys(table.warnings)),
        conditions=_conditions(table),
        methods=sorted({one.test for one in tested if one.test}),
        timings=[(name, numbers.duration(value)) for name, value in table.timings.items()],
        names=sets,
    )


def _agreement(table: ValidationTable) -> Iterator[Block]:
    """Yield the paper's Table 1: by data set and direction, Pearson and Spearman of each measure."""
    places = [(kind, name) for kind in COEFFICIENTS for name in MEASURES]
    heads = [Column(f"{kind.capitalize()} {name}") for kind, name in places]
    rows = []
    for row in table.rows:
        cells = [_cell(row, kind, name) for kind, name in places]
        rows.append(Row((Cell(row.data_set), Cell(words.pair(row.source, row.target)), *cells)))
    if len(table.rows) > 1:
        means = [Cell.mean(table.mean[name][kind].mean, table.mean[name][kind].se) for kind, name in places]
        rows.append(Row((Cell("mean"), Cell(""), *means), begins=True))
    notes = words.gathered(
        ((row_name(row), f"{kind.capitalize()} {name}"), row.agreement[name][kind].note)
        for row in table.rows
        for kind, name in places
    )
    yield Table(
        _TITLE,
        (Column("data set", "name", data=True), Column("direction", "name"), *heads),
        tuple(rows),
        notes=tuple(notes),
        titled=False,
        looks=(TableRoom(), TableRoom(heads=8)),
        splits=True,
        records=[*_records(table)],
        where="both",
    )
    meant = (
        f"Mean ± standard error over seeds. * differs from BkR (tables below), p below {ALPHA:g} by itself; "
        "** also after"
    )
    yield Prose(f"{meant} correction for {table.n_tests} tests (Holm).", "note-line", "both")
    yield Prose("The highest of a row is bold.", "note-line", "both", bold=True)


def _cell(row: TableRow, kind: str, name: str) -> Cell:
    found = row.agreement[name][kind]
    cell = Cell.mean(found.mean, found.se, tone="best" if name in row.leaders(kind) else "")
    tested = row.differences.get(f"BkR-{name}", {}).get(kind)
    if tested is None or outcome(tested) not in ("better", "worse"):
        return cell
    return replace(cell, interval=f"{cell.interval}{'**' if is_sure(tested) else '*'}")


def _records(table: ValidationTable) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the CSV: numbers at full precision."""
    for row in table.rows:
        record: dict[str, Any] = {
            "data set": row.data_set,
            "source": row.source,
            "target": row.target,
            "N": row.n_source,
            "encoders": row.n_encoders,
            "families": row.n_families,
            "seeds": row.n_seeds,
        }
        for kind in COEFFICIENTS:
            for name in MEASURES:
                found = row.agreement[name][kind]
                record[f"{kind} {name}"], record[f"{kind} {name} se"] = found.mean, found.se
            record[f"{kind} best"] = row.best.get(kind)
            for contrast, own in row.differences.items():
                one, head = own[kind], f"{kind} {contrast}"
                record[head] = one.value
                record[f"{head} low"], record[f"{head} high"] = numbers.ends(one.ci) or (None, None)
                record[f"{head} p"], record[f"{head} adjusted p"] = one.p, one.p_adjusted
        yield record
    mean: dict[str, Any] = {"data set": "mean"}
    for kind in COEFFICIENTS:
        for name in MEASURES:
            over_rows = table.mean[name][kind]
            mean[f"{kind} {name}"], mean[f"{kind} {name} se"] = over_rows.mean, over_rows.se
    yield mean


def _differences(table: ValidationTable, contrast: str) -> Table:
    """Return BkR's differences from one rival in each row, with their tests."""
    name = contrast.replace("-", " − ")
    rows, ends = [], [0.0]
    for row in table.rows:
        for kind in COEFFICIENTS:
            one = row.differences[contrast][kind]
            gap = Cell.difference(one.value, one.ci)
            ends += [*(gap.ends or ()), *([] if one.value is None else [one.value])]
            spoken = f"{row_name(row)}, {kind.capitalize()}: {gap.plain}"
            cells = (
                Cell(row_name(row)),
                Cell(kind.capitalize()),
                Cell(bar=Bar(one.value, gap.ends, (("chance", 0.0),), spoken)),
                gap,
                Cell.by(numbers.p_value, one.p),
                Cell.by(numbers.p_value, one.p_adjusted),
                Cell(outcome(one)),
            )
            rows.append(Row(cells, _TONES.get(outcome(one), "level")))
    meant = (
        "BkR's coefficient less the other's, of the encoders' means over seeds. The coefficients above are "
        "means over seeds: their difference is another number."
    )
    notes = words.gathered(
        ((row_name(row), kind.capitalize()), row.differences[contrast][kind].note)
        for row in table.rows
        for kind in COEFFICIENTS
    )
    return Table(
        name,
        (
            Column("row", "name", data=True),
            Column("coefficient", "name"),
            Column("", "chart"),
            Column(name, interval="95 % interval", main=True),
            Column("p"),
            Column("adjusted p"),
            Column("BkR is", "words", where="terminal"),
        ),
        tuple(rows),
        notes=(meant, *notes),
        legend=(
            Key("difference with its 95 % interval", SWATCHES["interval"]),
            Key("no difference", SWATCHES["chance"]),
        ),
        axis=axis_for(ends),
        style="board",
        looks=(TableRoom(), TableRoom(dropped=("BkR is",)), TableRoom(dropped=("BkR is", "adjusted p"))),
        about=f"adjusted p: Holm, over {table.n_tests} tests",
        records=(),  # the first table has them
        where="both",
    )


def _rows(table: ValidationTable) -> Table:
    """Return the sizes behind each row."""
    rows = [
        [
            row.data_set,
            words.pair(row.source, row.target),
            Cell.count(row.n_source),
            Cell(share_text(row.k, row.n_source), value=row.k / row.n_source),
            Cell.count(row.n_seeds),
            Cell.count(row.n_encoders),
            Cell.count(row.n_families),
            row.image_encoder,
        ]
        for row in table.rows
    ]
    heads = ["data set", "direction", "N", "K/N", "seeds", "encoders", "families", "images"]
    looks = (TableRoom(), TableRoom(names=16), TableRoom(dropped=("images",)))
    return Table.of_texts(
        "Sizes", heads, rows, names=2, words=("images",), titled=False, looks=looks, records=(), where="both"
    )


def _conditions(table: ValidationTable) -> list[tuple[str, list[str]]]:
    own: dict[str, list[str]] = {"measure": [table.measure]}
    for key, value in dict.fromkeys(item for row in table.rows for item in row.conditions.items()):
        if key not in ("measure", "source", "target"):
            own.setdefault(key, []).append(value)
    return list(own.items())
