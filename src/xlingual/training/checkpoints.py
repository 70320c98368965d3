"""Checkpoints: after every epoch all that a training needs to go on, in `checkpoint/` of the model's folder.

    checkpoint/state.json                        state of the training, its settings, and which files count
    checkpoint/epoch-0003/weights.safetensors    after the last epoch
    checkpoint/epoch-0003/optimizer.safetensors  what Adam remembers of each weight
    checkpoint/epoch-0002/weights.safetensors    after the best epoch, where that is another one

The files of each epoch are written into a folder for that epoch and reach the disk before `state.json` names
them; it is replaced in one step. So a crash at any moment leaves the checkpoint of the epoch before, or the
new one; files that `state.json` does not name are removed at the next checkpoint. No random state is kept:
every epoch's random numbers follow from the seed and the epoch.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from xlingual.errors import InputError
from xlingual.files import make_folder
from xlingual.models.folder import CHECKPOINT
from xlingual.results import to_json
from xlingual.store.shard import sync_folder, write_file
from xlingual.training.epoch import trained
from xlingual.training.options import FitOptions

SCHEMA = "xlingual/checkpoint/1"
_STATE, _WEIGHTS, _OPTIMIZER = "state.json", "weights.safetensors", "optimizer.safetensors"
_EPOCH = re.compile(r"epoch-\d{4,}")
_MEMORY = ("exp_avg", "exp_avg_sq", "step")  # what Adam keeps of each weight


@dataclass(frozen=True)
class TrainingState:
    """What the loop remembers from epoch to epoch besides the weights."""

    epoch: int = 0  # epochs that are over
    best_epoch: int = 0  # 0: none yet
    best_score: float | None = None  # None where nothing is validated
    worse: int = 0  # epochs in a row without a better score
    seconds: float = 0.0  # of training and validation, over all parts of a training that was continued

    def after(self, score: float | None, seconds: float) -> TrainingState:
        """Return the state after one more epoch; an equal score is no better one."""
        epoch = self.epoch + 1
        best = score is None or self.best_score is None or score > self.best_score
        return TrainingState(
            epoch=epoch,
            best_epoch=epoch if best else self.best_epoch,
            best_score=score if best else self.best_score,
            worse=0 if best else self.worse + 1,
            seconds=self.seconds + seconds,
        )

    def stopped(self, options: FitOptions) -> str | None:
        """Return why the training ends here, `patience` or `epochs`; None: it goes on."""
        if self.epoch >= options.epochs:
            return "epochs"
        return "patience" if options.patience is not None and self.worse >= options.patience else None


@dataclass(frozen=True)
class Checkpoint:
    """What `state.json` says."""

    standing: TrainingState
    settings: Mapping[str, Any]  # as JSON gives them back
    scaler: Mapping[str, Any]  # of float16's loss scale; empty without
    epoch_folder: str
    best_folder: str


class Checkpoints:
    """The checkpoint of one model folder."""

    def __init__(self, model_folder: Path) -> None:
        self.folder = model_folder / CHECKPOINT

    def exists(self) -> bool:
        """Return whether there is a whole checkpoint."""
        return (self.folder / _STATE).is_file()

    def read(self) -> Checkpoint:
        """Read the checkpoint; raise InputError where it is missing or damaged."""
        path = self.folder / _STATE
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            if state["schema"] != SCHEMA:
                raise InputError(
                    f"{path} has the schema {state['schema']!r}, expected {SCHEMA!r}: it was made by another "
                    "version of xlingual; train again, in another folder"
                )
            rest = (state[name] for name in ("settings", "scaler", "epoch_folder", "best_folder"))
            return Checkpoint(TrainingState(**state["standing"]), *rest)
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
        standing: TrainingState,
        settings: Mapping[str, Any],
        scaler: Mapping[str, Any],
    ) -> None:
        """Write the checkpoint of the epoch that has just ended; the one before stays until it is whole."""
        epoch = self.folder / _name(standing.epoch)
        shutil.rmtree(epoch, ignore_errors=True)  # what a crash left
        make_folder(epoch)
        write_tensors(epoch / _WEIGHTS, model.state_dict())
        write_tensors(epoch / _OPTIMIZER, _memory_of(model, optimizer))
        sync_folder(epoch)
        sync_folder(self.folder)
        kept = Checkpoint(standing, settings, scaler, epoch.name, _name(standing.best_epoch))
        try:
            write_file(self.folder / _STATE, to_json({"schema": SCHEMA, **asdict(kept)}).encode())
        except OSError as error:
            raise _unwritable(self.folder / _STATE, error) from error
        self._tidy(kept)

    def load(self, checkpoint: Checkpoint, model: nn.Module, optimizer: Optimizer) -> None:
        """Give model and optimiser their state of the checkpoint."""
        folder = self.folder / checkpoint.epoch_folder
        self._into(model, read_tensors(folder / _WEIGHTS))
        _remember(model, optimizer, read_tensors(folder / _OPTIMIZER))

    def load_epoch(self, model: nn.Module, epoch: int) -> None:
        """Give a model the weights of an epoch that the checkpoint has: the best one, or the last."""
        self._into(model, read_tensors(self.folder / _name(epoch) / _WEIGHTS))

    def remove(self) -> None:
        """Remove the checkpoint, `state.json` first; files that others put there stay."""
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

    def _tidy(self, kept: Checkpoint) -> None:
        """Remove what no longer counts; what cannot be removed does no harm."""
        for path in self._epochs():
            if path.name not in {kept.epoch_folder, kept.best_folder}:
                shutil.rmtree(path, ignore_errors=True)
        if kept.best_folder != kept.epoch_folder:
            with suppress(OSError):
                (self.folder / kept.best_folder / _OPTIMIZER).unlink(missing_ok=True)

    def _epochs(self) -> list[Path]:
        """Return the folders of epochs, those of a crash included."""
        return [path for path in self.folder.glob("epoch-*") if _EPOCH.fullmatch(path.name)]


def _name(epoch: int) -> str:
    return f"epoch-{epoch:04}"


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors of any device and wait until they are on the disk; raise InputError where that fails."""
    try:
        save_file(_own_memory(tensors), path)
        path.chmod(0o644)  # the package's own temporary file was the owner's alone
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    except (OSError, SafetensorError) as error:
        raise _unwritable(path, error) from error


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read tensors onto the CPU; raise InputError where the file is missing or damaged."""
    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"{path} cannot be read ({error}): the checkpoint is damaged; train again, in another folder"
        ) from error
    return tensors


def _unwritable(path: Path, error: Exception) -> InputError:
    """Return the error of a file of a checkpoint that cannot be written."""
    return InputError(f"cannot write {path} ({error}): is the disk full? The checkpoint before it is kept")


def _own_memory(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors on the CPU, none sharing memory with another, as the format wants them."""
    own: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        address = plain.untyped_storage().data_ptr()
        own[name] = plain.clone() if address in seen else plain
        seen.add(address)
    return own


def _memory_of(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's memory as `PART/WEIGHT`; weights that had no gradient yet have none."""
    return {
        f"{part}/{name}": optimizer.state[weight][part]
        for name, weight in trained(model).items()
        for part in _MEMORY
        if part in optimizer.state.get(weight, {})
    }


def _remember(model: nn.Module, optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimiser the memory that `_memory_of` returned."""
    kept = (
        {part: tensors[f"{part}/{name}"] for part in _MEMORY if f"{part}/{name}" in tensors}
        for name in trained(model)
    )
    state = {number: parts for number, parts in enumerate(kept) if parts}
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
