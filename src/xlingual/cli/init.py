"""`xlingual init`: write a suite for data, by asking or by flags."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests.suite import InitRequest
from xlingual.tasks import TASKS


@command(InitRequest)
def init(request: InitRequest) -> None:
    """Write a suite for DATA: a TOML file with comments that `xlingual run` runs.

    DATA is a manifest, a pool or a file of sentence pairs. On a terminal the command asks for what you did
    not give. The suite has all tasks that the data allow.
    """
    from xlingual.files import atomic_file, make_folder
    from xlingual.workflows.suites.outline import Outline, tasks_for, written

    asks = request.ask and sys.stdin.isatty()
    check_file(request.out)
    if request.out.exists() and not request.force:
        raise InputError(
            f"{request.out} is there already: name another file with --out, or replace it with --force"
        )
    data = request.data
    if data is None:
        if not asks:
            raise InputError("DATA is missing: name a manifest, a pool or a file of sentence pairs")
        data = Path(click.prompt("Manifest, pool or file of sentence pairs", err=True))
    with screen.warnings_as_lines():
        kind, fitting = tasks_for(data, opens_images=request.image_encoder is None)
    tasks = list(request.tasks) or (_asked_tasks(fitting) if asks else fitting)
    _check_tasks(tasks)
    specs = list(request.text_encoders)
    if not specs:
        specs = (
            click.prompt(
                "Text encoders (xlingual encoders lists them)", default="chargram random", err=True
            ).split()
            if asks
            else ["chargram", "random"]
        )
    eye = request.image_encoder
    if eye is None and {"bkr", "corr", "image-sentence"} & set(tasks):
        eye = click.prompt("Image encoder", default="pixels", err=True) if asks else "pixels"
    outline = Outline(
        data,
        kind,
        tasks,
        _named(specs),
        eye,
        request.name or "",
        {"lang": _language(request, asks)} if kind == "files" else {},
        _gate(request),
    )
    text = written(outline, request.out.parent)
    make_folder(request.out.parent)
    with atomic_file(request.out) as path:
        path.write_text(text, encoding="utf-8")
    screen.wrote(request.out, quiet=False)
    screen.note(f"next: xlingual run {request.out} --dry-run, then xlingual run {request.out}")


def _asked_tasks(fitting: list[str]) -> list[str]:
    return click.prompt("Tasks", default=" ".join(fitting), err=True).replace(",", " ").split()


def _check_tasks(tasks: list[str]) -> None:
    known = [word for task in TASKS.values() for word in (*task.short, task.name)]
    for task in tasks:
        if task not in known:
            raise InputError(
                f"--task {task}: no such task.{did_you_mean(task, known)} Known: {listed(known, 20)}"
            )


def _named(specs: list[str]) -> dict[str, str]:
    """Return NAME → SPEC; a spec without a name has that of its file or scheme."""
    from xlingual.encoders.plugins import Known
    from xlingual.encoders.registry import entries
    from xlingual.encoders.spec import parse

    found: dict[str, str] = {}
    for spec in specs:
        named = parse(spec, Known()).name
        (name,) = (named,) if named else list(entries([spec], ())) if "*" not in spec else ("vectors",)
        if name in found:
            raise InputError(f"two encoders are called {name!r}: name one of them, as in other={spec}")
        found[name] = spec.removeprefix(f"{named}=") if named else spec
    return found


def _language(request: InitRequest, asks: bool) -> str:
    if request.language is None and not asks:
        raise InputError("--lang is missing: say in which language the sentences are, such as --lang en")
    return request.language or str(click.prompt("Language of the sentences", default="en", err=True))


def _gate(request: InitRequest) -> tuple[str, str, float] | None:
    if (request.candidate is None) != (request.baseline is None):
        raise InputError("--candidate and --baseline go together: give both, or none")
    if request.candidate is None or request.baseline is None:
        return None
    return request.candidate, request.baseline, request.margin
