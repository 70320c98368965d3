"""Folders that parts and shards are kept in: local ones, and those that fsspec reaches by a URL."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from xlingual.errors import InputError, MissingExtraError
from xlingual.files import replacing

FolderLike: TypeAlias = "str | os.PathLike[str]"
_OLD = 14 * 24 * 3600  # seconds after which what nobody asked for is removed
_OWN = re.compile(r"\.?[0-9a-f]{32}(-\d+-\d+(to\d+)?)?\.(npz|npy|json)(\.\w+)?")  # digests; begun files, too


class Folder(Protocol):
    """Files by name; a file is there whole or not at all."""

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise FileNotFoundError where there is none, else OSError."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file; raise OSError where that fails."""

    def names(self) -> set[str]:
        """Return the names of the files."""

    def remove(self, name: str) -> None:
        """Remove a file, where it is there."""

    def tidy(self) -> None:
        """Remove the folder where nothing is in it."""

    def local(self, name: str) -> Path | None:
        """Return the path of a file that this machine can map into memory; None where it cannot."""


class LocalFolder:
    """A folder of this machine's file system, or of one that it shares with others."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a file under a temporary name first."""
        for last in (False, True):  # another program may tidy the folder up before anything is in it
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                with replacing(self.path / name) as temporary:
                    temporary.write_bytes(content)
            except FileNotFoundError:
                if last:
                    raise
            else:
                return

    def names(self) -> set[str]:
        """Return the names of the files."""
        try:
            return {entry.name for entry in os.scandir(self.path)}
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def remove(self, name: str) -> None:
        """Remove a file, where it is there."""
        (self.path / name).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove the folder where nothing is in it."""
        with suppress(OSError):  # something is, or it is not there
            self.path.rmdir()

    def local(self, name: str) -> Path | None:
        """Return the path of a file."""
        return self.path / name

    def __str__(self) -> str:
        return str(self.path)


class RemoteFolder:
    """A folder that fsspec reaches, such as s3://bucket/folder; writing a file there is one operation."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._files, self._root = _file_system(url)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        content: bytes = self._files.cat_file(f"{self._root}/{name}")
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file."""
        with suppress(FileExistsError, NotImplementedError):
            self._files.makedirs(self._root, exist_ok=True)
        self._files.pipe_file(f"{self._root}/{name}", content)

    def names(self) -> set[str]:
        """Return the names of the files."""
        self._files.invalidate_cache(self._root)
        try:
            return {str(path).rpartition("/")[2] for path in self._files.ls(self._root, detail=False)}
        except FileNotFoundError:
            return set()

    def remove(self, name: str) -> None:
        """Remove a file, where it is there."""
        with suppress(FileNotFoundError):
            self._files.rm_file(f"{self._root}/{name}")

    def tidy(self) -> None:
        """Do nothing: such folders are there as long as something is in them."""

    def local(self, name: str) -> Path | None:
        """Return None: files are read as a whole."""
        return None

    def __str__(self) -> str:
        return self.url


def open_folder(where: FolderLike, *within: str) -> Folder:
    """Return the folder that a path or a URL names, or one within it."""
    text = os.fspath(where)
    if "://" in text and not text.startswith("file://"):
        return RemoteFolder("/".join([text.rstrip("/"), *within]))
    return LocalFolder(Path(text.removeprefix("file://"), *within))


def remove_old(folder: Folder) -> None:
    """Remove parts and vectors that nobody came back for from a local folder; other files stay."""
    if not isinstance(folder, LocalFolder):
        return
    for name in filter(_OWN.fullmatch, folder.names()):
        path = folder.path / name
        try:
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink()
        except OSError:  # another program's, or gone
            continue


def _file_system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError(f"the folder {url}", "ray") from error
    try:
        files, root = url_to_fs(url)
    except (ImportError, ValueError) as error:  # the words say which package a protocol needs
        raise InputError(f"the folder {url} cannot be reached: {error}") from error
    return files, str(root).rstrip("/")
