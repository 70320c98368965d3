"""What all trainings share: how data are divided, where they run, and what the model's folder records."""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.samples import hold_out
from xlingual.embed.encoding import Progress
from xlingual.errors import InputError, listed, warn
from xlingual.files import make_folder
from xlingual.models.card import write_card
from xlingual.models.folder import ModelFolder, write_model
from xlingual.models.texts import Vocabulary
from xlingual.training.options import FitOptions
from xlingual.training.recipe import OnLog, Recipe, Validate, ValidationScores

if TYPE_CHECKING:
    from xlingual.training.loop import Fitted

_WORK = ".xlingual-corpus"  # the corpus, in the model's folder during training: a name that nobody else gives
_SMALL = 10  # with so few items every one is among the first ten


@dataclass(frozen=True)
class TrainingOutcome:
    """A model that was trained: its folder, how the training went, and its scores on the validation."""

    folder: ModelFolder
    best_epoch: int
    kept_epoch: int  # whose weights the model has
    epochs: int
    stopped: str
    seconds: float
    scores: Mapping[str, float]  # of the model

    @classmethod
    def of(cls, folder: ModelFolder, fitted: Fitted, scores: ValidationScores | None, **more: Any) -> Self:  # noqa: ANN401
        """Return the record of a training that is over, `scores` being those of the model."""
        parts = {} if scores is None else dict(scores.parts)
        epochs = fitted.best_epoch, fitted.kept_epoch, fitted.epochs
        return cls(folder, *epochs, fitted.stopped, fitted.seconds, parts, **more)


@dataclass(frozen=True)
class TrainedModel(TrainingOutcome):
    """A trained MLMME or Triplet; its scores are sums of recalls, in per cent of 600."""

    score: float  # the mean of the scores that choose the epoch
    mean_of: int  # the number of these
    chance: ValidationScores  # the same of an encoder to which all candidates are equal
    validated_on: Mapping[str, int]  # what was held out and how many: "items", "pictures" (images), "texts"
    texts: Mapping[str, int]  # language → texts trained on
    images: int | None = None  # trained on; None where they do not count


@dataclass(frozen=True)
class TrainingRun:
    """Where and how a training runs: the settings that all trainings share."""

    folder: Path  # of the model
    fit: FitOptions
    resume: bool
    replace: bool
    on_log: OnLog | None
    progress: Progress | None

    @property
    def work(self) -> Path:
        """The folder of the corpus; it is removed when the training is over."""
        return self.folder / _WORK

    def report(self, what: str) -> None:
        """Report the present step, whose length is not known."""
        if self.progress is not None:
            self.progress(what, 0, 1)

    def train(self, recipe: Recipe, settings: Mapping[str, Any], validate: Validate | None) -> Fitted:
        """Train; `settings` must be equal where a training is continued."""
        from xlingual.training.loop import fit

        return fit(
            recipe,
            self.fit,
            self.folder,
            settings=settings,
            validate=validate,
            on_log=self.on_log,
            resume=self.resume,
            replace=self.replace,
            progress=self.progress,
        )

    def write(
        self,
        kind: str,
        fitted: Fitted,
        base: Mapping[str, Any] | None,
        *,
        settings: Mapping[str, Any],
        more: Mapping[str, Any],
        scores: Mapping[str, Any],
        data: Mapping[str, Any],
        vocabularies: Mapping[str, Vocabulary] | None = None,
        network: Callable[[Path], None] | None = None,
    ) -> ModelFolder:
        """Write the model, its configuration and its card.

        "training" of `config.json` has the `settings` of the recipe, those of the loop and `more`, how it
        went, and the `scores` of the model.
        """
        model = fitted.model
        config = {
            "kind": kind,
            "model": model.config.to_dict(),
            "base": base,
            "training": {
                **settings,
                **self.fit.recorded(),
                **more,
                "epochs_run": fitted.epochs,
                "best_epoch": fitted.best_epoch,
                "stopped": fitted.stopped,
                "seconds": fitted.seconds,
                **scores,
            },
            "data": data,
            "environment": {
                **{name: version(name) for name in ("xlingual", "torch", "numpy")},
                "python": platform.python_version(),
                "platform": platform.platform(),
                "device": str(next(model.parameters()).device),
            },
        }
        weights = model.state_dict()
        return write_card(write_model(self.folder, config, weights, vocabularies, network=network))


