"""Options of approximate ranking: a search in place of all pairs, with its error measured in every run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlingual.cli.sections import section
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.ranking import Ranker

F = TypeVar("F", bound="Callable[..., Any] | click.Command")

_ITS_OWN = ("index", "depth", "probes", "check", "candidates")


@section("Approximate ranking")
def approximate_options(function: F) -> F:
    """Add --approximate and what belongs to it."""
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--approximate",
            is_flag=True,
            help="Search an index instead of ranking everything; every number says how far it may be off.",
        ),
        click.option("--index", type=click.Choice(["ivf", "hnsw"]), help="What is searched.  [default: ivf]"),
        click.option(
            "--depth",
            type=click.IntRange(min=1),
            metavar="N",
            help="Candidates found for each query: R@k needs k of them.  [default: 20]",
        ),
        click.option(
            "--probes",
            type=click.IntRange(min=1),
            metavar="N",
            help="Lists (ivf) or vectors (hnsw) looked at for a query: more is slower and misses less.",
        ),
        click.option(
            "--check",
            type=click.IntRange(min=100),
            metavar="N",
            help="Queries that are evaluated exactly too, to measure the error.  [default: 1000]",
        ),
        click.option(
            "--candidates",
            type=click.IntRange(min=100),
            metavar="N",
            help="Candidates drawn to tell MedR and deep R@p%.  [default: 10000]",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def approximate_ranker(given: dict[str, Any], inner: Ranker) -> Ranker:
    """Return the ranker that the options ask for: `inner`, or a search beside it; they leave `given`."""
    wanted = given.pop("approximate")
    chosen = {name: value for name in _ITS_OWN if (value := given.pop(name)) is not None}
    if not wanted:
        if chosen:
            raise InputError(f"--{next(iter(chosen))} is about approximate ranking: add --approximate")
        return inner
    from xlingual.ranking.approximate import Approximate, Search

    search = Search(chosen.pop("index", "ivf"), chosen.pop("probes", None))
    return Approximate(inner, search=search, threads=given["threads"], **chosen)


def without_approximate(function: F) -> F:
    """Add --approximate, unseen, to a command that ranks exactly: it says why."""
    known = getattr(function, "__click_params__", [])
    if any(parameter.name == "approximate" for parameter in known):
        return function
    refusing = click.option(
        "--approximate", is_flag=True, hidden=True, expose_value=False, is_eager=True, callback=_refuse
    )
    added: F = refusing(function)
    return added


def _refuse(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        raise InputError(
            f"{ctx.command_path} ranks exactly: its numbers need the place of every relevant candidate, or "
            "differences smaller than a search's error; --approximate is for evaluate bkr and evaluate xlr"
        )
