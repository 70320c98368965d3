"""The device that ranks: the options, and the devices of this machine."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.errors import InputError, MissingExtraError
from xlingual.extras import pip_line

if TYPE_CHECKING:
    from xlingual.ranking.torch.arithmetic import Device

_DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")  # Nvidia, the same under WSL, AMD
_NO_CUDA = "take --backend cpu, or a machine with a CUDA device"


def cuda_at_hand() -> bool:
    """Return whether there is a CUDA device; torch is imported only where a driver is."""
    if not _driver_at_hand() or find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def why_no_cuda() -> str:
    """Return why there is no CUDA device at hand, in words."""
    if not _driver_at_hand():
        return "no CUDA device was found"
    if find_spec("torch") is None:
        return f"a GPU seems to be here, but no torch ({pip_line('torch')})"
    import torch

    return f"a GPU seems to be here, but the torch installed ({torch.__version__}) finds no CUDA device"


def _driver_at_hand() -> bool:
    windows = (
        sys.platform == "win32" and Path(os.environ.get("SYSTEMROOT", ""), "System32/nvcuda.dll").exists()
    )
    return windows or any(Path(driver).exists() for driver in _DRIVERS)


def ranking_device(name: str | None) -> Device:
    """Return the device of a name: cpu, cuda, cuda:1; None or auto: cuda where there is one, else cpu.

    Raises:
        MissingExtraError: torch is not installed.
        InputError: there is no such device, or ranks on it could not be certified.

    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError("ranking with torch", "torch") from None
    if name is None or name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"device {name!r} is not known: write cpu, cuda or cuda:1") from None
    if device.type == "mps":
        raise InputError(
            "device 'mps' cannot rank: it has no float64, and no bound is known for the errors of its"
            " products; take --backend cpu"
        )
    if device.type not in {"cpu", "cuda"}:
        raise InputError(f"device {name!r} cannot rank: no bound is known for its products; take cpu or cuda")
    return torch.device("cpu") if device.type == "cpu" else _present(device)


def _present(device: Device) -> Device:
    """Return a CUDA device with its number, once it is sure that there is one."""
    import torch

    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        raise InputError(
            f"device {str(device)!r} needs a torch with CUDA, and the one installed ({torch.__version__}) has"
            " none: install another (pytorch.org/get-started), or take --backend cpu"
        )
    if not torch.cuda.is_available():
        raise InputError(
            f"device {str(device)!r} is not there: no CUDA device was found (is its driver loaded, does"
            f" CUDA_VISIBLE_DEVICES hide it?); {_NO_CUDA}"
        )
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise InputError(f"device {str(device)!r} is not there: the last one is cuda:{last}")
    return torch.device("cuda", index)


def refuse_precision(device: Device, precision: str) -> None:
    """Raise InputError where a device has no products of a precision."""
    if device.type != "cuda" or precision != "bf16":
        return
    import torch

    if torch.version.cuda is not None and torch.cuda.get_device_capability(device)[0] < 8:
        raise InputError(f"{described(device)} has no products of bf16: take --precision fp16, its default")


def described(device: Device) -> str:
    """Return a device's name, with its model where it has one."""
    if device.type != "cuda":
        return str(device)
    import torch

    return f"{device} ({torch.cuda.get_device_name(device)})"


def free_bytes(device: Device) -> int | None:
    """Return the free memory of a device, None where that is not known."""
    if device.type != "cuda":
        return None
    import torch

    return int(torch.cuda.mem_get_info(device)[0])


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory did not suffice."""
    import torch

    known = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)  # torch 2.5 and later
    words = ("can't allocate memory", "not enough memory", "out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
    return isinstance(error, known | MemoryError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


def forget_cache(device: Device) -> None:
    """Give unused memory of the device back."""
    if device.type == "cuda":
        import torch

        torch.cuda.empty_cache()


def less_exact(device: Device) -> InputError:
    """Return the error for a device that breaks the bound which ranks rely on."""
    return InputError(
        f"{device} multiplies less exactly than its precision promises: a known score was off by more than"
        " the proven bound; rank with --precision fp32, or with --backend cpu"
    )
