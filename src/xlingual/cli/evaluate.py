"""`xlingual evaluate`: one command for each task, made from its row and its request."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_folder, check_output, held
from xlingual.cli.evaluate_pools import evaluate_pools, pool_requests
from xlingual.cli.from_request import RequestCommand, keywords
from xlingual.cli.opening import read_manifest, store_of
from xlingual.cli.outcome import (
    say_written,
    write_and_show,
)
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.tasks import Tasks
from xlingual.cli.wording import in_options
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.evaluating import MultilingualPoolRequest
from xlingual.tasks import TASKS, Task, full_name, load

if TYPE_CHECKING:
    from xlingual.results import Results


class Evaluations(Tasks):
    """A group with a command for each row of the tasks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the tasks."""
        return list(TASKS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a task's name or short name."""
        task = TASKS.get(full_name(cmd_name))
        if task is None:
            return None
        request = load(task.request)
        sentence = f"{task.sentence}{f' ({task.short[0]})' if task.short else ''}"
        return RequestCommand(request, partial(_answer, task), help=request.__doc__, short_help=sentence)


@click.group(cls=Evaluations)
def evaluate() -> None:
    """Evaluate text encoders on your own data; xlingual help tasks shows what each task takes."""


def _answer(task: Task, request: Any) -> None:  # noqa: ANN401  (a request of `evaluate`)
    """Answer a request of a task, while no other process writes into its folder."""
    check_output(request.output.out, request.output.report)
    with held(request.output.out):
        _answered(task, request)


def _answered(task: Task, request: Any) -> None:  # noqa: ANN401  (a request of `evaluate`)
    """Read, evaluate, write and show; fields that a request lacks are skipped."""
    if isinstance(request, MultilingualPoolRequest):
        pools = pool_requests(request)
        if len(pools) > 1:
            depth = _trec_depth(request)
            evaluate_pools(
                request, pools, lambda one, pool: _evaluated(task, one, {"trec_depth": depth}, pool)
            )
            return
        (request,) = pools.values()
    more: dict[str, Any] = {"trec_depth": _trec_depth(request)} if hasattr(request, "trec") else {}
    results = _evaluated(task, request, more)
    write_and_show(results, request.output)
    say_written(results, request.output)
    if getattr(request, "trec", None) is not None:
        screen.wrote_runs(request.trec, quiet=request.output.quiet)


def _data(request: Any) -> Any:  # noqa: ANN401  (a request; a manifest, a pool or files)
    """Read the data of a request."""
    if hasattr(request, "files"):
        return request.files
    if hasattr(request, "pool"):
        from xlingual.data.pools.pool import MultilingualPool

        chosen = request.languages, request.split
        qrels = getattr(request, "qrels", None)
        return MultilingualPool.read(request.pool, *chosen, qrels, unanswered=hasattr(request, "qrels"))
    return read_manifest(request.data)


def _trec_depth(request: Any) -> int | None:  # noqa: ANN401  (a request)
    """Return how many candidates of each question a TREC run holds, None for all."""
    if request.trec is not None:
        check_folder(request.trec, "--trec")
    elif request.trec_depth is not None:
        raise InputError(
            "--trec-depth is for the runs that --trec DIR writes: name a folder, or leave it out"
        )
    return None if request.trec_depth == "all" else (request.trec_depth or 1000)


def _evaluated(task: Task, request: Any, more: dict[str, Any], data: Any = None) -> Results:  # noqa: ANN401
    """Run a task as its request says; `more` are further keywords of its function, `data` what was read."""
    function, output = load(task.evaluation), request.output
    parameters = list(signature(function).parameters)
    check_output(output.out, output.report, task.name)
    store = store_of(request.keeping)
    given = keywords(request, function) | more
    given.pop("qrels", None)  # the data are read with it
    given |= {"text_encoders": request.text_encoders, "store": store}
    if "ranker" in parameters:
        given["ranker"] = chosen_ranker(request.ranking, store, quiet=output.quiet)
    with screen.warnings_as_lines(), screen.progress(screen.silent(output)) as progress:
        progress("reading the data", 0, 1)
        given[parameters[0]] = _data(request) if data is None else data
        found: Results = function(**given, progress=progress)
        found.warnings = list(map(in_options, found.warnings))
        return signed(found, request)
