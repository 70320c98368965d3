"""What all models that were trained here share when they are read: identity, device, weights that fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xlingual.encoders.torch_runtime import choose_device, require
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder

if TYPE_CHECKING:
    import torch


class TrainedNetwork:
    """A trained network, loaded when it is first needed."""

    def __init__(self, folder: ModelFolder, device: str | None = None) -> None:
        self.folder, self._device = folder, device
        self.who = f"model:{folder.path}"
        self.space = folder.digest  # vectors of one model are comparable where it is equal
        self.identity = f"model:{folder.kind}:{folder.digest[:16]}"

    def configuration(self, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401
        """Return what `read` makes of the model's dimensions; InputError where it cannot."""
        try:
            return read(self.folder.config["model"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{self.who}: its config.json does not describe such a model ({error}): copy the model anew"
            ) from None

    @cached_property
    def device(self) -> torch.device:
        """Where it runs."""
        return choose_device(self._device, self.who)

    def loaded(self, make: Callable[[], Any]) -> Any:  # noqa: ANN401  (a module)
        """Return the module that `make` gives, with the model's weights, ready to encode."""
        require(self.who, "torch", "torch")
        module, weights = make(), self.folder.weights()
        self.check_unchanged()
        try:
            module.load_state_dict(weights)
        except RuntimeError as error:
            said = " ".join(str(error).split())[:200]
            raise InputError(
                f"{self.who}: its weights do not fit its config.json ({said}): copy it anew"
            ) from None
        return module.to(self.device).eval()

    def check_unchanged(self) -> None:
        """Raise InputError where files of the model are others than those its identity is of."""
        if ModelFolder.read(self.folder.path).digest != self.space:
            raise InputError(f"{self.who} changed while it was read: start again")
