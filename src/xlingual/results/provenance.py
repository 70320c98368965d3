"""From what a result was made: program, inputs, encoders, results it is derived from.

`noting` opens a list, and what reads files adds to it (`note_file` and the others): so every command has the
list without handing it through all functions. Outside of `noting` nothing is kept and nothing is computed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from xlingual.errors import InputError
from xlingual.hidden import shown
from xlingual.permission import refuse_file
from xlingual.results.values import Count, about
from xlingual.signature import CONVENTIONS

_BLOCK = 4096  # rows that are hashed at a time
Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Program(Struct, frozen=True):
    """The program that made a result."""

    version: Annotated[str, about("Version of xlingual.")]
    conventions: Annotated[str, about("Version of the conventions, as in signatures.")]


class Input(Struct, frozen=True):
    """A file that was read, or data in memory; only what is known."""

    role: Annotated[str, about("What it is: manifest, pool, vectors, model, run, qrels and so on.")]
    path: Annotated[
        str | UnsetType,
        about("The path as it was given, with ~ for the home folder; absent for data in memory."),
    ] = UNSET
    sha256: Annotated[Sha256 | UnsetType, about("SHA-256 of the file, in hex.")] = UNSET
    bytes: Annotated[Count | UnsetType, about("Size of the file.")] = UNSET
    digest: Annotated[
        str | UnsetType, about("Digest of the rows that were used, as the signatures have it.")
    ] = UNSET
    rows: Annotated[Count | UnsetType, about("How many rows that are: texts, pairs, images.")] = UNSET


class UsedEncoder(Struct, frozen=True):
    """An encoder that was named, or that a command takes by itself."""

    role: Annotated[str, about("What it encodes: texts or images.")]
    name: Annotated[str, about("Its name in the results.")]
    identity: Annotated[
        str | UnsetType, about("Everything its vectors depend on; absent where its files were not read.")
    ] = UNSET


class Origin(Struct, frozen=True):
    """A result that another was made from."""

    kind: Annotated[str, about("Its schema, such as xlingual/results/1.")]
    digest: Annotated[Sha256, about("Its result digest, in hex.")]
    path: Annotated[str | UnsetType, about("Where it was read; absent for a result in memory.")] = UNSET


class Provenance(Struct, frozen=True):
    """From what a result was made: equal for equal runs."""

    program: Annotated[Program, about("The program that made it.")]
    inputs: Annotated[list[Input], about("Files that were read, and data in memory.")] = []
    encoders: Annotated[list[UsedEncoder], about("Encoders that were used.")] = []
    derived_from: Annotated[list[Origin], about("Results that were read.")] = []


ProvenanceOf: TypeAlias = Annotated[
    Provenance, about("From what it was made: program, inputs, encoders, results it is derived from.")
]


@dataclass
class Notes:
    """What was read since `noting` began; digests that are given as functions are computed at the end."""

    files: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    data: dict[tuple[str, str, int], tuple[object, Callable[[], tuple[str, int | None]]]] = field(
        default_factory=dict
    )
    encoders: dict[tuple[str, str], Callable[[], str]] = field(default_factory=dict)
    results: dict[tuple[str, int], tuple[object, str, Callable[[], str]]] = field(default_factory=dict)
    vectors: dict[str, str] = field(default_factory=dict)  # "text encoder 'labse'" → digest of its vectors

    def provenance(self, own: Path | None = None) -> Provenance:
        """Return the record; what lies in the folder `own`, where the result is written, is no input."""
        encoders = [UsedEncoder(*who, _identity(of)) for who, of in sorted(self.encoders.items(), key=_first)]
        return Provenance(program(), self._inputs(own), encoders, self._origins(own))

    def _inputs(self, own: Path | None) -> list[Input]:
        found = {
            (role, path): Input(role, _shown(path), digest, size)
            for (role, path), (digest, size) in self.files.items()
            if not _inside(path, own)
        }
        loose = []
        for (role, path, _), (_, of) in self.data.items():
            digest, count = of()
            rows = UNSET if count is None else count
            file = found.get((role, path), Input(role, _shown(path) if path else UNSET))
            one = Input(role, file.path, file.sha256, file.bytes, digest, rows)
            if path and file.digest in (UNSET, digest):
                found[role, path] = one
            elif not any(other.digest == digest for other in found.values()):
                loose.append(one)
        return sorted({*found.values(), *loose}, key=_order)

    def _origins(self, own: Path | None) -> list[Origin]:
        found = {
            Origin(kind, of(), _shown(path) if path else UNSET)
            for (path, _), (_, kind, of) in self.results.items()
            if not _inside(path, own)
        }
        named = {one.digest for one in found if one.path}
        return sorted((one for one in found if one.path or one.digest not in named), key=_order)


_noting: ContextVar[tuple[Notes, ...]] = ContextVar("noting", default=())


@contextmanager
def noting(before: Notes | None = None) -> Iterator[Notes]:
    """Note what the block reads, also for blocks around it; `before` was noted for it already."""
    notes = before or Notes()
    token = _noting.set((*_noting.get(), notes))
    try:
        yield notes
    finally:
        _noting.reset(token)


@contextmanager
def apart() -> Iterator[None]:
    """Note what the block reads for nobody: files that stand for others, such as copies."""
    token = _noting.set(())
    try:
        yield
    finally:
        _noting.reset(token)


def vectors_noted() -> dict[str, str]:
    """Return a digest of the vectors of each encoder: another machine may make others with one model."""
    open_notes = _noting.get()
    return dict(sorted(open_notes[-1].vectors.items())) if open_notes else {}


def note_vectors(who: str, parts: Iterable[Any]) -> None:
    """Note the vectors of an encoder as they are evaluated, arrays [n, d]; a digest goes on with more."""
    if not _noting.get():
        return
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(f"{part.shape}{part.dtype}".encode())
        for start in range(0, len(part), _BLOCK):
            block = part[start : start + _BLOCK]
            hasher.update(block if block.flags.c_contiguous else block.tobytes())
    own = hasher.hexdigest()
    for notes in _noting.get():
        before = notes.vectors.get(who)
        notes.vectors[who] = own if before is None else hashlib.sha256(f"{before}{own}".encode()).hexdigest()


def noted(own: Path | None = None) -> Provenance:
    """Return from what a result was made that the present block of `noting` makes."""
    open_notes = _noting.get()
    return open_notes[-1].provenance(own) if open_notes else Provenance(program())


@lru_cache
def version(package: str) -> str:
    """Return the version of a package; its metadata, which may be long, are read once.

    Raises PackageNotFoundError where it is not installed.
    """
    return metadata.version(package)


def program() -> Program:
    """Return this program."""
    return Program(version("xlingual"), CONVENTIONS)


def note_file(role: str, path: str | Path, sha256: str | None = None) -> None:
    """Note a file that is read; its digest is computed once, unless it is known already.

    Pipes are no files: they can be read only once.
    """
    refuse_file(path)
    key = (role, str(path))
    waiting = [notes for notes in _noting.get() if key not in notes.files]
    if not waiting or not os.path.isfile(path):
        return
    known = (notes.files[key] for notes in _noting.get() if key in notes.files)
    found = next(known, None)
    if found is None:
        try:
            found = (sha256 or sha256_of(path), os.stat(path).st_size)
        except OSError as error:
            raise InputError(f"{path} changed while it was read ({error.strerror}): start again") from error
    for notes in waiting:
        notes.files[key] = found


def note_data(
    role: str, path: str | Path | None, of: object, digest: Callable[[], tuple[str, int | None]]
) -> None:
    """Note data that are used, `of`: `digest` returns their digest and how many rows they have."""
    file = (role, "" if path is None else str(path))
    known = next((notes.files[file] for notes in _noting.get() if file in notes.files), None)
    for notes in _noting.get():
        notes.data.setdefault((*file, id(of)), (of, digest))  # an id is of one object that is alive
        if known is not None:  # read before this block
            notes.files.setdefault(file, known)


def note_encoder(role: str, name: str, identity: Callable[[], str]) -> None:
    """Note an encoder of "texts" or "images"; its identity is asked for at the end."""
    for notes in _noting.get():
        notes.encoders[role, name] = identity


def note_result(kind: str, path: str | Path | None, of: object, digest: Callable[[], str]) -> None:
    """Note a result that is read, `of`; its digest is computed at the end."""
    for notes in _noting.get():
        notes.results.setdefault(("" if path is None else str(path), id(of)), (of, kind, digest))


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file, read in blocks."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _identity(of: Callable[[], str]) -> str | UnsetType:
    try:
        return of()
    except InputError:  # named and not used: its files may be missing
        return UNSET


def _shown(path: str) -> str:
    """Return a path without what is secret in an address, and without the name of the user."""
    home, text = str(Path.home()), shown(path) if "://" in path else path
    return f"~{text[len(home) :]}" if len(home) > 1 and text.startswith(f"{home}{os.sep}") else text


def _inside(path: str, folder: Path | None) -> bool:
    return folder is not None and bool(path) and Path(path).absolute().is_relative_to(folder.absolute())


def _first(item: tuple[tuple[str, str], object]) -> tuple[str, str]:
    return item[0]


def _order(one: Input | Origin) -> tuple[str, ...]:
    return tuple(
        "" if part is UNSET else str(part) for part in (getattr(one, name) for name in one.__struct_fields__)
    )
