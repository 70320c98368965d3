"""Loaded models of sentence-transformers as encoders: used as they are, and left as they were.

Their identity is a digest of weights, tokenizers and settings. A model that may compute anything else, by
code or hooks of a user, has none.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from types import FunctionType
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

# whose code is known by their versions; a module of any other package may compute anything
_LIBRARIES = ("torch", "transformers", "sentence_transformers", "tokenizers", "builtins")
_PREPARING = ("tokenizer", "processor", "image_processor", "feature_extractor")
# what changes no vector: names of folders, versions, numbers' types, addresses, and what every call sets anew
_PASSING = re.compile(r"_.*|transformers_version|(torch_)?dtype|truncation|padding")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Loaded(Encoder):
    """A loaded model, what its vectors depend on, and what the user says of it."""

    origin = "general"
    more = ""  # of an identity

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        self.model, self.options, self.who = model, options, type(model).__name__
        self.batches = Batches(32, self.who)

    @cached_property
    def identity(self) -> str:
        """A digest of weights, tokenizer and settings, the prompts, and the options that change vectors."""
        dim = self.options.get("dim") or getattr(self.model, "truncate_dim", None)
        options = (f"&dim={dim}" if dim else "") + self.more
        dtype = str(getattr(next(self.model.parameters(), None), "dtype", "torch.float32"))
        if dtype != "torch.float32":  # below it devices round differently
            options += f"&dtype={dtype.removeprefix('torch.')}&device={self.model.device.type}"
        if (stated := self.options.get("identity")) is not None:
            return f"named:{quote(stated, safe='/:@+,.=&?-_')}{options and '#' + options[1:]}"
        digest = model_digest(self.model)
        name = unnamed(self.model, self.label) if digest is None else f"st:weights-{digest}"
        return f"{name}{options and '?' + options[1:]}"

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether the weights and settings tell all, or the user does."""
        return self.options.get("identity") is not None or model_digest(self.model) is not None

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
        users = any(method and package_of(method) != "sentence_transformers" for method in methods)
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


def model_digest(model: Any) -> str | None:  # noqa: ANN401  (a torch module)
    """Hash weights, tokenizers and settings to 16 digits; None where they do not tell all that is computed.

    They do not where a module's code is a user's own, has hooks or other methods than its class, or is
    quantised, or where another engine than torch runs the network.
    """
    import torch

    if getattr(model, "get_backend", lambda: "torch")() != "torch":
        return None
    hasher = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout != torch.strided:
            return None
        flat = value.detach().cpu().contiguous().reshape(-1)
        hasher.update(f"{name} {value.dtype} {tuple(value.shape)}\0".encode())
        hasher.update(memoryview(flat.view(torch.uint8).numpy()) if flat.numel() else b"")
    for name, part in model.named_modules():
        kind, words = type(part), list[str]()
        hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]  # transformers' only note
        strange = any(package_of(hook) != "transformers" for hook in hooks)
        if strange or package_of(kind) not in _LIBRARIES or kind.__module__.startswith("torch.ao."):
            return None
        for attribute, value in sorted(vars(part).items()):
            if attribute in _PREPARING and value is not None:
                words.append(_preparation(value))
            elif callable(value) and attribute != "_gradient_checkpointing_func":
                if callable(getattr(kind, attribute, None)):  # in place of the method of the class
                    return None
                words.append(f"{attribute} {_ADDRESS.sub('', repr(value))}")
            else:
                continue
            if package_of(value if isinstance(value, FunctionType) else type(value)) not in _LIBRARIES:
                return None
        if hasattr(part, "get_config_dict"):
            words.append(_settings(part.get_config_dict()))
        if hasattr(getattr(part, "config", None), "to_dict"):
            words.append(_settings(part.config.to_dict()))
        hasher.update(
            "\0".join([name, kind.__module__, kind.__qualname__, *words]).encode("utf-8", "replace")
        )
    return hasher.hexdigest()[:16]


def _preparation(item: Any) -> str:  # noqa: ANN401
    """Write what a tokenizer or a processor does, with those inside it."""
    inner = getattr(item, "backend_tokenizer", None)
    words = json.dumps(item.get_vocab(), sort_keys=True) if hasattr(item, "get_vocab") else ""
    if inner is not None or hasattr(item, "to_dict"):
        words = _settings(item.to_dict() if inner is None else json.loads(inner.to_str()))
    below = [_preparation(vars(item)[name]) for name in _PREPARING if vars(item).get(name) is not None]
    ends = f"{getattr(item, 'model_max_length', None)} {getattr(item, 'padding_side', None)}"
    return " ".join([type(item).__qualname__, words, ends, *below])


def _settings(settings: Mapping[str, Any]) -> str:
    """Write settings without what changes no vector."""
    plain = {key: value for key, value in settings.items() if not _PASSING.fullmatch(str(key))}
    return _ADDRESS.sub("", json.dumps(plain, sort_keys=True, default=str))


def package_of(item: Any) -> str:  # noqa: ANN401
    """Name the package whose code a class or function is."""
    return str(getattr(item, "__module__", None) or "builtins").partition(".")[0]
