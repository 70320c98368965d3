"""How a result was made: its request, what it was made from, and the conditions of the run."""

from __future__ import annotations

import inspect
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial, wraps
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec

from xlingual.hidden import shown
from xlingual.requests.record import Leaf, Record, Request, leaves, values
from xlingual.requests.values import plain
from xlingual.results.digest import digest_of
from xlingual.results.document import Document
from xlingual.results.evaluation import SCHEMA, Results
from xlingual.results.provenance import note_data, note_result, noted, noting, vectors_noted, version

_ROLES = {  # what data in memory are, by their class
    "Manifest": "manifest",
    "MultilingualPool": "pool",
    "SearchRun": "run",
    "SentencePairs": "sentence pairs",
}
P = ParamSpec("P")
F = TypeVar("F")

# packages whose versions may change a number in its last digits, if they were loaded
_LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "torch", "transformers", "sentence-transformers", "onnxruntime"),
    *("ray", "sacrebleu", "nltk"),
)


def signed(found: F, request: Request, *, run: bool = True) -> F:
    """Return a result with its request, what it was made from, and the conditions of the run.

    Without `run` equal requests give equal files, to the byte.
    """
    return sign(found, type(request), values(request), run=run)


def answers(kind: type[Request]) -> Callable[[Callable[P, F]], Callable[P, F]]:
    """Make a function sign its result with its arguments, as a request of a kind names them."""

    def of(function: Callable[P, F]) -> Callable[P, F]:
        wanted = inspect.signature(function)

        @wraps(function)
        def answered(*given: P.args, **more: P.kwargs) -> F:
            bound = wanted.bind(*map(plain, given), **{name: plain(value) for name, value in more.items()})
            with noting():
                for value in bound.arguments.values():
                    note_argument(value)
                found = function(*bound.args, **bound.kwargs)
                bound.apply_defaults()
                columns = getattr(bound.arguments.get("manifest"), "columns", {})  # as it was read
                return sign(found, kind, {**columns, **bound.arguments})

        return answered

    return of


def request_part(kind: type[Request], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that change a number, for JSON; secrets and empty values are left out."""
    return {"command": kind.command, **_kept(kind, given, run=False)}


def run_part(kind: type[Request], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conditions of the run, which change no number: date, versions, threads, back end."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "xlingual": version("xlingual"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": dict(_loaded()),
        **_kept(kind, given, run=True),
    }


def sign(found: F, kind: type[Request], given: Mapping[str, Any], *, run: bool = True) -> F:
    """Return a result with the values of its request, by the names of the request's fields."""
    parts: dict[str, Any] = {"request": request_part(kind, given)}
    parts["provenance"] = noted(given.get("out") if kind.own_folder else None)
    vectors = {"vectors": of_each} if (of_each := vectors_noted()) else {}
    parts |= {"run": run_part(kind, given) | vectors} if run else {}
    if isinstance(found, msgspec.Struct):
        return msgspec.structs.replace(found, **parts)
    for name, part in parts.items():
        setattr(found, name, part)
    return found


def _kept(kind: type[Record], given: Mapping[str, Any], *, run: bool) -> dict[str, Any]:
    named = {
        name: _named(given[name], leaf)
        for name, leaf in leaves(kind).items()
        if name in given and leaf.marks.run == run and not leaf.marks.secret
    }
    return {name: value for name, value in named.items() if value is not None and value != []}


def _named(value: Any, leaf: Leaf) -> Any:  # noqa: ANN401
    """Return a value as JSON holds it; an object as its identity, a spec without secrets."""
    match value:
        case None | bool() | int() | float():
            return value
        case str() | Path():
            return shown(value) if leaf.spec else str(value)
        case Mapping():
            return {str(name): _named(part, leaf) for name, part in value.items()}
        case list() | tuple():
            return [_named(part, leaf) for part in value]
    names = (getattr(value, name, None) for name in ("identity", "digest", "name"))
    return next((name for name in names if isinstance(name, str)), type(value).__name__)


def note_argument(value: Any) -> None:  # noqa: ANN401
    """Note an argument that holds data or results in memory."""
    several = value.values() if isinstance(value, Mapping) else value
    for one in several if isinstance(value, list | tuple | Mapping) else (value,):
        if isinstance(one, Results | Document):
            schema = SCHEMA if isinstance(one, Results) else one.schema()
            note_result(schema, None, one, partial(digest_of, one))
        elif (role := _ROLES.get(type(one).__name__)) is not None:
            note_data(role, getattr(one, "path", None), one, partial(_used, one))


def _used(data: Any) -> tuple[str, int | None]:  # noqa: ANN401  (a manifest, a pool and so on)
    """Return the digest of data, and how many rows they have."""
    return data.digest, len(data) if hasattr(data, "__len__") else None


def _loaded() -> list[tuple[str, str]]:
    found = []
    for name in _LIBRARIES:
        module = {"scikit-learn": "sklearn"}.get(name, name.replace("-", "_"))
        if module in sys.modules:
            with suppress(PackageNotFoundError):  # installed under another name
                found.append((name, version(name)))
    return found
