"""Loaded models of sentence-transformers as encoders: used as they are, and left as they were.

Nobody but the user knows what a loaded model computes, so that it has an identity only where it is stated
(`xlingual.encoder(model, identity="…")`); `st:FOLDER` has that of its files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import DENSE, trained_on_images
from xlingual.encoders.network import (
    METHODS,
    ROUTES,
    TextNetwork,
    kind_of_model,
    prompts_of,
    similarity_of,
)
from xlingual.encoders.network_images import ImageNetwork
from xlingual.encoders.objects import is_a, unnamed
from xlingual.encoders.runtime import Batches
from xlingual.encoders.scheme import IMAGES, Prompts
from xlingual.errors import InputError
from xlingual.records import Encoded


class Loaded(Encoder):
    """A loaded model, what its vectors depend on, and what the user says of it."""

    origin = "general"
    more = ""  # of an identity

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        self.model, self.options, self.who = model, options, type(model).__name__
        self.has_own_identity, self.batches = "identity" in options, Batches(32, self.who)

    @property
    def identity(self) -> str:
        """The stated one, else the class and what results call it; with the options that change vectors."""
        dim = self.options.get("dim") or getattr(self.model, "truncate_dim", None)
        options = (f"&dim={dim}" if dim else "") + self.more
        stated = self.options.get("identity")
        name = f"named:{quote(stated, safe='/:@+,.=&?-_')}" if stated else unnamed(self.model, self.label)
        return f"{name}{options and '#' + options[1:]}"

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model compares dense vectors."""
        return similarity_of(self.model) if kind_of_model(self.model) == DENSE else None

    def encode_noting(self, batch: Any, /) -> Encoded:  # noqa: ANN401
        """Encode with the dimensions that are asked for; the model is left as it was, perhaps in training."""
        training, dim = self.model.training, getattr(self.model, "truncate_dim", None)
        if (asked := self.options.get("dim")) is not None:
            self.model.truncate_dim = asked
        try:
            return super().encode_noting(batch)
        finally:
            if asked is not None:
                self.model.truncate_dim = dim
            self.model.train(training)


class LoadedTexts(Loaded, TextNetwork):
    """A loaded model of texts: dense, sparse, or with a vector for each token."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        super().__init__(model, options)
        self.kind, named = kind_of_model(model), dict(model.prompts or {})
        self.prompts = Prompts.of(options, prompts_of(named, getattr(model, "default_prompt_name", None)))
        self.check_model(model, options.get("dim"))
        self.more = str(self.prompts)
        if self.kind != DENSE:
            self.more += f"&similarity={model.similarity_fn_name}"
        parts = list(model.modules())
        configs = [part.config for part in parts if hasattr(getattr(part, "config", None), "to_dict")]
        self.trained_on_images = any(trained_on_images(config.to_dict()) for config in configs)
        routes = {type(part).__name__ for part in parts} & {"Router", "Asym"}
        methods = [getattr(model, name, None) for name in METHODS.values()]
        library = "sentence_transformers"
        users = any(method and not str(method.__module__).startswith(library) for method in methods)
        by_task = any(getattr(model[0], name, None) is not None for name in ROUTES)
        self.has_routes = users or bool(routes) or by_task


class LoadedImages(Loaded, ImageNetwork):
    """A loaded CLIP-style model, for images."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        if texts := [name for name in options if "prompt" in name]:
            raise InputError(f"encoder: {texts[0]} is for texts, and this one encodes images: leave it out")
        super().__init__(model, options)
        self.check_images(model)


def adapter_of(entry: Any, kind: str = "texts", **options: Any) -> Encoder:  # noqa: ANN401
    """Make the encoder of texts or images that a loaded model stands for; `options` of `xlingual.encoder`."""
    if kind != IMAGES:
        return LoadedTexts(entry, options)
    if not is_a(entry, "sentence_transformers", DENSE):
        raise InputError(f"a {type(entry).__name__} encodes texts: give it as a text encoder")
    return LoadedImages(entry, options)
