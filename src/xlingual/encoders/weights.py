"""Which files make a model, and a digest of them that changes when one of them does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Generic, TypeVar

from xlingual.errors import InputError
from xlingual.models.files import file_digest
from xlingual.records import digest

T = TypeVar("T")

SENTENCE_TRANSFORMER = ("modules.json", "sentence_*_config.json", "router_config.json")
# what no loader reads: words about the model, images, pickles and weights of other frameworks, states and
# logs of training; any other file may change vectors (generation_config.json, bpe.codes, adapters, …)
UNREAD = (
    *("readme*", "license*", "licence*", "notice*", "*.md", ".*", "*.log", "*.lock"),
    *("*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.webp"),
    *("*.bin", "*.bin.index.json", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.ot"),
    *("optimizer*", "training_args*", "trainer_state*", "scheduler*", "rng_state*", "events.out.tfevents*"),
)
_DEPTH = 4  # folders of modules in folders of modules


def checkpoint_digest(folder: str | Path, files: Iterable[Path] | None = None) -> str:
    """Return 64 hexadecimal digits: SHA-256 over the names (relative to the folder) and bytes of the files.

    `files` are those of `model_files(folder)` unless given. Where the folder lies and when it was written do
    not count. Raises InputError where there is no folder or no file of a model in it.
    """
    root = Path(folder)
    chosen = model_files(root) if files is None else sorted(files)
    lines = (f"{path.relative_to(root).as_posix()}\0{file_digest(path)}\n" for path in chosen)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def model_files(folder: str | Path, *, modules: bool = True) -> list[Path]:
    """Return the files in the folder that make a model, sorted: all that are not known to be `UNREAD`.

    With `modules` those of sentence-transformers count too: its settings, and all files in the folders of
    its modules (pooling, dense layers, routes, …). Folders that no module is in never count.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{root}: no such folder of a model")
    unread = UNREAD if modules else (*UNREAD, *SENTENCE_TRANSFORMER)
    found = {path for path in root.iterdir() if not _matches(path.name, unread)}
    for part in module_folders(root) if modules else ():
        inside = (path for path in part.rglob("*") if not _matches(path.name, UNREAD))
        found |= {path for path in inside if "/." not in f"/{path.relative_to(part).as_posix()}"}
    files = sorted(filter(Path.is_file, found))
    if not files:
        raise InputError(
            f"{root}: no file of a model in this folder: a model has config.json, a tokenizer or a "
            "processor, and weights in .safetensors or .onnx"
        )
    return files


def module_folders(root: Path) -> list[Path]:
    """Return the sub-folders of modules: those in `modules.json`, and those that routers among them name."""
    found: dict[Path, None] = {}
    level = [root]
    for _ in range(_DEPTH):
        below = [part / name for part in level for name in _listed(part)]
        level = [part for part in dict.fromkeys(below) if part != root and part not in found]
        found |= dict.fromkeys(level)
    return list(found)


def module_types(root: Path) -> list[str]:
    """Return the classes of the modules: those in `modules.json`, and those of the routes of routers."""
    types = [entry.get("type", "") for entry in _entries(root)]
    for folder in (root, *module_folders(root)):
        types += _routes(folder).values()
    return list(map(str, types))


def _entries(folder: Path) -> list[dict[str, Any]]:
    """Return what `modules.json` lists."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    try:
        return [dict(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"{path}: not a list of modules as sentence-transformers writes it") from None


def _listed(folder: Path) -> list[str]:
    """Return the folders that `modules.json` and a Router's routes name, none that leads out of this one."""
    names = [*(str(entry.get("path", "")) for entry in _entries(folder)), *_routes(folder)]
    return [name for name in names if name and ".." not in Path(name).parts and not Path(name).is_absolute()]


def _routes(folder: Path) -> dict[str, Any]:
    """Return a Router's routes: folder → class; before 5.0 it was called Asym and wrote config.json."""
    for path in (folder / "router_config.json", folder / "config.json"):
        if not path.is_file():
            continue
        try:
            settings = json.loads(path.read_text(encoding="utf-8"))
            if path.name == "config.json" and not {"types", "structure"} <= set(settings):
                continue
            return {str(name): kind for name, kind in settings["types"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            if path.name == "config.json":  # of another program; an error in it is reported when it is loaded
                continue
            raise InputError(
                f"{path}: not the routes of a Router as sentence-transformers writes it"
            ) from None
    return {}


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


class Watch:
    """Digests as they were when first asked for; `check` raises InputError where one has changed since.

    What is read after `digest` and before `check` is then what the digest, and so an identity, is of.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def digest(self, name: str, make: Callable[[], str]) -> str:
        """Return the digest that `make` gave the first time."""
        if name not in self._first:
            self._first[name] = make()
        return self._first[name]

    def check(self, name: str, make: Callable[[], str], what: str) -> None:
        """Raise InputError where `make` gives another digest now, or cannot read the files any more."""
        first, now = self.digest(name, make), ""
        with suppress(OSError):
            now = make()
        if now != first:
            raise InputError(f"{what} changed while it was read: start again")


@dataclass(eq=False)
class LanguageFiles(Generic[T]):
    """Files in whose path `{lang}` stands for a language; without it one file serves all languages.

    `find(path, language)` raises InputError where the file is not there (the language is "" for that of all),
    `read` reads it: once, when it is first asked for, and only as it was when its digest was taken.
    """

    pattern: str
    languages: Sequence[str]
    what: str  # what a file is, in errors
    find: Callable[[Path, str], None]
    read: Callable[[Path], T]
    _read: dict[Path, T] = field(default_factory=dict, init=False, repr=False)
    _watch: Watch = field(default_factory=Watch, init=False, repr=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """The languages that have files, sorted; "" for the one of all."""
        return tuple(sorted(set(self.languages))) if "{lang}" in self.pattern else ("",)

    @property
    def digest(self) -> str:
        """A hash of the files of all languages."""
        return digest(*(part for tag in self.tags for part in (tag, self._digest(self.path(tag))))).hex()

    def path(self, language: str) -> Path:
        """Return the file of a language; raise InputError where it is not there."""
        path = Path(self.pattern.replace("{lang}", language))
        self.find(path, language if "{lang}" in self.pattern else "")
        return path

    def check(self) -> None:
        """Raise InputError where a file is not there."""
        for tag in self.tags:
            self.path(tag)

    def of(self, language: str) -> T:
        """Return what was read from the file of a language."""
        path = self.path(language)
        if path not in self._read:
            self._digest(path)
            found = self.read(path)
            self.check_unchanged(path)
            self._read[path] = found
        return self._read[path]

    def check_unchanged(self, path: Path) -> None:
        """Raise InputError where a file has changed since its digest was taken."""
        self._watch.check(str(path), lambda: file_digest(path), f"{path}: {self.what}")

    def _digest(self, path: Path) -> str:
        return self._watch.digest(str(path), lambda: file_digest(path))
