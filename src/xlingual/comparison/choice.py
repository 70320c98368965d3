"""Which queries and encoders a gate or a plan is about."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.comparison.queries import Queries
from xlingual.comparison.reading import Aligned, read_aligned
from xlingual.comparison.references import parse_reference
from xlingual.errors import InputError, did_you_mean, listed


def aligned_queries(
    references: Sequence[str], measure: str | None, task: str | None
) -> tuple[Aligned, Queries]:
    """Read the results and return them with the queries of one task and measure, by default the first.

    Raises InputError as `read_aligned` does, and where the task is not among the results or not said.
    """
    aligned = read_aligned(references, measures=[] if measure is None else [measure])
    tasks = list(dict.fromkeys(queries.task for queries in aligned.queries))
    if task is not None and task not in tasks:
        raise InputError(
            f"no results of the task {task!r}.{did_you_mean(task, tasks)} Tasks: {listed(tasks)}"
        )
    if task is None and len(tasks) > 1:
        raise InputError(f"the results are of {len(tasks)} tasks: choose one with --task ({listed(tasks)})")
    return aligned, next(queries for queries in aligned.queries if queries.task == (task or tasks[0]))


def encoder_named(reference: str, aligned: Aligned) -> str:
    """Return the label of the encoder that `FOLDER#ENCODER`, or a folder of one encoder, names."""
    ref = parse_reference(reference)
    fitting = [
        member
        for member in aligned.members
        if member.folder == ref.folder and ref.encoder in (None, member.encoder)
    ]
    if len(fitting) != 1:
        names = listed([member.encoder for member in fitting], 30)
        raise InputError(
            f"{reference} has {len(fitting)} encoders: name one with {ref.folder}#ENCODER ({names})"
        )
    return fitting[0].label
