"""The page of a comparison: one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from xlingual.report import html, numbers
from xlingual.report.comparison.forest import Forest, forest
from xlingual.report.comparison.sentences import verdict
from xlingual.report.comparison.tables import title
from xlingual.report.conditions import Condition
from xlingual.results.comparison import Comparison

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "none"}


_GLOSSARY = (
    (
        "Difference",
        "The encoder's value minus the baseline's, on the same queries. The interval tells where it would "
        "land for another sample of the same size from the same source; it is not widened for the number of "
        "comparisons.",
    ),
    (
        "Adjusted p",
        "How easily a difference this large arises by luck if the two encoders are equally good, corrected "
        "for the number of tests in its table (language pairs together, parts of one column together).",
    ),
    (
        "No difference found",
        "The data does not show a difference. That is not the same as equal: the interval says how large it "
        "may still be.",
    ),
    (
        "Equivalent",
        "Two one-sided tests show that the difference is smaller than the margin, either way. Only with a "
        "margin.",
    ),
    (
        "Rank",
        "What corrected tests of all pairs of encoders leave open: 1 plus those shown to be better, up to "
        "all minus those shown to be worse.",
    ),
)


def write_comparison(comparison: Comparison, path: Path, title: str | None = None) -> None:
    """Write the page to `path`, atomically; equal comparisons give equal bytes."""
    html.write_page(path, render(comparison, heading=title))


def render(comparison: Comparison, *, heading: str | None = None) -> str:
    """Return the page as HTML."""
    templates = html.environment(row.encoder for board in comparison.boards for row in board.rows)
    sections: list[tuple[str, Forest, list[Forest]]] = []
    for board in comparison.boards:
        shown = forest(board, comparison.margin, 1 - comparison.alpha)
        if board.overall:
            sections.append((title(board), shown, []))
        else:
            sections[-1][2].append(shown)
    encoders = _encoders(comparison)
    return templates.get_template("comparison.html").render(
        title=heading or f"Comparison of {len(encoders)} encoders",
        facts=_facts(comparison),
        verdict=verdict(comparison),
        sections=sections,
        glossary=_GLOSSARY,
        warnings=comparison.notes,
        conditions=_conditions(comparison),
        methods=[],
        systems=[],
        timings=[],
        version=html.program_version(),
        heat_css="",
    )


def _encoders(comparison: Comparison) -> set[str]:
    return {row.encoder for board in comparison.boards for row in board.rows}


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return how much was compared; a pool, which is taken whole, has languages where others have pairs."""
    whole = comparison.boards[0]
    counts = [
        (len(_encoders(comparison)), "encoder", "encoders"),
        (whole.n_queries, "query answered", "queries answered"),
        (whole.n_clusters, "cluster", "clusters"),
    ]
    if whole.task == "multilingual-pool":
        languages = comparison.conditions.get("languages")
        counts += [(len(languages.split(",")), "language", "languages")] if languages else []
    else:
        counts += [(whole.n_pairs, "language pair", "language pairs"), (whole.n_seeds, "seed", "seeds")]
    return [(one if count == 1 else many, numbers.count(count)) for count, one, many in counts]


def _conditions(comparison: Comparison) -> list[Condition]:
    margin = "–" if comparison.margin is None else f"±{comparison.margin:g}"
    settings = {
        "correction": _CORRECTIONS[comparison.correction],
        "significance level": f"{comparison.alpha:g}",
        "margin of equivalence": margin,
        "replicates": numbers.span([board.replicates for board in comparison.boards]),
        "seed": str(comparison.seed),
        **comparison.conditions,
    }
    return [Condition(key, [value]) for key, value in settings.items()]
