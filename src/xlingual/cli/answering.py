"""Commands by their names, and requests that are answered by them, as files ask for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.from_request import RequestCommand
from xlingual.errors import InputError, did_you_mean
from xlingual.requests import Request
from xlingual.requests.suite import RunRequest
from xlingual.results.provenance import noting

COMMAND = "command"  # the key of a table that names its command


@contextlib.contextmanager
def within(folder: Path) -> Iterator[None]:
    """Let paths count from a folder."""
    if folder != Path.cwd():
        screen.note(f"paths count from {folder}")
    with contextlib.chdir(folder):
        yield


def answer(found: RequestCommand, request: Request) -> int:
    """Answer a request by its command; return the exit code."""
    with click.Context(found, info_name=found.kind.command, parent=click.get_current_context()), noting():
        return found.answer(request) or 0


def command_of(request: Request) -> RequestCommand:
    """Return the command of a request."""
    return named_command(request.command, "")


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


def request_of(content: Mapping[str, Any], where: str) -> tuple[RequestCommand, Request]:
    """Return the command of a table, and what it is asked."""
    found = named_command(str(content.get(COMMAND, "")), where)
    if found.kind is RunRequest:
        raise InputError(f"{where}: a file runs no other file: write the tables of that file here")
    return found, found.request({name: content[name] for name in content if name != COMMAND}, where)
