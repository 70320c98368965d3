"""Problems of a file: raised at once where the file is to be used, gathered where all are to be listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xlingual.errors import InputError, warn

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Problem:
    """One kind of problem, wherever it occurs."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    sentence: str  # one line: where, what was found (the first time), what to do
    rows: Sequence[int] = ()  # 0-based rows of the table that cannot be used
    examples: Sequence[str] = ()
    count: int | None = None  # how often it occurs; None: once for each row

    @property
    def times(self) -> int:
        """How often it occurs."""
        return self.count if self.count is not None else max(1, len(self.rows))


@dataclass(frozen=True)
class Reading:
    """Options of reading a file, and where problems are gathered."""

    separator: str | None = None
    encoding: str | None = None
    problems: list[Problem] | None = None  # None: the first error is raised, and warnings are warned of

    def report(self, problem: Problem) -> None:
        """Gather a problem, or raise or warn of it."""
        if self.problems is not None:
            self.problems.append(problem)
        elif problem.severity == "error":
            raise InputError(problem.sentence)
        elif problem.severity == "warning":
            warn(problem.sentence)

    def error(self, kind: str, sentence: str, rows: Sequence[int] = (), examples: Sequence[str] = ()) -> None:
        """Report an error; see `report`."""
        self.report(Problem("error", kind, sentence, rows, examples))


def first_line(error: Exception, most: int = 200) -> str:
    """Return the first line of a library's error message, cut to `most` characters."""
    return next(iter(str(error).splitlines()), "")[:most] or type(error).__name__


STRICT = Reading()  # without options; the first error is raised
