"""Which queries and encoders a gate or a plan is about."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.comparison.queries import Queries
from xlingual.comparison.reading import Aligned, read_aligned
from xlingual.comparison.references import Reference, SeveralGiven
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.tasks import full_name, spelled


def aligned_queries(
    references: SeveralGiven, measure: str | None, task: str | None, pairs: Sequence[str] = ()
) -> tuple[Aligned, Queries]:
    """Read the results and return them with the queries of one task and measure, by default the first.

    Raises InputError as `read_aligned` does, where the task is not among the results or not named, and
    where no measure is named and the first of one encoder is not the first of another.
    """
    aligned = read_aligned(references, measures=[] if measure is None else [measure], pairs=pairs)
    tasks = list(dict.fromkeys(queries.task for queries in aligned.queries))
    if task is not None and full_name(task) not in tasks:
        names = spelled(tasks)
        raise InputError(
            f"no results of the task {task!r}.{did_you_mean(task, names)} Tasks: {listed(names, 20)}"
        )
    if task is None and len(tasks) > 1:
        raise InputError(f"the results are of {len(tasks)} tasks: choose one with --task ({listed(tasks)})")
    task = tasks[0] if task is None else full_name(task)
    first: dict[str, str] = {}  # measure -> who begins with it
    for member in aligned.members if measure is None else ():
        name = next(name for of, name in aligned.offered[member.label] if of == task)
        first.setdefault(name, member.name)
    if len(first) > 1:  # none of them is the one meant
        begin = " and ".join(f"{who} with {name}" for name, who in list(first.items())[:2])
        both = [queries.measure for queries in aligned.queries if queries.task == task]
        raise InputError(
            f"the results begin with different measures of {task} ({begin}): choose one that all encoders "
            f"have with --measure ({listed(both)})"
        )
    return aligned, next(queries for queries in aligned.queries if queries.task == task)


def check_pairs(aligned: Aligned, task: str) -> None:
    """Raise InputError where an encoder lacks a language pair of the task that another has."""
    if lacking := aligned.lacking.get(task):
        raise InputError(
            f"the encoders do not have the same language pairs of {task}: {'; '.join(lacking)}: evaluate the "
            "same pairs, or name those to decide with --pairs"
        )


def encoder_named(ref: Reference, aligned: Aligned) -> str:
    """Return the label of the encoder that `FOLDER#ENCODER`, or a folder of one encoder, names."""
    fitting = [member for member in aligned.members if member.meant_by(ref)]
    if len(fitting) != 1:
        names = listed([member.encoder for member in fitting], 30)
        raise InputError(f"{ref} has {len(fitting)} encoders: name one with {ref.how_to_name_one} ({names})")
    return fitting[0].label
