"""What all trainings share: what comes out, how data are divided, and what the model's folder says of it."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.data.manifest import Manifest
from xlingual.models.folder import CHECKPOINT, ModelFolder
from xlingual.training.options import FitOptions

if TYPE_CHECKING:
    from xlingual.training.loop import Fitted, Scores

WORK = ".xlingual-corpus"  # what an epoch reads, in the model's folder meanwhile: a name nobody else gives


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
    mean_of: int  # how many of them that is
    chance: Scores  # the same of an encoder to which all candidates are equal
    validated_on: Mapping[str, int]  # what was held out and how many: "items", "pictures", "texts"
    texts: Mapping[str, int]  # language → texts trained on
    pictures: int | None = None  # trained on; None where they do not count

    @classmethod
    def of(
        cls,
        folder: ModelFolder,
        fitted: Fitted,
        scores: Scores,
        chance: Scores,
        validated_on: Mapping[str, int],
        texts: Mapping[str, int],
        pictures: int | None = None,
    ) -> Trained:
        """Return the record of a training that is over, `scores` being those of its best epoch.

        `chance` are those of an encoder to which all candidates are equal.
        """
        return cls(
            folder,
            fitted.best_epoch,
            fitted.epochs,
            fitted.stopped,
            fitted.seconds,
            dict(scores.parts),
            scores.value,
            scores.mean_of,
            chance,
            validated_on,
            texts,
            pictures,
        )


def check_run(out: Path, fit: FitOptions, *, resume: bool, replace: bool) -> None:
    """Raise InputError for a folder, device or precision that will not do, before anything is encoded."""
    from xlingual.training.precision import MixedPrecision, training_device
    from xlingual.training.resuming import refuse

    refuse(out, resume=resume, replace=replace)
    MixedPrecision(fit.precision, training_device(fit.device))


def clean(folder: Path) -> None:
    """Remove what an epoch reads, and the folder where nothing came of the training."""
    shutil.rmtree(folder / WORK, ignore_errors=True)
    with suppress(OSError):
        folder.rmdir()  # only an empty folder is removed


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
        **{"fit_seed" if name == "seed" else name: value for name, value in fit.settings().items()},
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
