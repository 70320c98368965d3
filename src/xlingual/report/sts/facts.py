"""The head of a page about textual similarity: how many files and pairs."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.sts.reading import HEADLINE, TASK
from xlingual.results import Results, by_key


def facts(runs: Sequence[Results]) -> list[tuple[str, str]]:
    """Return (name, value) of what the page stands on; nothing where no run has textual similarity."""
    entries = [entry for run in runs for entry in by_key(run.entries, task=TASK, measure=HEADLINE)]
    sizes = {entry.target: entry.n_source for entry in entries}
    if not sizes:
        return []
    files = ("file" if len(sizes) == 1 else "files", numbers.count(len(sizes)))
    each = "sentence pairs" if len(sizes) == 1 else "sentence pairs per file"
    return [files, (each, numbers.span(list(sizes.values())))]
