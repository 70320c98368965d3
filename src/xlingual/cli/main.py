"""The command `xlingual`: finds the verb, and turns errors into one line and an exit code.

Exit codes are in `exit_codes`. A verb's module is imported only when the verb is used, so that `--help` loads
nothing heavy.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from xlingual.cli import interruption
from xlingual.cli.exit_codes import BAD, IN_SHORT, PIPE
from xlingual.errors import XlingualError, did_you_mean, why
from xlingual.visible import visible_line

# verb, which is the name of its module and of the command there → one line of help
_VERBS = {
    "demo": "Make built-in data, evaluate encoders of rising quality, write a report.",
    "data": "Check a manifest, read public corpora, make pools and built-in data.",
    "embed": "Compute vectors of texts and images once, and write them to files.",
    "store": "List, verify and clean up the stored vectors.",
    "evaluate": "Evaluate text encoders on a manifest or a pool.",
    "train": "Train embeddings on your own texts and images, and export them.",
    "repair": "Fit a map that brings the languages of an encoder together, and test it on other data.",
    "papers": "Run the study of a paper: train, evaluate and compare models, and make its tables.",
    "inspect": "Show where encoders fail and why: slices of texts, kinds of error, hubs.",
    "nearest": "Show the texts that an encoder puts nearest to any text, in each language.",
    "compare": "Compare encoders query by query, and test whether the differences are real.",
    "gate": "Decide in CI whether a candidate encoder is no worse than a baseline.",
    "history": "Show how results changed over time or between versions.",
    "plan": "Compute how many queries show a difference of a given size.",
    "rerank": "Re-rank n-best lists of translations: tune, apply and score weights.",
    "study": "Run a blind study in which people rate the texts that systems retrieve.",
    "encoders": "List the kinds of encoders and the packages that they need.",
    "run": "Run a suite or the commands of a TOML file; a suite computes only what changed.",
    "verify": "Compute a result again from its record, and compare every digit.",
    "report": "Make one HTML report from folders of results.",
    "leaderboard": "Make one page of many encoders, data sets and tasks: ranks, ties, costs.",
    "help": "Show the tasks and what each takes, or the help of a command.",
}


class _InterruptError(BaseException):
    """Ctrl-C; click would print an empty line for it. Its arguments are printed after the error."""


class _PipeError(Exception):
    """The reader of standard output has gone; click would exit with 1, which is a gate's "fail"."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupted:
            raise _InterruptError(*interrupted.args) from None
        except BrokenPipeError:
            raise _PipeError from None

    def make_context(self, *args: Any, **more: Any) -> click.Context:  # noqa: ANN401
        """Read the arguments; `--help` is printed here."""
        try:
            return super().make_context(*args, **more)
        except BrokenPipeError:
            raise _PipeError from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of a user's day."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command."""
        if cmd_name not in _VERBS:
            return None
        command: click.Command = getattr(import_module(f"xlingual.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs and their help without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; name the nearest one where there is none."""
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"No such command {args[0]!r}.{did_you_mean(args[0], _VERBS)}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=IN_SHORT)
@click.version_option(
    None, "-V", "--version", package_name="xlingual", prog_name="xlingual", message="%(prog)s %(version)s"
)
def xlingual() -> None:
    """Measure cross-lingual text embeddings on your own data, without parallel corpora.

    Start with `xlingual demo`, then `xlingual data check MANIFEST` and
    `xlingual evaluate backretrieval MANIFEST …` on your own texts and images.
    """


def main() -> None:
    """Run the command line and exit."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who called (`>&-`): then nobody reads it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without, say, "→" gets "?" instead of a traceback
            stream.reconfigure(errors="replace")
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _output_failed(error)
    if "ray" in sys.modules:
        _end(code)
    sys.exit(code)


def _end(code: int) -> NoReturn:
    """End the program once all is put away, without taking the interpreter apart.

    Threads of Ray that are at work then can crash it, long after all is done.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line with the arguments and return the exit code."""
    handler = interruption.Remembering()
    try:
        with interruption.remembered() as handler:
            result = xlingual.main(args=arguments, prog_name="xlingual", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except XlingualError as error:
        return _fail(str(error), BAD)
    except (_InterruptError, click.Abort, KeyboardInterrupt) as interrupted:
        code = _fail("interrupted", 128 + (handler.called or signal.SIGINT))
        for hint in interrupted.args:
            click.echo(visible_line(str(hint)), err=True)
        return code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD
    except click.ClickException as error:
        return _fail(_usage(error), BAD)
    except _PipeError:
        return _output_failed(BrokenPipeError())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{why(error)}", BAD)
    except MemoryError:
        return _fail("out of memory: evaluate fewer items (--sample N) or fewer threads (--threads 1)", BAD)


def _usage(error: click.ClickException) -> str:
    """Return click's message, what a missing option is for, and where to read more."""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        message += f": {error.param.help}" if error.param.help else ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message = f"{message.rstrip('.')} (see: {error.ctx.command_path} --help)"
    return message


def _output_failed(error: OSError) -> int:
    """Stop where standard output takes no more, in silence where its reader (such as `head`) has enough."""
    # The interpreter flushes standard output once more at its end; that must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return PIPE
    return _fail(f"standard output: {why(error)}", BAD)


def _fail(message: str, code: int) -> int:
    click.echo(f"error: {visible_line(message)}", err=True)
    return code
