"""The ten names that other programs most often give to options of ours."""

from __future__ import annotations

from collections.abc import Iterable

_ENCODER = ("--text-encoder", "--system", "--baseline")
# a name as other programs have it → options of ours, the first that a command has is meant
_OPTIONS = {
    "--model": _ENCODER,
    "--encoder": _ENCODER,
    "--output": ("--out",),
    "--output-dir": ("--out",),
    "-o": ("--out",),
    "--metric": ("--measure",),
    "--langs": ("--pairs", "--languages"),
    "--learning-rate": ("--rate",),
    "-j": ("--threads",),
    "-q": ("--quiet",),
}


def option_meant(name: str, options: Iterable[str]) -> str | None:
    """Return the option of a command that another program calls `name`, None where there is none.

    >>> option_meant("--output_dir", ["--out", "--seed"])
    '--out'
    """
    known = set(options)
    return next((one for one in _OPTIONS.get(name.lower().replace("_", "-"), ()) if one in known), None)
