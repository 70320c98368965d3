"""Exit codes: what a command ends with, said once; docs and help are tested against it."""

from __future__ import annotations

from typing import NamedTuple

DONE, NO, BAD, UNKNOWN, INTERRUPTED, TERMINATED, PIPE = 0, 1, 2, 3, 130, 143, 141


class ExitCode(NamedTuple):
    """A row of the table: the code, what it means, and which commands end with it."""

    code: int
    meaning: str
    commands: str = "all"


EXIT_CODES = (
    ExitCode(DONE, "done; of a question: yes"),
    ExitCode(
        NO,
        "the answer is no",
        "[`gate`](gate.md) that fails, also in a [suite](run.md); [`verify`](verify.md) that finds other "
        "numbers or inputs; [`store verify`](store-verify.md) that finds damage",
    ),
    ExitCode(NO, "a bug in the program, with a traceback: please report it"),
    ExitCode(
        BAD,
        "input or environment: data, options, files and packages that are not what they must be; no room on "
        "the disk, no right to write, no memory. One line that begins with `error:` says where and what to "
        "do",
    ),
    ExitCode(BAD, "the data has errors, each of them listed", "[`data check`](data-check.md)"),
    ExitCode(UNKNOWN, "cannot tell: too few queries", "[`gate`](gate.md), [suite](run.md)"),
    ExitCode(UNKNOWN, "cannot tell: something is missing", "[`verify`](verify.md)"),
    ExitCode(INTERRUPTED, "interrupted (Ctrl-C); vectors that are computed are kept"),
    ExitCode(PIPE, "the reader of standard output (`\\| head`) had enough"),
    ExitCode(TERMINATED, "ended from outside (SIGTERM), as after Ctrl-C"),
)
IN_SHORT = (
    f"Exit codes: {DONE} done or yes, {NO} no (gate, verify, store verify) or a bug, {BAD} bad input or no "
    f"room, {UNKNOWN} cannot tell (gate, verify), {INTERRUPTED} interrupted."
)


def as_markdown() -> str:
    """Return the table as the page of commands has it; links are to pages beside it."""
    rows = [f"| {code} | {meaning} | {commands} |" for code, meaning, commands in EXIT_CODES]
    return "\n".join(["| code | meaning | commands |", "|---|---|---|", *rows])
