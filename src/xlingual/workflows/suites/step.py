"""A step of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xlingual.requests import Request


@dataclass(frozen=True)
class Step:
    """One command of a suite: its request writes into a folder of its own."""

    name: str  # "products/bkr", "products/bkr/gates/new"
    data: str
    task: str  # as the suite calls it
    request: Request
    folder: Path
    label: str = ""  # of a comparison or gate: its name in the suite

    @property
    def kind(self) -> str:
        """What it is: evaluate, compare or gate."""
        return self.request.command.split()[0]
