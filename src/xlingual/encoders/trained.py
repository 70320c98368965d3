"""`model:DIR` and `model:DIR::SPEC`: encoders that were trained here, whatever their kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder, Stacked
from xlingual.encoders.options import DEVICE, Option, one_of, whole_number
from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.encoders.runtime import choose_device, require, running
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Scheme
from xlingual.errors import InputError, listed
from xlingual.models.folder import ModelFolder

SCHEME = Scheme(
    "model",
    (TEXTS, IMAGES),
    "a model that xlingual has trained; for images on top of the encoder that it was trained on",
    __name__,
    argument="DIR",
    options=(
        Option("batch", whole_number(1), 128, "texts at a time; changes no vector"),
        DEVICE,
        Option(
            "base",
            one_of("same", "trusted"),
            "same",
            "same: only the encoder below that it was trained on; trusted: any of its dimensions",
        ),
        Option(
            "hubs",
            one_of("corrected", "plain"),
            "corrected",
            "of a repaired encoder: whether its own correction of hubs ranks texts",
        ),
    ),
    extra="torch",
    over="may",
)

C = TypeVar("C")


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder for a spec; raise InputError where the folder is no model, or it has another base.

    The module `trained_KIND` is imported here; its `build(folder, options, context)` makes the encoder.
    """
    folder = ModelFolder.read(argument)
    module = import_module(f"xlingual.encoders.trained_{folder.kind.replace('-', '_')}")
    return cast(Encoder, module.build(folder, options, context))


class OnBase(Stacked):
    """A trained model that stands on the encoder that it was trained on."""

    def __init__(self, network: TrainedNetwork[Any], base: Encoder) -> None:
        super().__init__(base)
        self.network, self.space = network, network.space

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"{self.network.identity}::{self.base.identity}"

    def check_dim(self, given: Vectors, wanted: int | None, what: str = "vectors") -> None:
        """Raise InputError where the vectors of the encoder below do not have the dimensions wanted."""
        if given.shape[1] != wanted:
            raise InputError(
                f"{self.network.who} takes {what} of {wanted} dimensions, and the encoder below it gives "
                f"{given.shape[1]}: name the one that it was trained on"
            )


class TrainedNetwork(ABC, Generic[C]):
    """A trained network, loaded when it is first needed."""

    read: ClassVar[Any]  # makes its configuration of the model's dictionary

    def __init__(self, folder: ModelFolder, device: str | None = None) -> None:
        self.folder, self.device = folder, device
        self.who = f"model:{folder.path}"
        self.space = folder.digest  # vectors of one model are comparable where it is equal
        self.identity = f"model:{folder.kind}:{folder.digest[:16]}"

    @cached_property
    def config(self) -> C:
        """The dimensions and options of the network; InputError where its folder does not describe them."""
        try:
            config = self.read(self.folder.config["model"])
            for field in fields(config):
                if "int" in str(field.type).split(" | ") and isinstance(getattr(config, field.name), float):
                    raise TypeError(f"{field.name} is no whole number")
            return cast(C, config)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{self.who}: its config.json does not describe such a model ({error}): copy the model anew"
            ) from None

    @cached_property
    def module(self) -> Any:  # noqa: ANN401  (of torch)
        """The module with the model's weights, ready to encode."""
        require(self.who, "torch", "torch")
        import torch

        weights = self.folder.weights()
        try:
            with torch.device("meta"):  # so that no memory is asked for what the weights do not fill
                shapes = {name: value.shape for name, value in self.new_module().state_dict().items()}
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:  # by settings of other types
            raise self._misfit(str(error)) from None
        wrong = [
            name for name, shape in shapes.items() if name not in weights or weights[name].shape != shape
        ]
        if wrong := wrong + [name for name in weights if name not in shapes]:
            raise self._misfit(listed(wrong, 3))
        module = self.new_module()
        self.check_unchanged()
        module.load_state_dict(weights)
        return module.to(choose_device(self.device, self.who)).eval()

    def _misfit(self, what: str) -> InputError:
        message = " ".join(what.split())[:200]
        return InputError(f"{self.who}: its weights do not fit its config.json ({message}): copy it anew")

    @abstractmethod
    def new_module(self) -> Any:  # noqa: ANN401
        """Return the module, its weights not yet set."""

    def run(self, method: Callable[..., Any], *inputs: Any) -> Vectors:  # noqa: ANN401  (arrays, or lists)
        """Return what `method(module, *tensors)` gives for the inputs."""
        module = self.module
        import torch

        device = next(module.parameters()).device
        with running(self.who), torch.inference_mode():
            tensors = [torch.tensor(part, device=device) for part in inputs]
            return np.asarray(method(module, *tensors).float().cpu().numpy())

    def check_unchanged(self) -> None:
        """Raise InputError where files of the model are others than those its identity is of."""
        if ModelFolder.read(self.folder.path).digest != self.space:
            raise InputError(f"{self.who} changed while it was read: start again")


def check_base(folder: ModelFolder, base: Encoder | None, trusted: bool) -> Encoder:
    """Return the encoder below; raise InputError where it is absent or not the one that was trained on.

    `trusted`: any encoder will do. Dimensions are checked when there are vectors.
    """
    trained = folder.config["base"]
    if trained is None:
        raise InputError(f"model:{folder.path} was trained on texts alone: it stands on no other encoder")
    name = trained.get("name") or trained["identity"]
    if base is None:
        raise InputError(
            f"model:{folder.path} needs the encoder below it: write model:{folder.path}::SPEC; it was "
            f"trained on {name} ({trained['dim']} dimensions)"
        )
    if isinstance(base, OwnSimilarity):
        raise InputError(
            f"model:{folder.path}: the encoder below compares images and gives no vectors: the model was "
            f"trained on {name}"
        )
    if base.identity != trained["identity"] and not trusted:
        raise InputError(
            f"model:{folder.path} was trained on another encoder ({name}, {_short(trained['identity'])}) "
            f"than the one below it ({_short(base.identity)}): name that one; if both give vectors of one "
            f"model, write model:{folder.path}?base=trusted::SPEC"
        )
    return base


def _short(identity: str, most: int = 60) -> str:
    return identity if len(identity) <= most else f"{identity[: most - 1]}…"
