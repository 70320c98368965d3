"""What is wrong with a file: raised at once where it is to be used, gathered where all is to be listed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xlingual.errors import DataWarning, InputError

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Problem:
    """One kind of thing that is wrong, wherever it occurs."""

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
    """What the user said about how a file is to be read, and where problems are gathered."""

    separator: str | None = None
    encoding: str | None = None
    problems: list[Problem] | None = None  # None: the first error is raised, and warnings are warned of

    def tell(self, problem: Problem) -> None:
        """Gather a problem, or raise or warn of it."""
        if self.problems is not None:
            self.problems.append(problem)
        elif problem.severity == "error":
            raise InputError(problem.sentence)
        elif problem.severity == "warning":
            warnings.warn(problem.sentence, DataWarning, stacklevel=2)

    def error(self, kind: str, sentence: str, rows: Sequence[int] = (), examples: Sequence[str] = ()) -> None:
        """Tell an error; see `tell`."""
        self.tell(Problem("error", kind, sentence, rows, examples))


def first_line(error: Exception, most: int = 200) -> str:
    """Return the first line of what a library says of an error, cut to `most` characters."""
    return next(iter(str(error).splitlines()), "")[:most] or type(error).__name__


AT_ONCE = Reading()  # the user said nothing, and the first error is raised
