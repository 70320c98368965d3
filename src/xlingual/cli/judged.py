"""Runs of search engines in place of results: `compare` and `gate` with --qrels."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.errors import InputError
from xlingual.files import regular_file
from xlingual.requests.comparing import JudgedRuns

if TYPE_CHECKING:
    from xlingual.results import Results


def evaluated(
    judged: JudgedRuns, files: Sequence[str], measures: Sequence[str], *, quiet: bool
) -> Results | None:
    """Return the results of runs by the judgements of a request; None where it names none."""
    if judged.qrels is None:
        given = {
            "--query-table": judged.query_table is not None,
            "--relevant-from": judged.relevant_from != 1,
            "--ties": judged.ties != "expected",
            "--ignore-identical-ids": judged.ignore_identical_ids,
        }
        for name in (name for name, there in given.items() if there):
            raise InputError(f"{name} is for runs with judgements: add --qrels FILE, or leave it out")
        for file in files:
            path = Path(file if Path(file).is_file() else file.partition("=")[2])
            if path.is_file() and _is_run(path):
                raise InputError(f"{path} is a run, not a folder of results: add --qrels FILE")
        return None
    from xlingual.data.runs import query_table
    from xlingual.evaluation.retrieval import runs_against_qrels

    clusters, labels = ({}, {}) if judged.query_table is None else query_table(judged.query_table)
    with screen.progress(quiet) as progress:
        return runs_against_qrels(
            judged.qrels,
            list(files),
            measures=measures or ("nDCG@10",),
            relevant_from=judged.relevant_from,
            ties=judged.ties,
            ignore_identical_ids=judged.ignore_identical_ids,
            clusters=clusters,
            labels=labels,
            progress=progress,
        )


def _is_run(path: Path) -> bool:
    """Return whether a file is no result but may be a run: all but JSON that has a schema."""
    if path.suffix != ".json":
        return True
    with contextlib.suppress(ValueError, OSError):
        found = json.loads(regular_file(path, "a run").read_bytes())
        return isinstance(found, dict) and bool(found) and "schema" not in found
    return False


def named(runs: Results, files: Sequence[str], given: str) -> str:
    """Return the name of the run that one of the files stands for; of anything else itself."""
    names = list(dict.fromkeys(entry.encoder for entry in runs.entries))
    return names[files.index(given)] if given in files else given
