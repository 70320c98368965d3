"""The digest of a model in memory: its weights, its tokenizer and its settings, in a fixed order."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import partial
from types import MethodType
from typing import Any

# whose code is known by their versions; a module of any other package may compute anything
_KNOWN = ("torch", "transformers", "sentence_transformers", "tokenizers", "builtins")
_PREPARING = ("tokenizer", "processor", "image_processor", "feature_extractor")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PASSING = ("transformers_version", "torch_dtype", "dtype")  # settings that change no vector


def model_digest(model: Any) -> str | None:  # noqa: ANN401  (a torch module)
    """Hash weights, tokenizers and settings to 16 digits; None where they do not tell all that is computed.

    They do not where a module's code is a user's own, has hooks or methods of its own object, or is
    quantised, or where another engine than torch runs the network.
    """
    import torch

    if getattr(model, "get_backend", lambda: "torch")() != "torch":
        return None
    hasher = hashlib.sha256()

    def add(part: str | bytes | memoryview) -> None:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(raw).to_bytes(8, "little"))
        hasher.update(raw)

    for name, value in sorted(model.state_dict().items()):
        if not isinstance(value, torch.Tensor):
            if not isinstance(value, str | int | float | bool | None):
                return None
            add(f"{name} {value!r}")
            continue
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout != torch.strided:
            return None
        flat = value.detach().cpu().contiguous().reshape(-1)
        add(f"{name} {value.dtype} {tuple(value.shape)}")
        add(memoryview(flat.view(torch.uint8).numpy()) if flat.numel() else b"")
    for name, part in model.named_modules():
        lines = _module_lines(name, part)
        if lines is None:
            return None
        for line in lines:
            add(line)
    return hasher.hexdigest()[:16]


def _module_lines(name: str, part: Any) -> list[str] | None:  # noqa: ANN401
    """Write what a module does, apart from its weights; None where it may do anything."""
    kind = type(part)
    hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]  # transformers' only note
    if package_of(kind) not in _KNOWN[:3] or kind.__module__.startswith("torch.ao."):
        return None
    if not all(package_of(hook) == "transformers" for hook in hooks):
        return None
    lines = [f"{name} {kind.__module__}.{kind.__qualname__}"]
    if callable(getattr(part, "get_config_dict", None)):
        lines.append(_settings(part.get_config_dict()))
    if callable(getattr(getattr(part, "config", None), "to_dict", None)):
        lines.append(_settings(part.config.to_dict()))
    for attribute, value in sorted(vars(part).items()):
        preparing = attribute in _PREPARING
        if value is None or attribute == "_gradient_checkpointing_func" or not (callable(value) or preparing):
            continue
        called = _function_name(value, part)
        if called is None or (not preparing and callable(getattr(kind, attribute, None))):
            return None
        lines.append(f"{attribute} {called}")
        if preparing:
            lines += _preparation(value)
    return lines


def _function_name(value: Any, part: Any) -> str | None:  # noqa: ANN401
    """Write what a function, or the class of an object, is called; None where it may compute anything."""
    if isinstance(value, partial):
        name, bound = _function_name(value.func, part), [*value.args, *value.keywords.values()]
        simple = all(isinstance(item, str | int | float | bool | None) for item in bound)
        return f"{name}{value.args!r}{value.keywords!r}" if name is not None and simple else None
    if isinstance(value, MethodType) and value.__self__ is not part:
        return None
    named = value if isinstance(getattr(value, "__qualname__", None), str) else type(value)
    return (
        f"{named.__module__}.{named.__qualname__}"
        if package_of(named) in _KNOWN and "<" not in named.__qualname__
        else None
    )


def _preparation(item: Any) -> list[str]:  # noqa: ANN401
    """Write what a tokenizer or a processor does, with those inside it."""
    lines: list[str] = []
    inner = getattr(item, "backend_tokenizer", item)
    if callable(getattr(inner, "to_str", None)):
        settings = json.loads(inner.to_str())  # truncation and padding are set anew by every call
        lines.append(
            _settings({key: settings[key] for key in settings if key not in ("truncation", "padding")})
        )
    elif callable(getattr(item, "get_vocab", None)):
        lines.append(_settings(item.get_vocab()))
    elif callable(getattr(item, "to_dict", None)):
        lines.append(_settings(item.to_dict()))
    lines.append(f"{getattr(item, 'model_max_length', None)} {getattr(item, 'padding_side', None)}")
    below = [getattr(item, name, None) for name in _PREPARING if name in vars(item)]
    return lines + [line for part in below if part is not None for line in _preparation(part)]


def _settings(settings: Mapping[str, Any]) -> str:
    """Write settings without names of folders, versions of libraries and addresses."""
    plain = {
        key: value for key, value in settings.items() if not str(key).startswith("_") and key not in _PASSING
    }
    return _ADDRESS.sub("", json.dumps(plain, sort_keys=True, default=str))


def package_of(item: Any) -> str:  # noqa: ANN401
    """Name the package whose code a class or function is."""
    return str(getattr(item, "__module__", None) or "builtins").partition(".")[0]
