"""`xlingual run`: run the commands or the suite of a TOML file, or show the JSON Schema of such a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlingual.cli import screen
from xlingual.cli.answering import COMMAND, answer, named_command, request_of, within
from xlingual.cli.from_request import command
from xlingual.errors import InputError, did_you_mean, parameter
from xlingual.requests import schema
from xlingual.requests.reading import read_toml
from xlingual.requests.suite import RunRequest

_OF_SUITES = ("dry_run", "only", "over", "out")


@command(RunRequest)
def run(request: RunRequest) -> int:
    """Run the commands or the suite of FILE: a TOML file.

    A suite has data sets, encoders, tasks, comparisons and gates. Only what changed is computed again. One
    page links to all reports. Any other file has a command and its options, or several tables of these, which
    run in order. Paths, also those in encoders, are relative to the folder of FILE. The exit code of a suite
    is 1 if a gate fails, else 3 if a gate cannot tell. The exit code of commands is that of the first one
    whose code is not 0.
    """
    from xlingual.workflows.suites.reading import is_suite

    if request.schema is not None:
        screen.print_json(schema(named_command(request.schema, "--schema").kind))
        return 0
    if request.file is None:
        raise InputError(
            "FILE is missing: name a TOML file, such as a copy of examples/suite.toml, or show a schema with "
            "--schema COMMAND"
        )
    content = read_toml(request.file)
    folder = request.file.absolute().parent
    if is_suite(content):
        from xlingual.cli.suite import run_suite

        return run_suite(request, content, folder)
    parts = _parts(content, str(request.file))
    for name in _OF_SUITES:
        if getattr(request, name):
            raise InputError(
                f"{parameter(name)} is for suites, and {request.file} has commands: leave it out"
            )
    with within(folder):
        requests = [request_of(content, where) for where, content in parts]  # all, before the first one runs
        codes = [answer(found, request) for found, request in requests]
    return next((code for code in codes if code), 0)


def _parts(content: Mapping[str, Any], where: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the tables of a file that ask for something, each with its place."""
    from xlingual.workflows.suites.reading import TABLES

    if COMMAND in content:
        return [(where, content)]
    for name, part in content.items():
        if not isinstance(part, dict):
            raise InputError(
                f'{where}: {name} stands outside a table and there is no command: write command = "evaluate '
                f'bkr" in the first line, or one table for each command'
            )
        if COMMAND not in part:
            raise InputError(
                f'{where}: [{name}] has no command: write command = "evaluate bkr" in it; a suite has tables '
                f"[data.NAME] and [tasks.NAME].{did_you_mean(name, TABLES)}"
            )
    if not content:
        raise InputError(
            f'{where} asks for nothing: write command = "evaluate bkr" and its options, or a suite with '
            "tables [data.NAME] and [tasks.NAME]"
        )
    return [(f"{where}: [{name}]", part) for name, part in content.items()]
