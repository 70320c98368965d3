"""What `config.json` says of a training: which keys are its options, and which of them change its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# keys of `training` in config.json that are results of the training, not its options
OUTCOME = frozenset({"epochs_run", "best_epoch", "stopped", "seconds", "score", "scores", "final_scale"})

# options that say where a training ran and do not change its result
ANYWHERE = frozenset({"device", "threads"})


def differences(training: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return in what a training differs from what is asked for, in words: "rate was 0.1 and is 0.01".

    Where it ran does not count.
    """
    wanted = json.loads(json.dumps(asked))  # as config.json gives them back
    return [
        f"{name} was {training.get(name)} and is {value}"
        for name, value in wanted.items()
        if name not in ANYWHERE and training.get(name) != value
    ]
