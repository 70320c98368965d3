"""Adam: made from the options, and turned into tensors with names and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from xlingual.training.options import FitOptions

if TYPE_CHECKING:
    from torch import Tensor, nn

_PARTS = ("exp_avg", "exp_avg_sq", "step")


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that are trained, by name, each once."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def make_optimizer(model: nn.Module, options: FitOptions) -> torch.optim.Optimizer:
    """Return the optimiser of the options over what is trained of a model."""
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options.optimizer]
    weights = list(trained(model).values())
    fused = all(weight.device.type in {"cpu", "cuda"} for weight in weights)  # one pass over the memory
    return kind(weights, lr=options.rate, weight_decay=options.weight_decay, fused=fused or None)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all weights."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's memory as `PART/WEIGHT`; weights that had no gradient yet have none."""
    return {
        f"{part}/{name}": optimizer.state[weight][part]
        for name, weight in trained(model).items()
        for part in _PARTS
        if part in optimizer.state.get(weight, {})
    }


def load_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimiser the memory that `optimizer_tensors` returned."""
    state = {}
    for number, name in enumerate(trained(model)):
        kept = {part: tensors[f"{part}/{name}"] for part in _PARTS if f"{part}/{name}" in tensors}
        if kept:
            state[number] = kept
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
