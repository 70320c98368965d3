"""Checkpoints: after every epoch all that a training needs to go on, in `checkpoint/` of the model's folder.

    checkpoint/state.json                        how the training stands, its settings, and which files count
    checkpoint/epoch-0003/weights.safetensors    after the last epoch
    checkpoint/epoch-0003/optimizer.safetensors  what Adam remembers of each weight
    checkpoint/epoch-0002/weights.safetensors    of the best epoch, where that is another

The files of an epoch are written into a folder of their own and reach the disk before `state.json` names
them; it is replaced in one step. So a crash at any moment leaves the checkpoint of the epoch before, or the
new one; what `state.json` does not name is removed at the next checkpoint. No random state is kept: every
epoch's random numbers follow from the seed and the epoch.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError
from xlingual.files import make_folder
from xlingual.results import to_json
from xlingual.store.disk import sync_folder, write_file
from xlingual.training.optimizer import load_optimizer, optimizer_tensors
from xlingual.training.standing import Standing
from xlingual.training.tensors import read_tensors, unwritable, write_tensors

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

SCHEMA = "xlingual/checkpoint/1"
FOLDER = "checkpoint"
_STATE, _WEIGHTS, _OPTIMIZER = "state.json", "weights.safetensors", "optimizer.safetensors"
_EPOCH = re.compile(r"epoch-\d{4,}")


@dataclass(frozen=True)
class Checkpoint:
    """What `state.json` says."""

    standing: Standing
    settings: Mapping[str, Any]  # as JSON gives them back
    scaler: Mapping[str, Any]  # of float16's loss scale; empty without
    epoch_folder: str
    best_folder: str


class Checkpoints:
    """The checkpoint of one model folder."""

    def __init__(self, model_folder: Path) -> None:
        self.folder = model_folder / FOLDER

    def exists(self) -> bool:
        """Tell whether there is a whole checkpoint."""
        return (self.folder / _STATE).is_file()

    def read(self) -> Checkpoint:
        """Read how the training stands; raise InputError where that is missing or damaged."""
        path = self.folder / _STATE
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            if state["schema"] != SCHEMA:
                raise InputError(
                    f"{path} has the schema {state['schema']!r}, expected {SCHEMA!r}: it was made by another "
                    "version of xlingual; train again, in another folder"
                )
            return Checkpoint(
                Standing(**state["standing"]),
                state["settings"],
                state["scaler"],
                state["epoch_folder"],
                state["best_folder"],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path} cannot be read ({type(error).__name__}: {error}): the checkpoint is damaged; train "
                "again, in another folder"
            ) from error

    def write(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        standing: Standing,
        settings: Mapping[str, Any],
        scaler: Mapping[str, Any],
    ) -> None:
        """Write the checkpoint of the epoch that has just ended; the one before stays until it is whole."""
        epoch = self.folder / _name(standing.epoch)
        shutil.rmtree(epoch, ignore_errors=True)  # what a crash left
        make_folder(epoch)
        write_tensors(epoch / _WEIGHTS, model.state_dict())
        write_tensors(epoch / _OPTIMIZER, optimizer_tensors(model, optimizer))
        sync_folder(epoch)
        sync_folder(self.folder)
        state = {
            "schema": SCHEMA,
            "standing": asdict(standing),
            "settings": settings,
            "scaler": scaler,
            "epoch_folder": epoch.name,
            "best_folder": _name(standing.best_epoch),
        }
        try:
            write_file(self.folder / _STATE, to_json(state).encode())
        except OSError as error:
            raise unwritable(self.folder / _STATE, error) from error
        self._tidy(epoch.name, _name(standing.best_epoch))

    def load(self, checkpoint: Checkpoint, model: nn.Module, optimizer: Optimizer) -> None:
        """Give model and optimiser what they had when the checkpoint was written."""
        folder = self.folder / checkpoint.epoch_folder
        self._into(model, read_tensors(folder / _WEIGHTS))
        load_optimizer(model, optimizer, read_tensors(folder / _OPTIMIZER))

    def load_best(self, model: nn.Module) -> None:
        """Give a model the weights of the best epoch."""
        self._into(model, read_tensors(self.folder / self.read().best_folder / _WEIGHTS))

    def remove(self) -> None:
        """Remove the checkpoint, first what says that there is one; what others put there stays."""
        with suppress(FileNotFoundError):
            (self.folder / _STATE).unlink()
        for path in self._epochs():
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _into(self, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
        try:
            model.load_state_dict(tensors)
        except RuntimeError as error:
            raise InputError(
                f"the checkpoint in {self.folder} does not fit the model "
                f"({' '.join(str(error).split())[:200]}): train again, in another folder"
            ) from error

    def _tidy(self, epoch_folder: str, best_folder: str) -> None:
        """Remove what no longer counts; what cannot be removed does no harm."""
        for path in self._epochs():
            if path.name not in {epoch_folder, best_folder}:
                shutil.rmtree(path, ignore_errors=True)
        if best_folder != epoch_folder:
            with suppress(OSError):
                (self.folder / best_folder / _OPTIMIZER).unlink(missing_ok=True)

    def _epochs(self) -> list[Path]:
        """Return the folders of epochs, those of a crash included."""
        return [path for path in self.folder.glob("epoch-*") if _EPOCH.fullmatch(path.name)]


def _name(epoch: int) -> str:
    return f"epoch-{epoch:04}"
