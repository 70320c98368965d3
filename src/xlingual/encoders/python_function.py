"""`python:MODULE:NAME` and `python:FILE.py:NAME`: a function, class or object of the user's own."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from functools import reduce
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any
from urllib.parse import quote

from xlingual.encoders.objects import Wrapped, failures
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Option, Scheme, not_empty
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import regular_file
from xlingual.records import digest
from xlingual.results.provenance import note_file

SCHEME = Scheme(
    "python",
    (TEXTS, IMAGES),
    "a function or class of your own, on the import path or in a file",
    __name__,
    argument="MODULE:FUNCTION",
    options=(
        Option("revision", not_empty, None, "version of your code: vectors are stored only if you give it"),
    ),
)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Wrapped:
    """Make the encoder of a spec.

    Its identity has a hash of its source. Its vectors are kept only with a `revision`: nobody but the user
    knows when a function gives other vectors, since it may read other files.
    """
    who, revision, target = f"python:{argument}", options["revision"], load_function(argument)
    if isinstance(target, type):
        with failures(who, f"making an object of {target.__name__}"):
            target = target()
    where, _, name = argument.rpartition(":")
    place = PurePath(where).name if is_file(where) else where
    parts = {
        "source": source_digest(where, target),
        "revision": revision,
        "own": getattr(target, "identity", None),
    }
    safe = {key: quote(str(value), safe="/:@+,.") for key, value in parts.items() if value}
    identity = f"python:{quote(place, safe='/:@+,.')}:{quote(name, safe='/:@+,.')}"
    if safe:
        identity += "?" + "&".join(f"{key}={value}" for key, value in safe.items())
    return Wrapped(target, context.kind, who=who, keep=revision is not None, whole_identity=identity)


def load_function(argument: str) -> Any:  # noqa: ANN401
    """Load the function, class or object that `MODULE:NAME` or `FILE.py:NAME` names; NAME may have dots.

    Raises InputError where there is no such module, file or name, and where running it fails: with the user's
    own file and line.
    """
    where, _, name = argument.rpartition(":")
    if not where or not name:
        raise InputError(
            f"python:{argument}: name a module or a file and a name in it: python:MODULE:FUNCTION or "
            "python:path/to/file.py:FUNCTION"
        )
    module = _module_of_file(where, argument) if is_file(where) else _module(where, argument)
    try:
        return reduce(getattr, name.split("."), module)
    except AttributeError:
        public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        hint = f"{did_you_mean(name, public)} (it has: {listed(public) or 'none'})"
        raise InputError(f"python:{argument}: no function or class {name!r} in {where}.{hint}") from None


def is_file(where: str) -> bool:
    """Tell whether the part before the last colon names a file, not a module."""
    return where.endswith(".py") or "/" in where or os.sep in where


def source_digest(where: str, target: object) -> str:
    """Hash the files that name and define a function or class, not what they import; "" without one."""
    modules = [sys.modules.get(name) for name in (where, getattr(target, "__module__", None)) if name]
    files = [where if is_file(where) else None, *(getattr(module, "__file__", None) for module in modules)]
    contents = dict.fromkeys(path.read_bytes() for path in map(Path, filter(None, files)) if path.is_file())
    return digest(*contents).hex()[:16] if contents else ""


def _module_of_file(where: str, argument: str) -> ModuleType:
    """Run a file once, with its folder at the end of the import path: it can import its neighbours."""
    path = Path(where)
    if path.is_dir() or not path.exists():
        near = did_you_mean(path.name, [other.name for other in path.parent.glob("*.py")])
        raise InputError(f"python:{argument}: no such file {where!r}.{near}")
    note_file("code", regular_file(path, "a file of functions (python:)"))
    content = hashlib.sha256(str(path.resolve()).encode() + b"\0" + path.read_bytes()).hexdigest()
    name = f"xlingual_user_{path.stem}_{content[:16]}"  # a changed file is another module
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"python:{argument}: {where!r} is no Python file: its name must end in .py")
    module = sys.modules[name] = module_from_spec(spec)  # as dataclasses and pickles look for it
    folder = str(path.resolve().parent)
    sys.path.append(folder)
    try:
        with failures(f"python:{argument}", f"running {where}"):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(folder)
    return module


def _module(where: str, argument: str) -> ModuleType:
    try:
        with failures(f"python:{argument}", f"importing {where}"):
            return import_module(where)
    except InputError as error:
        absent = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if absent is None or not f"{where}.".startswith(f"{absent}."):
            raise
        file = f"{where.replace('.', '/')}.py"
        raise InputError(
            f"python:{argument}: no module {where!r} on the import path: install it, add its folder to "
            f"PYTHONPATH, or give its file, as in python:{file}:{argument.rpartition(':')[2]}"
        ) from None
