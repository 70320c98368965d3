"""A trained Triplet, read from its folder when it is first needed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from xlingual.encoders.torch_runtime import choose_device, require, running
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder
from xlingual.models.triplet_config import TripletConfig

if TYPE_CHECKING:
    import torch

    from xlingual.records import Vectors


class TripletNetwork:
    """A trained network, loaded when it is first needed."""

    def __init__(self, folder: ModelFolder, device: str | None = None) -> None:
        self._folder, self._device = folder, device
        self.who = f"model:{folder.path}"
        self.digest = folder.digest
        self.identity = f"model:{folder.kind}:{folder.digest[:16]}"

    @cached_property
    def config(self) -> TripletConfig:
        """The dimensions and options of the network."""
        try:
            return TripletConfig.from_dict(self._folder.config["model"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{self.who}: its config.json does not describe such a model ({error}): copy the model anew"
            ) from None

    def represent(self, title: Vectors, body: Vectors) -> Vectors:
        """Return float32 [n, 2·out] for the base's vectors of titles and of bodies, float32 [n, base]."""
        module, device = self._module, self._running_on
        import torch

        with running(self.who), torch.inference_mode():
            there = [torch.tensor(part, device=device) for part in (title, body)]
            vectors: Vectors = module.represent(*there).cpu().numpy()
        return vectors

    @cached_property
    def _running_on(self) -> torch.device:
        return choose_device(self._device, self.who)

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401  (a Triplet)
        require(self.who, "torch", "torch")
        from xlingual.models.triplet import Triplet

        module = Triplet(self.config, seed=None)
        weights = self._folder.weights()
        if ModelFolder.read(self._folder.path).digest != self.digest:
            raise InputError(f"{self.who} changed while it was read: start again")
        try:
            module.load_state_dict(weights)
        except RuntimeError as error:
            said = " ".join(str(error).split())[:200]
            raise InputError(
                f"{self.who}: its weights do not fit its config.json ({said}): copy it anew"
            ) from None
        return module.to(self._running_on).eval()
