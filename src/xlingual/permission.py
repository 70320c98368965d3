"""What a record that somebody else wrote may make the program do: the files and encoders that it may use.

A folder of results is data. Where its record is computed again (`xlingual verify`) or followed to its data
(`xlingual inspect`), this is done within `limited`: whoever opens a file or builds an encoder asks here. It
holds for the whole process, since threads open files too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xlingual.errors import InputError

# they run no code but the program's, and send nothing
SAFE_SCHEMES = frozenset(
    {
        *("vectors", "run", "random", "chargram", "wordgram", "bm25", "lsa", "wordvec", "pixels", "concat"),
        *("centre", "standardize", "whiten", "all-but-the-top", "lir", "lsar", "pca", "delta"),
        *("procrustes", "ridge", "cca", "truncate", "quantize", "use", "e5"),
    }
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # of the net, with the slashes that `Path` leaves
_NEVER = re.compile(r"base_url|key_env")  # options of specs


class NotAllowedError(InputError):
    """A record asks for what the caller has not allowed."""


@dataclass(frozen=True)
class Permission:
    """Schemes that may be used, and folders below which files may be read; None: anywhere on this machine."""

    schemes: frozenset[str] = SAFE_SCHEMES
    folders: tuple[Path, ...] | None = None

    def allows_file(self, path: str | Path) -> bool:
        """Return whether a file may be read: links count as what they point to."""
        if _ADDRESS.match(str(path)):
            return False
        real = Path(path).resolve()
        return self.folders is None or any(real.is_relative_to(folder) for folder in self.folders)

    def allows_scheme(self, scheme: str, options: Iterable[str] = ()) -> bool:
        """Return whether a spec's scheme may be used; options that name addresses or secrets never may."""
        return scheme in self.schemes and not any(map(_NEVER.fullmatch, options))


_limits: list[Permission] = []


@contextmanager
def limited(permission: Permission) -> Iterator[None]:
    """Let the block use only what is allowed, by this permission and those of blocks around it."""
    _limits.append(permission)
    try:
        yield
    finally:
        _limits.pop()


def refuse_file(path: str | Path) -> None:
    """Raise NotAllowedError where a file must not be read."""
    if not all(limit.allows_file(path) for limit in _limits):
        raise NotAllowedError(
            f"{path} is not below the folders from which a record may read: allow its folder, or name the "
            "file yourself"
        )


def refuse_scheme(scheme: str, options: Iterable[str]) -> None:
    """Raise NotAllowedError where an encoder must not be used."""
    if not all(limit.allows_scheme(scheme, options) for limit in _limits):
        raise NotAllowedError(
            f"the record asks for an encoder {scheme}: which may run code or send texts, so it is not used "
            "unasked: allow its scheme, or name the encoder yourself"
        )
