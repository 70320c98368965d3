"""What a training ran on, for the model's folder."""

from __future__ import annotations

import platform
from importlib.metadata import version


def environment(device: str) -> dict[str, str]:
    """Return versions of packages and of Python, the platform, and the device."""
    packages = {name: version(name) for name in ("xlingual", "torch", "numpy")}
    return {
        **packages,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": device,
    }
