"""What all trainings share: what comes out, how data are divided, and what the model's folder says of it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.data.holdout import hold_out
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.models.folder import CHECKPOINT, ModelFolder
from xlingual.training.options import FitOptions

if TYPE_CHECKING:
    from xlingual.training.loop import Fitted, Scores

WORK = "work"  # what an epoch reads, inside the folder of the model while it is trained


@dataclass(frozen=True)
class Trained:
    """A model that was trained: its folder, how the training went, and what the validation of it said."""

    folder: ModelFolder
    best_epoch: int
    epochs: int
    stopped: str
    seconds: float
    scores: Mapping[str, float]  # of the best epoch: sums of recalls, in per cent of 600
    score: float  # their mean over what the model is chosen by
    texts: Mapping[str, int]  # language → texts trained on
    pictures: int | None = None  # trained on; None where they do not count

    @classmethod
    def of(
        cls,
        folder: ModelFolder,
        fitted: Fitted,
        scores: Scores,
        texts: Mapping[str, int],
        pictures: int | None = None,
    ) -> Trained:
        """Return the record of a training that is over, `scores` being those of its best epoch."""
        return cls(
            folder,
            fitted.best_epoch,
            fitted.epochs,
            fitted.stopped,
            fitted.seconds,
            dict(scores.parts),
            scores.value,
            texts,
            pictures,
        )


def divided(manifest: Manifest, validation: Manifest | float, seed: int) -> tuple[Manifest, Manifest]:
    """Return what is trained on and what is validated on; raise InputError where they share texts."""
    if not isinstance(validation, Manifest):
        return hold_out(manifest, validation, seed)
    both = [part.texts(np.arange(len(part))).row_digests() for part in (manifest, validation)]
    if shared := both[0] & both[1]:
        raise InputError(
            f"{len(shared)} texts are both trained and validated on: choose other rows for --validation, "
            "such as another split"
        )
    return manifest, validation


def training_part(
    recipe: str,
    settings: Mapping[str, Any],
    fit: FitOptions,
    fitted: Fitted,
    scores: Scores,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return "training" of config.json: all options, how it went, and the scores of the best epoch."""
    return {
        "recipe": recipe,
        **settings,
        **{f"fit_{name}" if name == "seed" else name: value for name, value in asdict(fit).items()},
        **(more or {}),
        "epochs_run": fitted.epochs,
        "best_epoch": fitted.best_epoch,
        "stopped": fitted.stopped,
        "seconds": fitted.seconds,
        "score": scores.value,
        "scores": dict(scores.parts),
    }


def data_part(
    train: Manifest, held: Manifest, items: int, texts: Mapping[str, int], pictures: int | None = None
) -> dict[str, Any]:
    """Return "data" of config.json: what was trained and validated on."""
    return {
        "source": train.path.name if train.path is not None else train.source,
        "digest": train.digest,
        "validation_digest": held.digest,
        "items": items,
        "texts": dict(texts),
        "pictures": pictures,
    }


def environment(device: str) -> dict[str, str]:
    """Return "environment" of config.json: versions, platform and device."""
    packages = {name: version(name) for name in ("xlingual", "torch", "numpy")}
    return {
        **packages,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": device,
    }


def checkpoint_bytes(folder: Path) -> int:
    """Return how many bytes the checkpoint in a model's folder takes, 0 where there is none."""
    return sum(path.stat().st_size for path in (folder / CHECKPOINT).rglob("*") if path.is_file())
