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
    ExitCode(DONE, "done, or the answer is yes"),
    ExitCode(
        NO,
        "the answer is no",
        "[`gate`](gate.md) fails, also in a [suite](run.md); [`verify`](verify.md) "
        "finds different numbers or inputs; [`store verify`](store-verify.md) finds damage",
    ),
    ExitCode(NO, "a bug in the program, with a traceback: please report it"),
    ExitCode(
        BAD,
        "bad input or environment: invalid data, options or files, missing packages, a full disk, no "
        "permission, not enough memory. One line that begins with `error:` says what is wrong, where, and "
        "what to do",
    ),
    ExitCode(BAD, "the data has errors; each is listed", "[`data check`](data-check.md)"),
    ExitCode(BAD, "the record asks for what is not allowed; it is listed", "[`verify`](verify.md)"),
    ExitCode(UNKNOWN, "cannot tell: too few queries", "[`gate`](gate.md), [suite](run.md)"),
    ExitCode(UNKNOWN, "cannot tell: something is missing", "[`verify`](verify.md)"),
    ExitCode(INTERRUPTED, "interrupted (Ctrl-C); vectors that were computed are stored"),
    ExitCode(PIPE, "the reader of standard output stopped reading (`\\| head`)"),
    ExitCode(TERMINATED, "terminated (SIGTERM), otherwise as after Ctrl-C"),
)
IN_SHORT = (
    f"Exit codes: {DONE} done or yes, {NO} no (gate, verify, store verify) or a bug, {BAD} bad input or no "
    f"room, {UNKNOWN} cannot tell (gate, verify), {INTERRUPTED} interrupted."
)


def as_markdown() -> str:
    """Return the table as the page of commands has it; links are to pages beside it."""
    rows = [f"| {code} | {meaning} | {commands} |" for code, meaning, commands in EXIT_CODES]
    return "\n".join(["| code | meaning | commands |", "|---|---|---|", *rows])
