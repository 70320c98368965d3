"""The page of a comparison: one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from xlingual.report import numbers
from xlingual.report.comparison.forest import Forest, forest
from xlingual.report.comparison.sentences import verdict
from xlingual.report.comparison.tables import title
from xlingual.report.page import emphasis, environment, installed_version
from xlingual.results import atomic_file, make_folder
from xlingual.results.comparison import Comparison

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "none"}


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write the page to `path`, atomically; equal comparisons give equal bytes."""
    make_folder(path.parent)
    content = render(comparison).encode("utf-8", "replace")
    with atomic_file(path) as temporary:
        temporary.write_bytes(content)


def render(comparison: Comparison) -> str:
    """Return the page as HTML."""
    templates = environment()
    templates.filters["emphasise"] = emphasis(row.encoder for b in comparison.boards for row in b.rows)
    sections: list[tuple[str, Forest, list[Forest]]] = []
    for board in comparison.boards:
        shown = forest(board, comparison.margin, 1 - comparison.alpha)
        if board.overall:
            sections.append((title(board), shown, []))
        else:
            sections[-1][2].append(shown)
    encoders = {row.encoder for board in comparison.boards for row in board.rows}
    whole = comparison.boards[0]
    page = templates.get_template("comparison.html").render(
        title=f"Comparison of {len(encoders)} encoders",
        facts=[
            ("encoders", len(encoders)),
            ("queries answered", f"{whole.n_queries:,}"),
            ("clusters", f"{whole.n_clusters:,}"),
            ("language pairs", whole.n_pairs),
            ("seeds", whole.n_seeds),
        ],
        verdict=verdict(comparison),
        sections=sections,
        notes=comparison.notes,
        settings=[
            ("correction", _CORRECTIONS[comparison.correction]),
            ("significance level", f"{comparison.alpha:g}"),
            ("margin of equivalence", "–" if comparison.margin is None else f"±{comparison.margin:g}"),
            ("replicates", numbers.span([board.replicates for board in comparison.boards])),
            ("seed", comparison.seed),
            *comparison.conditions.items(),
            ("xlingual", installed_version()),
        ],
    )
    return str(page)
