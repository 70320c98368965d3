"""Tensors in safetensors files: flushed to the disk when written, one line when they cannot be read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors of any device and wait until they are on the disk; raise InputError where that fails."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(_own_memory(tensors), path)
        path.chmod(0o644)  # the package's own temporary file was the owner's alone
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    except (OSError, SafetensorError) as error:
        raise unwritable(path, error) from error


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read tensors onto the CPU; raise InputError where the file is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"{path} cannot be read ({error}): the checkpoint is damaged; train again, in another folder"
        ) from error
    return tensors


def unwritable(path: Path, error: Exception) -> InputError:
    """Return the error of a file of a checkpoint that cannot be written."""
    return InputError(f"cannot write {path} ({error}): is the disk full? The checkpoint before it is kept")


def _own_memory(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors on the CPU, none sharing memory with another, as the format wants them."""
    own: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        place = plain.untyped_storage().data_ptr()
        own[name] = plain.clone() if place in seen else plain
        seen.add(place)
    return own