@contextmanager
def running(
    out: str | Path,
    fit: FitOptions,
    *,
    resume: bool,
    replace: bool,
    on_log: OnLog | None,
    progress: Progress | None,
) -> Iterator[TrainingRun]:
    """Give the run of a training; in the end remove its corpus, and the folder where it is empty.

    Raises InputError for a folder, device or precision that will not do, before anything is encoded.
    """
    from xlingual.training.checkpoints import refuse
    from xlingual.training.precision import training_device

    refuse(Path(out), resume=resume, replace=replace)
    training_device(fit)
    run = TrainingRun(make_folder(out), fit, resume, replace, on_log, progress)
    try:
        yield run
    finally:
        shutil.rmtree(run.work, ignore_errors=True)
        with suppress(OSError):
            run.folder.rmdir()  # only an empty folder is removed


def data_part(
    train: Manifest, held_out: Manifest, items: int, texts: Mapping[str, int], images: int | None = None
) -> dict[str, Any]:
    """Return "data" of config.json: what was trained and validated on."""
    return {
        "source": train.path.name if train.path is not None else train.source,
        "digest": train.digest,
        "validation_digest": held_out.digest,
        "items": items,
        "texts": dict(texts),
        "pictures": images,
    }


def divided(manifest: Manifest, validation: Manifest | float, seed: int) -> tuple[Manifest, Manifest]:
    """Return the rows to train on and those to validate on; raise InputError where they share texts."""
    if not isinstance(validation, Manifest):
        return hold_out(manifest, validation, seed)
    if shared := manifest.n_shared(validation):
        raise InputError(
            f"{shared} texts are both trained and validated on: choose other rows for --validation, "
            "such as another split"
        )
    if manifest.path is not None and manifest.path == validation.path:
        items = [set(np.unique(part.item_ids).tolist()) for part in (manifest, validation)]
        if both_sides := sorted(items[0] & items[1]):
            raise InputError(
                f"{len(both_sides)} items have texts on both sides of --validation ({listed(both_sides, 3)})"
                ": choose rows that keep each item whole"
            )
    images = [_image_keys(part) for part in (manifest, validation)]
    if same := len(images[0] & images[1]):
        warn(
            f"{same} images are both trained and validated on, so the validation flatters: choose other "
            "rows for --validation"
        )
    return manifest, validation


def _image_keys(manifest: Manifest) -> set[Path | bytes]:
    """Return a key for each image without opening any: the path of its file, or a digest of its bytes."""
    return {
        hashlib.sha256(source).digest() if isinstance(source, bytes) else source.resolve()
        for source in manifest.image_source
    }


def check_size(items: int, candidates: Mapping[str, int] | None = None) -> None:
    """Raise InputError, or warn, where there are too few items to rank: every epoch would be as good.

    `candidates`: language → texts, where each language is ranked by itself.
    """
    if items < 2:
        raise InputError(
            "the validation has one item (items that show one image count as one), so there is nothing to "
            "rank: give more rows, or a larger share"
        )
    if items <= _SMALL:
        warn(
            f"the validation has {items} items, so R@10 is 100 whatever the model: give more to compare "
            "epochs by"
        )
    elif few := [f"{tag} {count}" for tag, count in (candidates or {}).items() if 0 < count <= _SMALL]:
        warn(
            f"the validation has few texts in some languages ({listed(few)}), so R@10 is 100 there whatever "
            "the model: give more to compare epochs by"
        )
