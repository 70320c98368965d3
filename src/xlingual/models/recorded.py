"""What `config.json` says of a training: which keys are its options, and which options came later."""

from __future__ import annotations

import json
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


def differences(training: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return in what a training differs from what is asked for, in words: "rate was 0.1 and is 0.01".

    Where it ran does not count.
    """
    found, wanted = complete(training), json.loads(json.dumps(asked))  # as config.json gives them back
    return [
        f"{name} was {found.get(name)} and is {value}"
        for name, value in wanted.items()
        if name not in ANYWHERE and found.get(name) != value
    ]


def as_before(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the options that came later, where they have the value of before.

    What is compared or signed is equal, therefore, to what trainings recorded before an option existed.
    """
    return {name: value for name, value in settings.items() if LATER.get(name, _ABSENT) != value}
