"""Finding a function or class that a user names: `module:function`, or `path/to/file.py:function`."""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from xlingual.errors import InputError, XlingualError, did_you_mean, listed
from xlingual.files import regular_file
from xlingual.records import digest
from xlingual.results.provenance import note_file


def load_function(argument: str) -> object:
    """Return the object that `MODULE:NAME` or `FILE.py:NAME` names: a function, a class or any other.

    NAME may have dots (`Class.method`). A file is run once, with its folder at the end of the import path
    while it runs, so that it can import its neighbours. Raises InputError where there is no such module, file
    or name, and where running it fails: with the user's own file and line.
    """
    where, _, name = argument.rpartition(":")
    if not where or not name:
        raise InputError(
            f"python:{argument}: name a module or a file and a name in it: python:MODULE:FUNCTION or "
            "python:path/to/file.py:FUNCTION"
        )
    module = _file(where, argument) if is_file(where) else _module(where, argument)
    try:
        return reduce(getattr, name.split("."), module)
    except AttributeError:
        public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        hint = f"{did_you_mean(name, public)} ({f'it has: {listed(public)}' if public else 'it has none'})"
        raise InputError(f"python:{argument}: no function or class {name!r} in {where}.{hint}") from None


def is_file(where: str) -> bool:
    """Return whether the part before the last colon names a file, not a module."""
    return where.endswith(".py") or "/" in where or os.sep in where


def source_digest(argument: str, found: object) -> str:
    """Return 16 hexadecimal digits of the files that name and define a function or class.

    Those are the file or module of the argument, and the one in which `found` was written; not what they
    import. "" where there is no file (of a module in C, say).
    """
    where = argument.rpartition(":")[0]
    modules = [sys.modules.get(name) for name in (where, getattr(found, "__module__", None)) if name]
    files = [where if is_file(where) else None, *(getattr(module, "__file__", None) for module in modules)]
    contents = dict.fromkeys(path.read_bytes() for path in map(Path, filter(None, files)) if path.is_file())
    return digest(*contents).hex()[:16] if contents else ""


@contextmanager
def failures(who: str, doing: str) -> Iterator[None]:
    """Turn what a user's code raises into one InputError that names the error and the user's line.

    The program's own errors, and running out of memory, pass as they are.
    """
    try:
        yield
    except (XlingualError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{who}: {doing} failed{_place(error)}: {_words(error)}") from error


def _file(where: str, argument: str) -> ModuleType:
    path = Path(where)
    if path.is_dir() or not path.exists():
        near = did_you_mean(path.name, [beside.name for beside in path.parent.glob("*.py")])
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
    file = Path(f"{where.replace('.', '/')}.py")
    if file.is_file():
        raise InputError(
            f"python:{argument}: no module {where!r} on the import path; for the file write python:{file}:"
            f"{argument.rpartition(':')[2]}"
        )
    raise InputError(
        f"python:{argument}: no module {where!r} on the import path.{did_you_mean(absent, _modules(absent))} "
        "Install it, add its folder to PYTHONPATH, or give its file: python:path/to/file.py:FUNCTION"
    )


def _modules(absent: str) -> list[str]:
    """Return the modules that could have been meant by one that is not there."""
    from pkgutil import iter_modules

    parent, dot, _ = absent.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", ()) if dot else None  # None: of the whole import path
    return [f"{parent}{dot}{found.name}" for found in iter_modules(path)]


def _place(error: BaseException) -> str:
    """Return " at FILE:LINE": the deepest line outside installed packages, else the deepest of all."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" at {_short(error.filename)}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", _HERE)) and "importlib" not in Path(frame.filename).parts
    ]
    own = [frame for frame in frames if _INSTALLED.isdisjoint(Path(frame.filename).parts)]
    last = (own or frames)[-1:]
    return f" at {_short(last[0].filename)}:{last[0].lineno}" if last else ""


_HERE = str(Path(__file__).parent)
_INSTALLED = {"site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}"}


def _short(path: str) -> str:
    """Return the path from the current folder on where it lies in it."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except ValueError:
        return path


def _words(error: BaseException) -> str:
    message = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    line = message if len(message) <= 300 else f"{message[:299]}…"
    return f"{type(error).__name__}: {line}".removesuffix(": ")
