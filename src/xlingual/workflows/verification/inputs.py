"""What a result was made from, as it is now: files, other results, programs and libraries."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import UNSET

from xlingual.results.made import Made, made_in
from xlingual.results.provenance import Input, Origin
from xlingual.results.verification import CheckedInput


def inputs_of(made: Made) -> list[CheckedInput]:
    """Return what a result was made from, as it is now; paths count from the present folder."""
    if made.provenance is None:
        note = "written before inputs were kept"
        return [CheckedInput("inputs", "all", "not looked at", note)]
    read = any(one.role == "manifest" and one.path is not UNSET for one in made.provenance.inputs)
    return [
        *(_checked_input(one, of_file=read) for one in made.provenance.inputs),
        *map(_checked_origin, made.provenance.derived_from),
    ]


def _checked_input(one: Input, *, of_file: bool) -> CheckedInput:
    """Return an input as it is now; `of_file`: images without a path are those of a manifest in a file."""
    if one.path is UNSET and one.role == "images" and of_file:
        note = "they are compared by the numbers"
        return CheckedInput(one.role, "images of the manifest", "not looked at", note)
    if one.path is UNSET:
        return CheckedInput(one.role, "data in memory", "missing", "it was in memory, not in a file")
    path = Path(one.path).expanduser()
    if one.sha256 is UNSET:
        return CheckedInput(one.role, one.path, "not looked at", "its rows are compared by the numbers")
    if not path.is_file():
        return CheckedInput(one.role, one.path, "missing", f"not in {Path.cwd()}")
    if one.bytes is not UNSET and path.stat().st_size != one.bytes:
        return CheckedInput(
            one.role, one.path, "changed", f"{path.stat().st_size:,} bytes, {one.bytes:,} then"
        )
    with path.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == one.sha256
    return CheckedInput(one.role, one.path, "same" if same else "changed")


def _checked_origin(one: Origin) -> CheckedInput:
    if one.path is UNSET:
        return CheckedInput("results", "results in memory", "missing", "they were in memory, not in a file")
    path = Path(one.path).expanduser()
    if not path.exists():
        return CheckedInput("results", one.path, "missing", f"not in {Path.cwd()}")
    (now,) = made_in(path)
    return CheckedInput("results", one.path, "same" if now.digest == one.digest else "changed", now.no_digest)


def other_versions(made: Made) -> list[str]:
    """Return programs and libraries that are others now than those that made the result."""
    libraries = made.run.get("libraries")
    then = {"xlingual": made.run.get("xlingual"), **(libraries if isinstance(libraries, dict) else {})}
    found = []
    for name, old in then.items():
        try:
            now = version(name)
        except PackageNotFoundError:
            now = "not installed"
        if old and now != old:
            found.append(f"{name} {now}, {old} then")
    return found
