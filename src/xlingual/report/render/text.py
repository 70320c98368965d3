"""A page as text for other programs: Markdown, LaTeX and CSV of a terminal's tables, and of larger ones."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlingual.report import numbers
from xlingual.report.blocks import Heading, Matrix, Page, Prose, Section, walk
from xlingual.report.marking import bare, plain
from xlingual.report.markup import latex_comment, latex_text, markdown_text
from xlingual.report.table import Cell, Column, Row, Table
from xlingual.visible import csv_text


def as_text(page: Page, form: str) -> str:
    """Return a page as `markdown`, `latex` or `csv`."""
    return {"markdown": markdown, "latex": latex, "csv": as_csv}[form](page)


def markdown(page: Page) -> str:
    """Return verdict and tables in GitHub's Markdown; names are escaped."""
    sentences = [markdown_text(sentence) for sentence in _sentences(page)]
    parts = [
        _markdown_table(block) if isinstance(block, Table) else _markdown_line(block)
        for block in _shown(page)
    ]
    return "\n\n".join([*sentences, *parts]) + "\n"


def latex(page: Page) -> str:
    """Return the tables in LaTeX (booktabs); sentences are comments."""
    parts = ["\n".join(map(latex_comment, _sentences(page)))]
    parts += [
        _latex_table(block) if isinstance(block, Table) else latex_comment(plain(block.text))
        for block in _shown(page)
    ]
    return "\n\n".join(parts) + "\n"


def as_csv(page: Page) -> str:
    """Return the tables with numbers at full precision.

    Where there are several, columns before those of the tables name section and table.
    """
    tables = [
        (section.title, block)
        for section in page.sections
        for block in _of_section(section)
        if isinstance(block, Table)
    ]
    several = len({title for title, _ in tables}) > 1
    records = []
    for section, table in tables:
        named = {"section": section} if several else {}
        named |= {"table": table.title} if len(tables) > 1 else {}
        records += [(named if table.records is None else {}) | dict(record) for record in _records(table)]
    heads = list(dict.fromkeys(head for record in records for head in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, heads, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({k: csv_text(v) if isinstance(v, str) else v for k, v in record.items()})
    return out.getvalue()


def _sentences(page: Page) -> list[str]:
    return [plain(sentence) for finding in page.verdict for sentence in finding.named]


def _shown(page: Page) -> list[Table | Prose | Heading]:
    return [block for section in page.sections for block in _of_section(section)]


def _of_section(section: Section) -> Iterator[Table | Prose | Heading]:
    """Yield what can be written of a section; a matrix is a table for each of its maps."""
    for block in walk(section.blocks, "text"):
        if isinstance(block, (Table, Prose, Heading)):
            yield block
        elif isinstance(block, Matrix):
            yield from _tables(block)


def _tables(matrix: Matrix) -> Iterator[Table]:
    """Yield the maps of a matrix, what they show below the first of them."""
    framed = f"Bold: {matrix.framed}." if matrix.framed else ""
    about = f"{matrix.about} {framed}".strip()
    for place, shown in enumerate(matrix.maps):
        rows = []
        for name, heats in shown.lines:
            cells = [Cell(h.text, value=h.value, ends=h.ends) if h else Cell(numbers.MISSING) for h in heats]
            if framed and name in shown.columns:
                own = shown.columns.index(name)
                cells[own] = replace(cells[own], tone="best")
            rows.append(Row((Cell(name), *cells)))
        yield Table(
            f"{matrix.title}: {shown.label}",
            (Column("", "name"), *map(Column, shown.columns)),
            tuple(rows),
            notes=(about,) if about and not place else (),
        )


def _lines(
    table: Table, write: Callable[[str], str], bold: str
) -> tuple[list[str], list[bool], list[list[str]]]:
    """Return heads, which columns are right-aligned, and the rows, with the texts of badges at the end.

    `write` makes a text safe for the medium, `bold` is how it sets the best cell of a row apart.
    """
    columns = table.shown()
    heads = [write(column.key or ("rank" if column.kind == "rank" else "")) for _, column in columns]
    right = [column.kind in ("number", "rank") for _, column in columns]
    lines = []
    for row in table.rows:
        cells = [_cell(row.cells[i], write, bold) for i, _ in columns] if row.cells else [write(row.heading)]
        lines.append([*cells, *[""] * (len(columns) - len(cells)), write(row.remark())])
    if not any(line[-1] for line in lines):
        return heads, right, [line[:-1] for line in lines]
    return [*heads, ""], [*right, False], lines


def _cell(cell: Cell, write: Callable[[str], str], bold: str) -> str:
    value = write(cell.marked)
    shown = f"{bold.format(value) if cell.tone == 'best' else value} {write(cell.interval)}".rstrip()
    return shown if cell.gap is None or not cell.gap.text else f"{shown}; {write(cell.gap.plain)}"


def _markdown_line(block: Prose | Heading) -> str:
    return f"{'### ' if isinstance(block, Heading) else ''}{markdown_text(plain(block.text))}"


def _markdown_table(table: Table) -> str:
    heads, right, lines = _lines(table, markdown_text, "**{}**")
    rule = ["---:" if one else "---" for one in right]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))
    title = f"**{markdown_text(table.title)}**" if table.title else ""
    about = f"({markdown_text(table.about)})" if table.about else ""
    head = f"{title} {about}".strip()
    return "\n\n".join([*filter(None, [head]), rows, *map(markdown_text, _notes(table))])


def _latex_table(table: Table) -> str:
    heads, right, lines = _lines(table, latex_text, r"\textbf{{{}}}")
    head = " & ".join(re.sub(r"\bp\b", "$p$", one) for one in heads) + r" \\"
    rows = [" & ".join(line) + r" \\" for line in lines]
    columns = "".join("r" if one else "l" for one in right)
    title = f"{table.title}{f' ({table.about})' if table.about else ''}".strip()
    comments = map(latex_comment, [*filter(None, [title]), *_notes(table)])
    body = [r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    return "\n".join([*comments, rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"])


def _notes(table: Table) -> list[str]:
    return [*map(plain, table.notes), *filter(None, [table.meanings_in_text()])]


def _records(table: Table) -> Sequence[Mapping[str, Any]]:
    """Return a table's rows for CSV: its own records, or its cells at full precision."""
    if table.records is not None:
        return table.records
    rows, part = [], ""
    found: list[dict[str, Any]] = []
    for row in table.rows:
        part = row.heading or part
        if row.cells:
            rows.append(row)
            found.append({"part": part} if part else {})
    for i, column in table.shown():
        name, _, error = (column.csv or column.key or column.kind).partition(" ± ")
        ends = any(row.cells[i].ends for row in rows)
        spread = (error or f"{name}_sd") if any(row.cells[i].spread is not None for row in rows) else ""
        for record, cell in zip(found, (row.cells[i] for row in rows), strict=True):
            missing = "" if cell.text == numbers.MISSING else bare(cell.text)
            record[name] = missing if cell.value is None else cell.value
            if ends:
                record[f"{name}_low"], record[f"{name}_high"] = cell.ends or ("", "")
            if spread:
                record[spread] = "" if cell.spread is None else cell.spread
    return found
