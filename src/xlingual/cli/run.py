"""`xlingual run`: run the commands of a TOML file, or show the JSON Schema of such a file."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.from_request import RequestCommand, command
from xlingual.errors import InputError, did_you_mean
from xlingual.requests import Request, schema
from xlingual.requests.reading import read_toml
from xlingual.requests.single import RunRequest
from xlingual.results.provenance import noting

_COMMAND = "command"


@command(RunRequest)
def run(request: RunRequest) -> int:
    """Run the commands of FILE: a TOML file with a command and its options, or several tables of these.

    Commands run in order. Keys are the names of options or of fields, lists are options that are repeated.
    Paths, also those in encoders, count from the folder of FILE. The exit code is that of the first command
    whose code is not 0.
    """
    if request.schema is not None:
        screen.print_json(schema(named_command(request.schema, "--schema").kind))
        return 0
    if request.file is None:
        raise InputError("FILE is missing: name a TOML file, or show a schema with --schema COMMAND")
    parts = _parts(read_toml(request.file), str(request.file))
    folder = request.file.absolute().parent
    if folder != Path.cwd():
        screen.note(f"paths count from {folder}")
    with contextlib.chdir(folder):
        requests = [_request(content, where) for where, content in parts]  # all, before the first one runs
        codes = [_answer(found, request) for found, request in requests]
    return next((code for code in codes if code), 0)


def _request(content: Mapping[str, Any], where: str) -> tuple[RequestCommand, Request]:
    found = named_command(str(content.get(_COMMAND, "")), where)
    if found.kind is RunRequest:
        raise InputError(f"{where}: a file runs no other file: write the tables of that file here")
    return found, found.request({name: content[name] for name in content if name != _COMMAND}, where)


def _answer(found: RequestCommand, request: Request) -> int:
    with click.Context(found, info_name=found.kind.command, parent=click.get_current_context()), noting():
        return found.answer(request) or 0


def _parts(content: Mapping[str, Any], where: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the tables of a file that ask for something, each with its place."""
    if _COMMAND in content:
        return [(where, content)]
    for name, part in content.items():
        if not isinstance(part, dict):
            raise InputError(
                f'{where}: {name} stands outside a table and there is no command: write command = "evaluate '
                f'bkr" in the first line, or one table for each command'
            )
    if not content:
        raise InputError(f'{where} asks for nothing: write command = "evaluate bkr" and its options')
    return [(f"{where}: [{name}]", part) for name, part in content.items()]


def named_command(words: str, where: str) -> RequestCommand:
    """Return the command of a name such as "evaluate bkr"."""
    from xlingual.cli.main import xlingual

    found: click.Command | None = xlingual
    context = click.Context(xlingual, info_name="xlingual")
    for word in words.split():
        if isinstance(found, RequestCommand):
            known, found = list(found.further), found.further_command(word)
        else:
            known = found.list_commands(context) if isinstance(found, click.Group) else []
            found = found.get_command(context, word) if isinstance(found, click.Group) else None
        if found is None:
            raise InputError(f"{where}: no command {words!r}.{did_you_mean(word, known)}")
    if not isinstance(found, RequestCommand):
        raise InputError(f'{where}: command is {words!r}: name one in full, such as "evaluate bkr"')
    return found
