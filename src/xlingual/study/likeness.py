"""Whether the lists of systems differ enough for people to tell the systems apart."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations

from xlingual.errors import DataWarning, InputError

Lists = Mapping[str, Sequence[str]]  # system → keys of what it suggests for a query


def check_lists(queries: Sequence[Lists]) -> None:
    """Refuse systems that suggest the same texts for every query; warn of those that do for some.

    The order within a list does not count: raters see the texts in an order of their own.
    """
    if not queries or not queries[0]:
        raise InputError("a study needs a query and a system: name systems with --system NAME=SPEC")
    systems = list(queries[0])
    for row in queries:
        if any(not row[name] for name in systems):
            raise InputError("a system suggests nothing for a query: give more candidates")
    if len(systems) == 1:
        warnings.warn(
            f"one system only ({systems[0]}): people will say how relevant its suggestions are, and nothing "
            "is compared; name another with --system",
            DataWarning,
            stacklevel=3,
        )
    for first, second in combinations(systems, 2):
        same = sum(set(row[first]) == set(row[second]) for row in queries)
        if same == len(queries):
            raise InputError(
                f"the systems {first!r} and {second!r} suggest the same texts for every query: nobody could "
                "tell them apart; leave one out, or ask for fewer with --per-system"
            )
        if same:
            warnings.warn(
                f"{first} and {second} suggest the same texts for {same} of {len(queries)} queries "
                f"({same / len(queries):.0%}), which say nothing about their difference: more queries, or a "
                "larger --per-system, make up for it",
                DataWarning,
                stacklevel=3,
            )
