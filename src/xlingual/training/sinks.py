"""The log of a training: a file, and the sinks that `trackers` has.

The log, `log.jsonl` in the model's folder, has one line of JSON for each epoch. A sink that fails at the
start is an error; one that fails later is dropped with one warning: a training is worth more than its plots.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, XlingualError, warn
from xlingual.models.folder import LOG
from xlingual.store.disk import append, write_file
from xlingual.training.trackers import Sink, name_of


class Log:
    """Writes a log; lines of epochs after `after` are dropped, since these will be trained again."""

    def __init__(self, model_folder: Path, after: int = 0) -> None:
        self.path = model_folder / LOG
        kept = [line for line in read_log(self.path) if line["epoch"] <= after] if after else []
        if not kept and not self.path.exists():
            return  # a training that fails in its first epoch leaves nothing
        try:
            write_file(self.path, b"".join(_encoded(line) for line in kept))
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def add(self, line: Mapping[str, Any]) -> None:
        """Add the line of an epoch, on the disk when this returns."""
        try:
            append(self.path, _encoded(line))
        except OSError as error:
            raise _unwritable(self.path, error) from error


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, [] where there is none; a last line that was cut by a crash is left out."""
    if not path.is_file():
        return []
    lines = []
    for line in path.read_bytes().splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines


class Sinks:
    """Several sinks as one: one that fails is reported once and receives nothing more.

    `unharmed` says in the report what is not lost.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        unharmed: str = "the training goes on, and its own log has every epoch",
    ) -> None:
        self._sinks, self._unharmed = list(sinks), unharmed

    @property
    def receiving(self) -> list[Sink]:
        """Those that have not failed."""
        return list(self._sinks)

    def config(self, settings: Mapping[str, Any], after: int) -> None:
        """Begin; raise InputError (or MissingExtraError) where a sink cannot."""
        for sink in self._sinks:
            try:
                sink.config(settings, after)
            except XlingualError:
                raise
            except Exception as error:
                raise InputError(
                    f"sink {name_of(sink)} cannot start ({_reason(error)}): leave it out"
                ) from error

    def epoch(self, line: Mapping[str, Any]) -> None:
        """Pass the log line of an epoch to all."""
        self.each(lambda sink: sink.epoch(line), f" at epoch {line['epoch']}")

    def each(self, what: Callable[[Any], None], when: str = "") -> None:
        """Do something with each; one that fails is dropped, with a warning that says `when`."""
        for sink in list(self._sinks):
            try:
                what(sink)
            except Exception as error:
                self._sinks.remove(sink)
                with suppress(Exception):
                    sink.close()
                warn(f"sink {name_of(sink)} failed{when} ({_reason(error)}) and is dropped: {self._unharmed}")

    def close(self) -> None:
        """Close all; one that fails gives a warning."""
        for sink in self._sinks:
            try:
                sink.close()
            except Exception as error:
                warn(
                    f"sink {name_of(sink)} could not be closed ({_reason(error)}): it may lack the last "
                    "numbers"
                )


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _encoded(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path} ({error.strerror}): is the disk full, or the folder locked?")
