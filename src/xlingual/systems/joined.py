"""Runs beside encoders: what `--run NAME=FILE` and `runs={"name": …}` name, in the places of systems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from xlingual.data.runs import SearchRun
from xlingual.encoders import Spec
from xlingual.encoders.registry import Together
from xlingual.errors import InputError
from xlingual.requests.record import none_given
from xlingual.requests.shared import SYSTEMS

# a file, a run in memory, or {query: {candidate: score}}
RunLike: TypeAlias = "str | os.PathLike[str] | SearchRun | Mapping[str, Any]"
RunsLike: TypeAlias = "Mapping[str, RunLike] | Sequence[RunLike] | str | os.PathLike[str] | SearchRun"

_NAME = re.compile(r"([\w.-]+)=")


def joined(text_encoders: Any, runs: RunsLike) -> Any:  # noqa: ANN401  (what `systems` takes)
    """Return encoders and runs together, as `systems` takes them: encoders first.

    A run is a file, [NAME=]FILE[?order=…&ids=…] as the command line has it, a SearchRun, or what
    `SearchRun.of` takes; a mapping names them. Raises InputError where there is neither an encoder nor a run.
    """
    found = list(_entries(runs))
    if not found and _is_empty(text_encoders):
        raise InputError(none_given(SYSTEMS))
    if not found:
        return text_encoders
    named = [{name: run} if name is not None else [run] for name, run in found]
    return Together((*([] if _is_empty(text_encoders) else [text_encoders]), *named))


def _is_empty(given: Any) -> bool:  # noqa: ANN401
    return isinstance(given, tuple | list | dict) and not given


def _entries(runs: Any) -> Iterator[tuple[str | None, Any]]:  # noqa: ANN401
    """Yield (name, spec or run) of each."""
    if isinstance(runs, Mapping):
        for name, run in runs.items():
            yield str(name), _run(run, str(name))
    elif isinstance(runs, list | tuple):
        for run in runs:
            yield None, _run(run, "run")
    else:
        yield None, _run(runs, "run")


def _run(given: Any, name: str) -> Any:  # noqa: ANN401
    """Return the spec of a file, or the run."""
    if isinstance(given, str):
        named = _NAME.match(given)
        start, rest = (named[0], given[named.end() :]) if named else ("", given)
        return given if rest.startswith("run:") else f"{start}run:{rest}"
    if isinstance(given, os.PathLike):
        return str(Spec(None, "run", os.fspath(given)))
    return SearchRun.of(given, name)
