"""The store: one folder, a collection in it for each encoder identity."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from xlingual.errors import InputError
from xlingual.records import digest
from xlingual.store.collection import IDENTITY, Collection
from xlingual.store.disk import write_file

HALF = "float16"  # a file of this name marks a store of half precision
VARIABLE = "XLINGUAL_STORE"


class Store:
    """A folder of vectors, made when the first are added.

    `half`: vectors are kept as float16; a folder is one or the other for good, None takes it as it is.
    """

    def __init__(self, root: str | os.PathLike[str], *, half: bool | None = None) -> None:
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InputError(f"the store {self.root} is a file: name a folder")
        marked = (self.root / HALF).is_file()
        if half is not None and half != marked and self.folders():
            found, other = ("half", "without --half") if marked else ("full", "with --half")
            raise InputError(
                f"the store {self.root} keeps vectors in {found} precision: for vectors {other} choose "
                "another folder with --store DIR"
            )
        self.half = marked if half is None else half
        self._open: dict[str, Collection] = {}

    @classmethod
    def default(cls) -> Store:
        """Return the user's own store: the folder XLINGUAL_STORE, else one in the user's cache."""
        return cls(default_folder())

    def collection(self, identity: str) -> Collection:
        """Return the vectors of an encoder."""
        if identity not in self._open:
            name = digest(identity, *([HALF] if self.half else [])).hex()
            if self.half and not (self.root / HALF).is_file():
                with suppress(OSError):
                    self.root.mkdir(parents=True, exist_ok=True)
                    write_file(self.root / HALF, b"")
            self._open[identity] = Collection(self.root / name, identity, half=self.half)
        return self._open[identity]

    def folders(self) -> list[Path]:
        """Return the folders of all collections."""
        return sorted(path.parent for path in self.root.glob(f"*/{IDENTITY}"))

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r}{', half=True' if self.half else ''})"


StoreLike: TypeAlias = "Store | str | os.PathLike[str] | None"


def open_store(store: StoreLike) -> Store | None:
    """Return the store that a folder names, "default" the user's own; None stays None."""
    if store is None or isinstance(store, Store):
        return store
    return Store.default() if store == "default" else Store(store)


def default_folder() -> Path:
    """Return the folder XLINGUAL_STORE, else `xlingual/vectors` in the system's place for a user's caches."""
    import platformdirs

    folder = os.environ.get(VARIABLE)
    # without the opinion that Windows has a folder "Cache" within that of each program
    return (
        Path(folder) if folder else platformdirs.user_cache_path("xlingual", False, opinion=False) / "vectors"
    )
