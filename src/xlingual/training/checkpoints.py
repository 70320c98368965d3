"""Checkpoints: after every epoch all that a training needs to go on, in `checkpoint/` of the model's folder.

    checkpoint/last.safetensors   weights and Adam's memory after the last epoch, the state of the training
    checkpoint/best.safetensors   the weights after the best epoch

Each file is replaced in one step, the last first: a crash at any moment leaves the checkpoint of the epoch
before, or the new one, and where the last epoch is the best its weights are in both. No random state is kept:
every epoch's random numbers follow from the seed and the epoch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from xlingual.errors import InputError, listed
from xlingual.files import atomic_file, make_folder
from xlingual.models.card import differences
from xlingual.models.folder import CARD, CHECKPOINT, CONFIG, NETWORK, WEIGHTS
from xlingual.results import to_json
from xlingual.training.options import FitOptions

_MODEL = "model/"  # what the names of weights begin with
_MEMORY = ("exp_avg", "exp_avg_sq", "step")  # what Adam keeps of each weight
_DAMAGED = "the checkpoint is damaged; train again, in another folder"


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
        epoch, total = self.epoch + 1, self.seconds + seconds
        if score is None or self.best_score is None or score > self.best_score:
            return TrainingState(epoch, epoch, score, 0, total)
        return TrainingState(epoch, self.best_epoch, self.best_score, self.worse + 1, total)

    def stopped(self, options: FitOptions) -> str | None:
        """Return why the training ends here, `patience` or `epochs`; None: it goes on."""
        if self.epoch >= options.epochs:
            return "epochs"
        return "patience" if options.patience is not None and self.worse >= options.patience else None


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that are trained, by name, each once."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


class Checkpoints:
    """The checkpoint of one model folder."""

    def __init__(self, model_folder: Path) -> None:
        self.folder = model_folder / CHECKPOINT
        self.last, self.best = (self.folder / f"{name}.safetensors" for name in ("last", "best"))

    def exists(self) -> bool:
        """Return whether there is a checkpoint."""
        return self.last.is_file()

    def read(self) -> tuple[TrainingState, dict[str, Any]]:
        """Return the state of the training, and its settings as JSON gives them back."""
        try:
            with safe_open(self.last, "pt") as file:
                state = json.loads(file.metadata()["state"])
            return TrainingState(**state["standing"]), state["settings"]
        except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self.last} cannot be read ({error}): {_DAMAGED}") from error

    def write(
        self, model: nn.Module, optimizer: Optimizer, standing: TrainingState, settings: Mapping[str, Any]
    ) -> None:
        """Write the checkpoint of the epoch that has just ended; the one before stays until it is whole."""
        make_folder(self.folder)
        memory = {
            f"{part}/{name}": optimizer.state[weight][part]
            for name, weight in trained(model).items()
            for part in _MEMORY
            if part in optimizer.state.get(weight, {})
        }
        state = to_json({"standing": asdict(standing), "settings": settings})
        _save(self.last, {**_weights(model), **memory}, {"state": state})
        if standing.best_epoch == standing.epoch:
            _save(self.best, _weights(model))

    def load(self, model: nn.Module, optimizer: Optimizer, standing: TrainingState) -> None:
        """Give model and optimiser their state of the checkpoint."""
        tensors = self._into(model, self.last)
        memory = (
            {part: tensors[f"{part}/{name}"] for part in _MEMORY if f"{part}/{name}" in tensors}
            for name in trained(model)
        )
        state = {number: parts for number, parts in enumerate(memory) if parts}
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        if standing.best_epoch == standing.epoch:  # a crash may have left another epoch's
            _save(self.best, _weights(model))

    def load_best(self, model: nn.Module) -> None:
        """Give a model the weights of the best epoch."""
        self._into(model, self.best)

    def remove(self) -> None:
        """Remove the checkpoint; files that others put there stay."""
        for path in (self.last, self.best):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _into(self, model: nn.Module, path: Path) -> dict[str, Tensor]:
        """Give a model the weights of a file, and return all that it holds."""
        try:
            with safe_open(path, "pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
            model.load_state_dict(
                {name[len(_MODEL) :]: tensor for name, tensor in tensors.items() if name.startswith(_MODEL)}
            )
        except (OSError, SafetensorError) as error:
            raise InputError(f"{path} cannot be read ({error}): {_DAMAGED}") from error
        except RuntimeError as error:
            said = " ".join(str(error).split())[:200]
            raise InputError(
                f"{path} does not fit the model ({said}): train again, in another folder"
            ) from error
        return tensors


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {_MODEL + name: weight for name, weight in model.state_dict().items()}


def _save(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors of any device, none sharing memory with another, as the format wants them."""
    separate: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        address = plain.untyped_storage().data_ptr()
        separate[name] = plain.clone() if address in seen else plain
        seen.add(address)
    with atomic_file(path) as temporary:
        try:
            save_file(separate, temporary, metadata)
        except SafetensorError as error:
            raise OSError(str(error)) from error


def refuse(folder: Path, *, resume: bool, replace: bool) -> None:
    """Raise InputError where a training can neither begin nor go on in a folder, whatever its settings.

    That is where a training or model is neither to be continued nor replaced, where nothing is to be
    continued, or where a file to be replaced was not written by a training.
    """
    interrupted, model = Checkpoints(folder).exists(), (folder / CONFIG).is_file()
    if resume and replace:
        raise InputError("continue the training, or replace it: not both")
    if resume:
        if not interrupted:
            raise InputError(
                f"{folder} has no checkpoint to continue from (a training leaves one after each epoch): "
                "start without resume"
            )
        return
    foreign = [name for name in (CARD, WEIGHTS, NETWORK) if not model and (folder / name).exists()]
    try:
        if model and not json.loads((folder / CONFIG).read_bytes())["schema"].startswith("xlingual/model/"):
            foreign = [CONFIG]
    except (ValueError, KeyError, TypeError, AttributeError):
        foreign = [CONFIG]
    if foreign and not interrupted:
        raise InputError(
            f"{folder} has a {foreign[0]} that no training wrote and that would be replaced: choose another "
            "folder"
        )
    if (interrupted or model) and not replace:
        raise InputError(
            f"{folder} already has {'a model' if model else 'a training that was interrupted'}: continue it "
            "(--resume), train it anew with --force, or choose another --out"
        )


def check_settings(
    folder: Path, before: Mapping[str, Any], settings: Mapping[str, Any], state: TrainingState, epochs: int
) -> None:
    """Raise InputError where a training goes on with other settings, or with fewer epochs than it has."""
    if epochs < state.epoch:
        raise InputError(
            f"the training in {folder} already has {state.epoch} epochs, and {epochs} are asked for: give "
            f"epochs={state.epoch} to keep it as it is, or more"
        )
    ends = epochs == state.epoch  # it only ends
    different = [
        sentence
        for sentence in differences(before, {**dict.fromkeys(before), **settings})
        if not (ends and sentence.startswith("epochs was"))
    ]
    if different:
        raise InputError(
            f"cannot continue the training in {folder} with other settings: {listed(different, 4)}: give the "
            "same settings, train it anew with --force, or choose another --out"
        )
