"""Files on the net (`hf://datasets/…`, `s3://…`), copied by fsspec to a folder of the user's caches."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from xlingual.data.reading.problems import first_line
from xlingual.errors import InputError, MissingExtraError, listed
from xlingual.permission import refuse_file

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/+(?P<rest>.+)", re.DOTALL)
_OF_DATASETS = ("dataset_dict.json", "state.json", "dataset_info.json")  # of `save_to_disk`


def remote_address(path: str | Path) -> str | None:
    """Return the address that a path is, with the two slashes that `Path` takes from it; None for a path.

    >>> remote_address(Path("s3://shop/products.parquet"))
    's3://shop/products.parquet'
    """
    match = _ADDRESS.fullmatch(str(path))
    if match is None or os.path.exists(path):
        return None
    slashes = ":///" if match["scheme"] == "local" else "://"
    return f"{match['scheme']}{slashes}{match['rest'].lstrip('/')}"


def without_scheme(path: Path) -> Path:
    """Return the path that an address `file:///…` is; any other stays as it is."""
    match = _ADDRESS.fullmatch(str(path))
    return Path("/" + match["rest"]) if match and match["scheme"].lower() == "file" else path


@contextmanager
def fetched(url: str, names: Sequence[str], endings: Sequence[str]) -> Iterator[Path]:
    """Give the path of a copy of a file, or of a folder with the files in it that may belong to a manifest.

    These have one of the names or endings. A copy is made once for each version of the file. Raises
    InputError where nothing is there, and names the address in errors about the copy.
    """
    refuse_file(url)
    system, place = _opened(url)
    try:
        files = _files(system, place, names, endings)
    except Exception as error:  # every file system has errors of its own
        raise InputError(f"{url} cannot be read ({_said(error)}): correct the address, or log in") from error
    if not files:
        raise InputError(
            f"{url}: no such file or folder, or it holds no manifest: correct the address, or log in "
            "where it is private"
        )
    copy = _copied(url, system, place, files)
    try:
        yield copy
    except InputError as error:
        raise InputError(str(error).replace(str(copy), url)) from error


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of an address, and the place in it."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(f"reading {url}", "remote") from error
    try:
        system, place = fsspec.core.url_to_fs(url)
    except ImportError as error:  # it names the package of the scheme
        raise InputError(
            f"reading {url} needs another package ({_said(error)}): install it with pip"
        ) from error
    except Exception as error:
        raise InputError(f"{url} cannot be opened ({_said(error)}): correct the address") from error
    return system, place


def _files(system: Any, place: str, names: Sequence[str], endings: Sequence[str]) -> list[str]:  # noqa: ANN401
    """Return the files that an address means: itself, those its star matches, or those of a folder."""
    if "*" in place:
        return sorted(system.glob(place))
    try:
        kind = system.info(place)["type"]  # isfile and isdir pass over what went wrong
    except FileNotFoundError:
        return []
    if kind == "file":
        return [place]
    found = [str(path) for path in system.find(place, maxdepth=2)]
    base = place.rstrip("/")
    kept = []
    for path in sorted(found):
        inside = path[path.find(base.lstrip("/")) + len(base.lstrip("/")) :].strip("/")
        head, name = os.path.split(inside)
        saved = name in _OF_DATASETS
        table = name in names or any(fnmatch(name, f"*{ending}") for ending in endings)
        if saved or table:
            kept.append((head, path))
    nested = any(os.path.basename(path) == _OF_DATASETS[0] for _, path in kept)
    return [path for head, path in kept if nested or not head]


def _copied(url: str, system: Any, place: str, files: Sequence[str]) -> Path:  # noqa: ANN401
    """Return the path of the copy of an address; what is there already is not copied again."""
    import platformdirs

    try:
        versions = [str(system.ukey(path)) for path in files]
    except Exception:  # a file system without versions
        versions = []
    key = hashlib.sha256("\n".join([url, *files, *versions]).encode()).hexdigest()[:32]
    folder = platformdirs.user_cache_path("xlingual", False, opinion=False) / "remote" / key
    single = len(files) == 1 and files[0] == place
    base = os.path.dirname(place.split("*")[0]) if "*" in place or single else place
    for path in files:
        tail = (
            path[path.find(base.strip("/")) + len(base.strip("/")) :].strip("/") if base.strip("/") else path
        )
        target = folder / tail.strip("/")
        if ".." in Path(tail).parts:
            raise InputError(f"{url} holds a file {tail!r}, which would lie outside the copy: rename it")
        if versions and target.is_file():
            continue
        part = target.with_name(f"{target.name}.part-{os.getpid()}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            system.get_file(path, str(part))
            os.replace(part, target)
        except Exception as error:
            part.unlink(missing_ok=True)
            raise InputError(f"{url} cannot be copied to {folder} ({_said(error)}): try again") from error
    if "*" in place:
        return folder / place[len(base) :].strip("/")
    return folder / Path(files[0]).name if single else folder


def _said(error: Exception) -> str:
    return first_line(error) or listed([type(error).__name__])
