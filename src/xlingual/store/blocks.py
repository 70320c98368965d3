"""Finished blocks of long passes, one file each, until the command that needs them has ended well."""

from __future__ import annotations

import time
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from xlingual.errors import warn, why
from xlingual.files import replacing

SUFFIX = ".block.npz"
_OLD = 14 * 24 * 3600  # seconds after which a block is removed
# what numpy raises for files that nobody wrote in this form
_DAMAGE = (AttributeError, EOFError, KeyError, MemoryError, OSError, RuntimeError, ValueError)


class FolderBlocks:
    """Keeps arrays by name in a local folder, as `.npz` with checksums and without pickles.

    A damaged file counts as none, with a warning. Where the folder cannot be written, one warning says so.
    Blocks that are two weeks old are removed.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._used: set[Path] = set()
        self._is_writable = True
        self._remove_old()

    def read(self, name: str) -> dict[str, np.ndarray] | None:
        """Read the arrays of a block; None where there are none, or damaged ones."""
        path = self._path(name)
        try:
            with np.load(path, allow_pickle=False) as file:  # compares the archive's checksums
                return {key: file[key] for key in file.files}
        except FileNotFoundError:
            return None
        except (*_DAMAGE, zipfile.BadZipFile, zlib.error):
            warn(f"the finished block {path} is damaged, and computed again")
            return None

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep the arrays of a block; the file is there whole or not at all."""
        if not self._is_writable:
            return
        path = self._path(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(path, durable=False) as temporary, temporary.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
        except OSError as error:
            self._is_writable = False
            warn(
                f"finished blocks cannot be kept in {self.folder} ({why(error)}): an interrupted run would "
                "begin again; choose another folder with --store DIR"
            )

    def forget(self) -> None:
        """Remove the blocks that were read or written, and the folder where it is empty."""
        with suppress(OSError):  # another program's file is in the folder, or it is not there
            for path in self._used:
                path.unlink(missing_ok=True)
            self._used.clear()
            self.folder.rmdir()

    def _path(self, name: str) -> Path:
        path = self.folder / (name + SUFFIX)
        self._used.add(path)
        return path

    def _remove_old(self) -> None:
        for path in self.folder.glob(f"*{SUFFIX}*"):  # files that were begun, too
            with suppress(OSError):  # another program's, or gone
                if time.time() - path.stat().st_mtime > _OLD:
                    path.unlink()
