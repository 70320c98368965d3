"""`xlingual papers`: the study of each paper, in one command."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import interruption, screen
from xlingual.cli.checks import check_folder, named_folder
from xlingual.cli.from_request import RequestCommand
from xlingual.cli.opening import store_of
from xlingual.cli.outcome import say_written
from xlingual.requests import signed

if TYPE_CHECKING:
    from collections.abc import Callable

    from xlingual.papers.findings import StudyFindings

# study → further commands behind its name
_FURTHER = {
    "backretrieval": {
        "validate": "xlingual.cli.validation:validate",
        "table1": "xlingual.cli.validation:table1",
    }
}
# study → a line of help; its module in xlingual.papers has REQUEST, presets and run_study
_STUDIES = {
    "backretrieval": "Triplet and TripletXL on the best of several encoders, without parallel texts.",
    "lareqa": "Regimes of dual encoders: retrieval from a pool of all languages, and within one (LAReQA).",
    "mlmme": "Images and sentences of several languages in one space, over weights of images (MLMME).",
}


class Studies(click.Group):
    """The studies; the module of one is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the studies."""
        return list(_STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a study, and return its command."""
        if cmd_name not in _STUDIES:
            return None
        paper = import_module(f"xlingual.papers.{cmd_name}")
        answer = partial(_answer, paper.run_study)
        further = _FURTHER.get(cmd_name, {})
        commands = " and ".join(f"xlingual papers {cmd_name} {word}" for word in further)
        more = {"help": paper.run_study.__doc__, "epilog": f"See also: {commands}." if commands else None}
        return RequestCommand(paper.REQUEST, answer, paper.presets, further, **more)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the studies and their help without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_STUDIES.items()))


@click.group(cls=Studies)
def papers() -> None:
    """Run a paper's study: train models several times, evaluate and compare them, make the paper's tables."""


def _answer(run_study: Callable[..., StudyFindings], request: Any) -> None:  # noqa: ANN401
    """Run a study; models that its folder has already are not trained again."""
    from xlingual.papers.study import Context

    out = named_folder(request.output.out)
    check_folder(out)
    with (
        interruption.goes_on(out),
        screen.warnings_as_lines(),
        screen.progress(screen.silent(request.output)) as progress,
    ):
        progress("reading the data", 0, 1)
        findings = signed(run_study(request, Context(store_of(request.keeping), progress)), request)
        findings.write(out)
    screen.show(findings, request.output)
    say_written(findings, request.output, findings.file)
