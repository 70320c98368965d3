"""The tables of a comparison: as lines of text, and as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from xlingual.report import numbers, words
from xlingual.report.markup import latex_comment, latex_text, markdown_text
from xlingual.report.validation.wording import counted
from xlingual.results.comparison import Board, Compared, Comparison
from xlingual.visible import csv_text

FORMATS = ("table", "markdown", "latex", "csv", "json")
HEADER = ("rank", "encoder", "value", "difference", "p", "adjusted p", "outcome")
_LEAST_P = 0.001


@dataclass(frozen=True)
class Line:
    """One encoder of a board, in words and written numbers."""

    rank: str
    encoder: str
    value: str
    difference: str
    p: str
    adjusted: str
    outcome: str
    top: bool
    baseline: bool

    def cells(self) -> tuple[str, ...]:
        """Return the cells under `HEADER`."""
        return (self.rank, self.encoder, self.value, self.difference, self.p, self.adjusted, self.outcome)


def lines(board: Board, margin: float | None = None) -> list[Line]:
    """Return the encoders of a board, best first; ends of intervals are seen to be in or out of ± margin."""
    return [
        Line(
            rank=_rank(row),
            encoder=row.encoder,
            value=numbers.number(row.value, board.measure),
            difference=difference(row, board.measure, margin),
            p=p_text(row.p),
            adjusted=p_text(row.p_adjusted),
            outcome=row.outcome,
            top=row.top,
            baseline=row.encoder == board.baseline,
        )
        for row in board.rows
    ]


def title(board: Board) -> str:
    """Return what a board is about: "BkR R@10 · category = chair"."""
    name = words.measure_name(board.task, board.measure)
    if board.source is not None and board.target is not None:
        return f"{name} · {words.pair(board.source, board.target)}"
    return name if board.column is None else f"{name} · {board.column} = {board.label}"


def size(board: Board) -> str:
    """Return how much data a board stands on."""
    pairs = f", {board.n_pairs} language pairs" if board.n_pairs > 1 else ""
    seeds = f", {board.n_seeds} seeds" if board.n_seeds > 1 else ""
    queries = counted(board.n_queries, "query", "queries")
    return f"{queries} from {counted(board.n_clusters, 'cluster')}{pairs}{seeds}"


def remarks(board: Board) -> list[str]:
    """Return why an outcome is what it is, where that needs saying; encoders of one remark together."""
    found: dict[str, list[str]] = {}
    for row in board.rows:
        if row.note:
            found.setdefault(row.note + _unvaried(row), []).append(row.encoder)
    return [words.stop(f"{numbers.in_words(names)}: {note}") for note, names in found.items()]


def _unvaried(row: Compared) -> str:
    """Return where the interval of a difference comes from that is the same for every query."""
    unvaried = row.ci is not None and row.ci.method.startswith("rule of three")
    return f" (interval: {row.ci.method})" if row.ci is not None and unvaried else ""


def difference(row: Compared, measure: str, margin: float | None = None) -> str:
    """Return "+0.021 [−0.002, 0.044]", the value alone where there is no interval."""
    if row.difference is None:
        return numbers.MISSING
    if row.ci is None:
        text = numbers.number(row.difference, measure)
    else:
        marks = (0.0,) if margin is None else (0.0, -margin, margin)
        text = numbers.difference(row.difference, row.ci, measure, marks)
    seen = any(digit in "123456789" for digit in text.split(" ")[0])  # +0.000 would say too much
    return f"+{text}" if seen and row.difference > 0 else text


def p_text(p: float | None) -> str:
    """Return a p-value with three decimals.

    >>> p_text(0.0004), p_text(0.0312), p_text(None)
    ('<0.001', '0.031', '–')
    """
    if p is None:
        return numbers.MISSING
    return f"<{_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"


def as_text(comparison: Comparison, form: str, verdict: Sequence[str]) -> str:
    """Return all boards as `markdown` or `latex`, with the verdict at the end, or as one `csv`."""
    if form == "csv":
        return _csv(comparison)
    write = {"markdown": _markdown, "latex": _latex}[form]
    blocks = [write(board, comparison.margin) for board in comparison.boards]
    texts = [*comparison.notes, *verdict]
    said = [latex_comment(text) if form == "latex" else markdown_text(text) for text in texts]
    return "\n\n".join([*blocks, *said]) + "\n"


def _rank(row: Compared) -> str:
    if row.rank_low is None or row.rank_high is None:
        return ""
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"


def _shown(rows: Sequence[Line]) -> list[int]:
    """Return the columns that say something: parts have no ranks."""
    cells = [line.cells() for line in rows]
    return [i for i in range(len(HEADER)) if any(row[i] for row in cells)]


def _markdown(board: Board, margin: float | None) -> str:
    found = lines(board, margin)
    shown = _shown(found)
    right = ("rank", "value", "difference", "p", "adjusted p")
    rule = " | ".join("---:" if HEADER[i] in right else "---" for i in shown)
    rows = [" | ".join(_cell(HEADER[i], line.cells()[i]) for i in shown) for line in found]
    head = " | ".join(HEADER[i] for i in shown)
    body = "\n".join(f"| {row} |" for row in [head, rule, *rows])
    head = f"**{markdown_text(title(board))}** ({size(board)}; baseline {markdown_text(board.baseline)})"
    return "\n\n".join([head, body, *map(markdown_text, remarks(board))])


def _cell(head: str, text: str) -> str:
    return markdown_text(text) if head == "encoder" else text.replace("<", "&lt;")  # "<0.001"


def _latex(board: Board, margin: float | None) -> str:
    found = lines(board, margin)
    shown = _shown(found)
    columns = "".join("l" if HEADER[i] in ("encoder", "outcome") else "r" for i in shown)
    rows = [" & ".join(latex_text(line.cells()[i]) for i in shown) + r" \\" for line in found]
    head = " & ".join(_math("p", HEADER[i]) for i in shown) + r" \\"
    return "\n".join(
        [
            latex_comment(f"{title(board)} ({size(board)}; baseline {board.baseline})"),
            *map(latex_comment, remarks(board)),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _math(letter: str, text: str) -> str:
    return " ".join(f"${letter}$" if word == letter else word for word in text.split())


_CSV = (
    *("task", "measure", "source", "target", "column", "label", "baseline", "encoder", "value"),
    *("difference", "ci_low", "ci_high", "p", "p_adjusted", "p_equivalent", "outcome"),
    *("rank_low", "rank_high", "n_queries", "n_clusters", "note"),
)


def _csv(comparison: Comparison) -> str:
    """Return one row for each encoder of each board, numbers at full precision."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV, lineterminator="\n")
    writer.writeheader()
    for board in comparison.boards:
        for row in board.rows:
            ends = {} if row.ci is None else {"ci_low": row.ci.low, "ci_high": row.ci.high}
            known = structs.asdict(board) | structs.asdict(row) | ends
            cells = {name: known.get(name) for name in _CSV}
            writer.writerow({k: csv_text(v) if isinstance(v, str) else v for k, v in cells.items()})
    return text.getvalue()
