"""What a step reads, as digests: contents decide whether it is computed again, never dates."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from glob import glob, has_magic
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from xlingual.data.manifest import Manifest
from xlingual.data.pools.folder import pool_files
from xlingual.errors import InputError
from xlingual.models.folder import file_digest
from xlingual.requests import Request, leaves, values
from xlingual.requests.shared import ManifestOptions
from xlingual.results import Results
from xlingual.results.digest import digest_of

_PARTS = re.compile(r"::|[?&=#:]")
_PLACE = re.compile(r"\{\w+\}")
_FOUND = ("results", "candidate", "baseline")  # settings that name results
_SPECS = ("runs", "sample", "similarity", *_FOUND)  # … and further ones that name files within a text


def inputs(request: Request, images: dict[str, str] | None = None) -> dict[str, str]:
    """Return a digest for each file and folder that a request reads, by its path.

    Counted are what its settings name, files within specs (`fit=FILE#SPLIT`, `{lang}` and `*` stand for all
    that fit), the commit of a model that was downloaded, and the images that a manifest names. `images` keeps
    what was read of manifests from one request to the next.
    """
    asked, found = values(request), dict[str, str]()
    for name, leaf in leaves(type(request)).items():
        if leaf.marks.run:
            continue
        given = asked[name]
        for one in given if isinstance(given, tuple | list) else (given,):
            if isinstance(one, Path):
                found |= _of_path(one)
            elif isinstance(one, str) and (leaf.spec or name in _SPECS):
                for path in _within(one):
                    found |= _of_path(path)
                found |= _of_model(one)
    options = getattr(request, "data", None)
    if isinstance(options, ManifestOptions):
        found |= _of_images(options, {} if images is None else images)
    return dict(sorted(found.items()))


def _of_path(path: Path) -> dict[str, str]:
    """Return the digest of a file or folder; nothing where there is none, which the step itself will say."""
    if path.is_file():
        return {str(path): file_digest(path)}
    if not path.is_dir():
        return {}
    if (path / "results.json").is_file():
        with suppress(InputError):  # what is not whole, the step itself will refuse
            return {str(path): digest_of(Results.read(path))}
    files = pool_files(path) or sorted(file for file in path.rglob("*") if file.is_file())
    lines = (f"{file.relative_to(path).as_posix()}\0{file_digest(file)}\n" for file in files)
    return {str(path): hashlib.sha256("".join(lines).encode()).hexdigest()}


def _within(text: str) -> Iterator[Path]:
    """Yield the files and folders that a spec names: it whole, or what stands between its signs."""
    ends = [0, *(one.end() for one in _PARTS.finditer(text))]
    stops = [*(one.start() for one in _PARTS.finditer(text)), len(text)]
    candidates = {unquote(text[start:stop]) for start in ends for stop in stops if stop > start}
    for candidate in sorted(candidates):
        pattern = _PLACE.sub("*", candidate)
        with suppress(OSError, ValueError):  # too long for a name, or a zero byte in it
            if has_magic(pattern) and pattern.strip("*"):
                yield from map(Path, sorted(glob(pattern)))
            elif candidate.strip("./") and Path(candidate).exists():
                yield Path(candidate)


def _of_model(spec: str) -> dict[str, str]:
    """Return the commit of a downloaded model, or the code of a module, that a spec names."""
    found: dict[str, str] = {}
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"))
    for scheme, name in re.findall(r"(?:^|[:=])(st|hf|python):([^?:]+)", spec):
        if scheme == "python":
            with suppress(ImportError, ValueError):
                place = find_spec(name)
                if place is not None and place.origin is not None and Path(place.origin).is_file():
                    found[f"python:{name}"] = file_digest(Path(place.origin))
            continue
        for owner in (name, f"sentence-transformers/{name}"):
            commit = hub / f"models--{owner.replace('/', '--')}" / "refs" / "main"
            if commit.is_file():
                found[f"{scheme}:{name}"] = commit.read_text(encoding="utf-8").strip()
                break
    return found


def _of_images(options: ManifestOptions, known: dict[str, str]) -> dict[str, str]:
    """Return one digest of all image files that a manifest names; nothing where it names none."""
    given = {name: getattr(options, name) for name in options.__struct_fields__ if name != "manifest"}
    key = json.dumps([str(options.manifest), given], sort_keys=True)
    if key not in known:
        try:
            manifest = Manifest.read(options.manifest, **given)
        except InputError:  # the step itself says what is wrong
            return {}
        known[key] = _image_files(manifest)
    return {f"images of {options.manifest}": known[key]} if known[key] else {}


def _image_files(manifest: Any) -> str:  # noqa: ANN401  (a Manifest)
    files: dict[str, Path] = {}
    for one in manifest.image_source:
        if isinstance(one, bytes):  # in the manifest itself, whose digest holds them
            return ""
        if one is not None and Path(one).is_file():
            files[str(one)] = Path(one)
    if not files:
        return ""
    return hashlib.sha256("".join(file_digest(path) for path in files.values()).encode()).hexdigest()


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the names whose digests differ, or that only one of the two has."""
    return [name for name in dict.fromkeys([*new, *old]) if old.get(name) != new.get(name)]
