"""Shared by all networks on torch: packages, device, precision, and quiet loading."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from logging import Handler
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xlingual.encoders.batching import is_out_of_memory
from xlingual.errors import InputError, MissingExtraError, XlingualError, listed

if TYPE_CHECKING:
    import torch


def require(who: str, extra: str, *packages: str) -> None:
    """Raise MissingExtraError where a package is not installed; none is imported."""
    for package in packages:
        if not (sys.modules[package] if package in sys.modules else find_spec(package)):
            raise MissingExtraError(who, extra)


def choose_device(wanted: str | None, who: str) -> torch.device:
    """Return the device that is wanted; without a wish cuda, else mps, else cpu."""
    import torch

    has = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted is None:
        return torch.device(next(name for name, there in has.items() if there))
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise InputError(f"{who}: device={wanted} is none: write cpu, cuda, cuda:1 or mps") from None
    count = torch.cuda.device_count() if device.type == "cuda" else 1
    if not has.get(device.type, True) or (device.index or 0) >= count:
        usable = ", ".join(name for name, there in has.items() if there)
        raise InputError(f"{who}: device={wanted} is not on this machine, which has {usable}")
    return device


def device_part(wanted: str | None, dtype: str, who: str) -> str:
    """Return what an identity says of the device: nothing in float32, else its type, such as `&device=cuda`.

    Below float32 devices round so differently that their vectors must not be mixed.
    """
    return "" if dtype == "float32" else f"&device={choose_device(wanted, who).type}"


def torch_dtype(name: str) -> torch.dtype:
    """Return the type of number that an option names."""
    return cast("torch.dtype", getattr(import_module("torch"), name))


@contextmanager
def loading(who: str) -> Iterator[list[str]]:
    """Keep the progress bars and warnings of transformers off the screen inside; give the warnings as a list.

    What fails inside is reported in one line.
    """
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    messages: list[str] = []
    handler = Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.set_verbosity_warning()
    logging.disable_default_handler()
    logging.add_handler(handler)
    logging.disable_progress_bar()
    try:
        yield messages
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        raise _explained(who, error) from error
    finally:
        logging.set_verbosity(level)
        logging.remove_handler(handler)
        logging.enable_default_handler()
        if bars:
            logging.enable_progress_bar()


@contextmanager
def running(who: str) -> Iterator[None]:
    """Report in one line what fails while a network runs; memory that runs out is for `in_batches`."""
    try:
        yield
    except (XlingualError, Warning):
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        text = " ".join(str(error).split())[:300]
        raise InputError(
            f"{who}: the model fails while it encodes ({type(error).__name__}: {text}): do its files belong "
            "together? Fetch it again, or try device=cpu"
        ) from error


def randomly_initialized(messages: Sequence[str]) -> list[str]:
    """Return the names of the weights that a checkpoint lacks, as transformers warned; not its pooler's."""
    text = "\n".join(messages)
    names = re.findall(r"^([\w.]+)\s*\|\s*(?:MISSING|MISMATCH)", text, flags=re.MULTILINE)  # since 5.0
    for part in re.findall(r"newly initialized[^\[]*\[(.*?)\]", text, flags=re.DOTALL):
        names += re.findall(r"'([\w.]+)'", part)
    return [name for name in names if "pooler." not in name]


def refuse_random(who: str, names: Sequence[str], kind: str) -> None:
    """Raise InputError where there are names of weights that the checkpoint lacks."""
    if names:
        raise InputError(
            f"{who}: {len(names)} weights are not in the checkpoint or have another shape: they would be "
            f"random ({listed(names, 2)}): is it a model of the type {kind}?"
        )


def _explained(who: str, error: Exception) -> Exception:
    text = " ".join(str(error).split())
    if is_out_of_memory(error):
        return InputError(f"{who}: the model does not fit into memory: choose dtype=float16 or device=cpu")
    if "sacremoses" in text:
        return MissingExtraError(f"the tokenizer of {who}", "mt")
    if "trust_remote_code" in text:
        return InputError(
            f"{who}: the model comes with Python code, which is not run unless the spec pins it: read it, "
            "then write remote-code=COMMIT (of a folder: any word, and the error names the digest of its "
            "code); or load it in a function of yours, python:MODULE:FUNCTION"
        )
    return InputError(f"{who}: cannot be loaded ({type(error).__name__}: {text[:300]})")


def pretrained(kind: Any, folder: Path, dtype: str, **more: Any) -> tuple[Any, list[str], list[str]]:  # noqa: ANN401
    """Return a network of transformers from a folder: never a pickle, nothing from a hub.

    And the names of the weights that its checkpoint lacks, and of those that have another shape there.
    """
    given = {"use_safetensors": True, "local_files_only": True, "output_loading_info": True}
    model, info = kind.from_pretrained(folder, dtype=torch_dtype(dtype), **given, **more)
    found = info if isinstance(info, dict) else vars(info)  # by version
    return model, sorted(found.get("missing_keys", ())), sorted(map(str, found.get("mismatched_keys", ())))
