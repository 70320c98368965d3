"""The log of a training, `log.jsonl` in the model's folder: one line of JSON for each epoch."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from xlingual.files import writing
from xlingual.models.folder import LOG
from xlingual.store.shard import write_file

OnLog: TypeAlias = Callable[[Mapping[str, Any]], None]  # is called with the line of each epoch


class Log:
    """Writes a log; lines of epochs after `after` are dropped, since these will be trained again."""

    def __init__(self, model_folder: Path, after: int = 0) -> None:
        self.path = model_folder / LOG
        kept = [line for line in read_log(self.path) if line["epoch"] <= after] if after else []
        if not kept and not self.path.exists():
            return  # a training that fails in its first epoch leaves nothing
        with writing(self.path):
            write_file(self.path, b"".join(_encoded(line) for line in kept))

    def add(self, line: Mapping[str, Any]) -> None:
        """Add the line of an epoch, on the disk when this returns."""
        with writing(self.path), self.path.open("ab", buffering=0) as file:
            file.write(_encoded(line))
            os.fsync(file)


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


def _encoded(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
