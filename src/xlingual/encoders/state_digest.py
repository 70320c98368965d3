"""The digest of a model in memory: its weights, its tokenizer and its settings, in a fixed order."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from functools import partial
from types import MethodType
from typing import Any, cast

# whose code is known by their versions; a module of any other package may compute anything
_KNOWN = ("torch", "transformers", "sentence_transformers")
# what prepares texts and images, by the names that modules have it under
_PREPARING = ("tokenizer", "processor", "image_processor", "feature_extractor")
_IN_TRAINING = ("_gradient_checkpointing_func",)  # changes no vector
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PASSING = (
    "transformers_version",
    "torch_dtype",
    "dtype",
)  # settings that change no vector; the state has types


class Digested:
    """An encoder whose identity is a digest of an object in memory, found once."""

    def has_changed(self) -> bool:
        """Return whether the digest is another one by now."""
        kind: Any = type(self)
        return bool(kind.identity.func(self) != cast("Any", self).identity)


def model_digest(model: Any) -> str:  # noqa: ANN401  (a torch module)
    """Return 16 digits that change with every weight, the tokenizers, and the settings of modules."""
    hasher = hashlib.sha256()
    for part in _parts(model):
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(raw).to_bytes(8, "little"))
        hasher.update(raw)
    return hasher.hexdigest()[:16]


def is_plain(model: Any) -> bool:  # noqa: ANN401
    """Return whether all that the model computes is in its weights and settings.

    It is not where a module's code is a user's own, has hooks or methods of its own object, or is quantised,
    or where another engine than torch runs the network.
    """
    if getattr(model, "get_backend", lambda: "torch")() != "torch":
        return False
    return all(map(_is_known, model.modules())) and all(map(_is_plain_state, model.state_dict().values()))


def _is_known(part: Any) -> bool:  # noqa: ANN401  (a torch module)
    """Return whether a module computes what its class does, and the class is one of the libraries'."""
    kind = type(part)
    if kind.__module__.partition(".")[0] not in _KNOWN or kind.__module__.startswith("torch.ao."):
        return False
    hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]
    if not all(str(getattr(hook, "__module__", "")).startswith("transformers.") for hook in hooks):
        return False  # those of transformers only note what passes
    return all(
        _named(value, part) is not None and (name in _PREPARING or not callable(getattr(kind, name, None)))
        for name, value in _functions(part)
    )


def _is_plain_state(value: Any) -> bool:  # noqa: ANN401
    """Return whether a value of the state can be read: a tensor of plain numbers, or a simple value."""
    import torch

    if type(value) in (torch.Tensor, torch.nn.Parameter):
        return value.layout == torch.strided and not value.is_quantized
    return isinstance(value, str | int | float | bool | None)


def _functions(part: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the functions, classes and preparing objects among the attributes of a module, by name."""
    for name, value in sorted(vars(part).items()):
        if name not in _IN_TRAINING and value is not None and (callable(value) or name in _PREPARING):
            yield name, value


def _named(value: Any, part: Any) -> str | None:  # noqa: ANN401
    """Return what a function or the class of an object is called, None where it may compute anything."""
    if isinstance(value, partial):
        name, given = _named(value.func, part), (value.args, value.keywords)
        simple = all(
            isinstance(one, str | int | float | bool | None)
            for one in (*value.args, *value.keywords.values())
        )
        return f"{name}{given!r}" if name is not None and simple else None
    if isinstance(value, MethodType) and value.__self__ is not part:
        return None
    named = value if isinstance(getattr(value, "__qualname__", None), str) else type(value)
    module, name = named.__module__ or "builtins", named.__qualname__
    known = module.partition(".")[0] in (*_KNOWN, "tokenizers", "builtins")
    return f"{module}.{name}" if known and "<" not in name else None


def _parts(model: Any) -> Iterator[str | bytes | memoryview]:  # noqa: ANN401
    import torch

    for name, value in sorted(model.state_dict().items()):
        if not isinstance(value, torch.Tensor):  # further state of a module, a simple value
            yield f"{name} {value!r}"
            continue
        flat = value.detach().cpu().contiguous().reshape(-1)
        yield f"{name} {value.dtype} {tuple(value.shape)}"
        yield memoryview(cast(Any, flat.view(torch.uint8).numpy())) if flat.numel() else b""
    for name, part in model.named_modules():
        yield f"{name} {type(part).__module__}.{type(part).__qualname__}"
        if callable(getattr(part, "get_config_dict", None)):
            yield _settings(part.get_config_dict())
        if callable(getattr(getattr(part, "config", None), "to_dict", None)):
            yield _settings(part.config.to_dict())
        for attribute, value in _functions(part):
            yield f"{attribute} {_named(value, part)}"
    yield from _tokenizers(model)
    yield from _processors(model)


def _tokenizers(model: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield what each tokenizer of a module does, as text."""
    seen: set[int] = set()
    for part in (model, *model.modules()):
        tokenizer = getattr(part, "tokenizer", None)
        if tokenizer is None or id(tokenizer) in seen:
            continue
        seen.add(id(tokenizer))
        inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
        if callable(getattr(inner, "to_str", None)):
            settings = json.loads(inner.to_str())
            # set anew by every call
            yield _settings({key: settings[key] for key in settings if key not in ("truncation", "padding")})
        elif callable(getattr(tokenizer, "get_vocab", None)):
            yield f"{type(tokenizer).__qualname__} {_settings(tokenizer.get_vocab())}"
        yield f"{getattr(tokenizer, 'model_max_length', None)} {getattr(tokenizer, 'padding_side', None)}"


def _processors(model: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield what the processors of the modules do with images, as text."""
    found: list[Any] = [getattr(part, name, None) for part in model.modules() for name in _PREPARING[1:]]
    found += [getattr(one, name, None) for one in found for name in _PREPARING[2:]]
    for one in {id(one): one for one in found}.values():
        if callable(getattr(one, "to_dict", None)):
            yield f"{type(one).__qualname__} {_settings(one.to_dict())}"


def _settings(settings: Any) -> str:  # noqa: ANN401  (a dict of simple values)
    """Return settings as text, without names of folders and versions of libraries."""
    plain = {
        key: value for key, value in settings.items() if not str(key).startswith("_") and key not in _PASSING
    }
    return _ADDRESS.sub("", json.dumps(plain, sort_keys=True, default=str))
