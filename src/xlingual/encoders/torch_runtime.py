"""What all networks on torch share: packages, device, precision, and quiet loading."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from xlingual.encoders.batching import is_out_of_memory
from xlingual.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import torch


def require(who: str, extra: str, *packages: str) -> None:
    """Raise MissingExtraError where a package is not installed; none is imported."""
    for package in packages:
        there = sys.modules[package] is not None if package in sys.modules else find_spec(package)
        if not there:
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
    last = torch.cuda.device_count() if device.type == "cuda" else 1
    if not has.get(device.type, True) or (device.index or 0) >= last:
        usable = ", ".join(name for name, there in has.items() if there)
        raise InputError(f"{who}: device={wanted} is not on this machine, which has {usable}")
    return device


def torch_dtype(name: str) -> torch.dtype:
    """Return the type of number that an option names."""
    import torch

    dtype: torch.dtype = getattr(torch, name)
    return dtype


@contextmanager
def loading(who: str) -> Iterator[None]:
    """Hide progress bars and warnings of transformers inside, and say in one line what fails there."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        raise _explained(who, error) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _explained(who: str, error: Exception) -> Exception:
    text = " ".join(str(error).split())
    if is_out_of_memory(error):
        return InputError(f"{who}: the model does not fit into memory: choose dtype=float16 or device=cpu")
    if "sacremoses" in text:
        return MissingExtraError(f"the tokenizer of {who}", "mt")
    if "trust_remote_code" in text:
        return InputError(
            f"{who}: the model brings code of its own, which is never run: load it in a function of yours "
            "and write python:MODULE:FUNCTION"
        )
    return InputError(f"{who}: cannot be loaded ({type(error).__name__}: {text[:300]})")


def loading_info(info: Any) -> tuple[list[str], list[str]]:  # noqa: ANN401  (a dict or an object, by version)
    """Return the names of the weights that a checkpoint lacks, and of those that have another shape."""
    found = info if isinstance(info, dict) else vars(info)
    missing, mismatched = found.get("missing_keys", ()), found.get("mismatched_keys", ())
    return sorted(missing), sorted(str(entry) for entry in mismatched)
