"""What `config.json` says of a training: which keys are its options, and which options came later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# keys of `training` in config.json that are results of the training, not its options
OUTCOME = frozenset({"epochs_run", "best_epoch", "stopped", "seconds", "score", "scores", "final_scale"})

# options that say where a training ran and do not change its result
ANYWHERE = frozenset({"device", "threads"})

# options that came later, with the values that trainings had before
LATER: Mapping[str, Any] = {
    "keep_epoch": "best",
    "neighbours_in": "body-title",
    "redraw": "batch",
    "text_map": "shared",
}
_ABSENT = object()


def complete(training: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was recorded of a training, with the options that came after it."""
    return {**LATER, **training}


def as_before(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the options that came later, where they have the value of before.

    What is compared or signed is equal, therefore, to what trainings recorded before an option existed.
    """
    return {name: value for name, value in settings.items() if LATER.get(name, _ABSENT) != value}
