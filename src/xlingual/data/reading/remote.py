"""Files on the net (`hf://datasets/…`, `s3://…`), copied by fsspec to a folder of the user's caches."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from xlingual.data.reading.problems import first_line
from xlingual.errors import InputError, MissingExtraError
from xlingual.permission import refuse_file

_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/+(?P<rest>.+)", re.DOTALL)


def remote_address(path: str | Path) -> str | None:
    """Return the address that a path is, with the two slashes that `Path` takes from it; None for a path.

    >>> remote_address(Path("s3://shop/products.parquet"))
    's3://shop/products.parquet'
    """
    match = _ADDRESS.fullmatch(str(path))
    if match is None or os.path.exists(path):
        return None
    slashes = ":///" if match["scheme"] in ("file", "local") else "://"
    return f"{match['scheme']}{slashes}{match['rest'].lstrip('/')}"


def local_copy(url: str) -> Path:
    """Return a copy of the file at an address; of files that a `*` matches, the same pattern of copies.

    fsspec keeps the copies, and makes them again when the files change.
    """
    refuse_file(url)
    import platformdirs

    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(f"reading {url}", "remote") from error
    key = hashlib.sha256(url.encode()).hexdigest()[:32]  # files of one name do not share a folder
    folder = platformdirs.user_cache_path("xlingual", False, opinion=False) / "remote" / key
    options = {"cache_storage": str(folder), "check_files": True, "same_names": True}
    try:
        fsspec.open_local(f"filecache::{url}", filecache=options)
    except Exception as error:  # every file system has errors of its own
        raise InputError(
            f"{url} cannot be read ({first_line(error)}): name a file, or files with *; log in "
            "where they are private"
        ) from error
    return folder / url.rpartition("/")[2]
