"""Running a suite: its steps in order, those that are done kept, one page over all."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.cli import interruption, screen
from xlingual.cli.answering import answer, command_of, within
from xlingual.cli.exit_codes import DONE, NO, UNKNOWN
from xlingual.errors import InputError
from xlingual.report import numbers
from xlingual.requests import signed, values
from xlingual.requests.suite import RunRequest
from xlingual.results.gate import FAIL, UNDECIDED
from xlingual.results.provenance import note_file, noting

if TYPE_CHECKING:
    from xlingual.results import step as record
    from xlingual.results.suite import Suite as Found
    from xlingual.workflows.suites.reading import Step, Suite

PAGE = "index.html"


def run_suite(request: RunRequest, content: Mapping[str, Any], folder: Path) -> int:
    """Run the steps of a suite that are not done, write its page and show it; return what the gates say."""
    from xlingual.cli.checks import check_folder, held
    from xlingual.workflows.suites.reading import read_suite

    out = None if request.out is None else request.out.absolute()
    own = str(request.file and request.file.name)
    over = dict(map(_setting, request.over))
    with within(folder):
        suite = read_suite(content, str(request.file), out=out, over=over)
        chosen = suite.chosen(request.only)
        check_folder(suite.out)
        _check_data(chosen)
        if request.dry_run:
            return _show_plan(chosen)
        hint = "finished steps are kept: the same command goes on from there"
        with interruption.explained(lambda: hint), held(suite.out):
            done = _compute(suite, chosen)
            found = _page(suite, done, request, own)
    screen.wrote(Path(os.path.relpath(folder / suite.out / PAGE)), quiet=False)
    named = {step.name for step in chosen}
    outcomes = {one.outcome for one in found.gates if f"{one.data}/{one.task}/gates/{one.name}" in named}
    return NO if FAIL in outcomes else UNKNOWN if UNDECIDED in outcomes else DONE


def _check_data(steps: Sequence[Step]) -> None:
    """Refuse data that are not there before the first step is computed."""
    from xlingual.workflows.suites.reading import DATA

    for step in steps:
        asked = values(step.request)
        for name in DATA:
            given = asked.get(name)
            for path in given if isinstance(given, tuple | list) else [given]:
                if not isinstance(path, Path) or set(":=*") & set(str(path)):  # on the net, or a pattern
                    continue
                if not path.exists():
                    raise InputError(
                        f"[data.{step.data}]: {name} {path}: no such file or folder; paths count from "
                        f"{Path.cwd()}"
                    )


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE; a value that is no TOML is a text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--set {text!r}: write OPTION=VALUE, such as --set sample=100")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value


def _compute(suite: Suite, chosen: Sequence[Step]) -> list[Step]:
    """Compute the chosen steps that are not done, one after the other; return all that are done then."""
    from xlingual.workflows.suites import kept

    images: dict[str, str] = {}
    for place, step in enumerate(chosen, 1):
        head = f"{place}/{len(chosen)} {step.name}"
        present = _read_quietly(step, images)
        why = kept.reasons(step, present)
        if not why:
            screen.note(f"{head}: kept, nothing changed")
            continue
        for name in (PAGE, "suite.json"):  # the page is that of a whole suite, or not there
            (suite.out / name).unlink(missing_ok=True)
        screen.note(f"{head}: computing, {'; '.join(why)}")
        begun = time.monotonic()
        kept.begin(step)
        with screen.step(step.name):
            answer(command_of(step.request), step.request)
        _report(step)
        took = time.monotonic() - begun
        kept.finish(step, present)
        screen.say(f"{head}: computed in {numbers.duration(took)}", err=True)
    others = [step for step in suite.steps if step not in chosen]
    up_to_date = [step for step in others if not kept.reasons(step, _read_quietly(step, images))]
    return [*chosen, *up_to_date]


def _show_plan(chosen: Sequence[Step]) -> int:
    """Print each step, and why it would be computed; nothing is encoded, and no model is loaded."""
    from xlingual.workflows.suites import kept

    images: dict[str, str] = {}
    due: list[str] = []
    for step in chosen:
        why = kept.reasons(step, _read_quietly(step, images))
        if not why and any(step.name.startswith(f"{name}/") for name in due):
            why = ["its evaluation is computed again"]
        due += [step.name] if why else []
        screen.say(f"{step.name}: {'; '.join(why) or 'kept'}")
    screen.say(f"{len(due)} of {len(chosen)} steps would be computed; nothing was computed or written")
    return DONE


def _read_quietly(step: Step, images: dict[str, str]) -> record.Step:
    """Return what a step would be made from; warnings about the data come when it is computed."""
    import warnings

    from xlingual.workflows.suites import kept

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kept.now(step, images)


def _report(step: Step) -> None:
    """Write the report of a step whose command writes none."""
    from xlingual.report import write_report
    from xlingual.workflows.suites.summary import RECORDS

    if step.kind == "gate":
        write_report(RECORDS[step.kind].read(step.folder), step.folder / "report.html")


def _page(suite: Suite, done: Sequence[Step], request: RunRequest, own: str) -> Found:
    """Write and show the page over all steps that are done; `own` is the name of the suite's file."""
    from xlingual.report import page_of
    from xlingual.report.render import html
    from xlingual.workflows.suites.summary import summary

    with noting():  # it is made from the results of its steps, whichever of them were computed now
        note_file("suite", own)
        found = signed(summary(suite, done), request)
    found.write(suite.out / "suite.json")
    page = page_of(found)
    html.write(page, suite.out / PAGE)
    screen.print_page(page, "table")
    return found
