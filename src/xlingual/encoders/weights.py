"""Which files make a model, and a digest of them that changes when one of them does."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from xlingual.errors import InputError

MODEL = (  # settings, tokenizer, picture processor and weights
    *("config*.json", "tokenizer*", "vocab*", "merges*", "special_tokens_map.json", "added_tokens.json"),
    *("*.model", "*.spm", "*.bpe", "*processor_config.json", "chat_template*"),
    *("*.safetensors", "*.safetensors.index.json", "*.onnx", "*.onnx_data*", "*.onnx.data"),
)
SENTENCE_TRANSFORMER = ("modules.json", "sentence_*_config.json", "router_config.json")

_RECENT = 2_000_000_000  # ns; clocks of file systems are coarse, so a file this young may change unnoticed
_known: dict[tuple[str, int, int, int, int], str] = {}


def checkpoint_digest(folder: str | Path, files: Iterable[Path] | None = None) -> str:
    """Return 64 hexadecimal digits: SHA-256 over the names (relative to the folder) and bytes of the files.

    `files` are those of `model_files(folder)` unless told. Where the folder lies and when it was written do
    not count. Raises InputError where there is no folder or no file of a model in it.
    """
    root = Path(folder)
    chosen = model_files(root) if files is None else sorted(files)
    whole = hashlib.sha256()
    for path in chosen:
        whole.update(f"{path.relative_to(root).as_posix()}\0{file_digest(path)}\n".encode())
    return whole.hexdigest()


def model_files(folder: str | Path, *, modules: bool = True) -> list[Path]:
    """Return the files in the folder that make a model, sorted.

    With `modules` those of sentence-transformers count too: `modules.json` and all files in the folders that
    it names (pooling, dense layers, …). Readmes, training states and pickles (.bin) never count.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{root}: no such folder of a model")
    patterns = (*MODEL, *SENTENCE_TRANSFORMER) if modules else MODEL
    found = {path for path in root.iterdir() if any(fnmatchcase(path.name, name) for name in patterns)}
    if modules:
        for part in module_folders(root):
            found.update(path for path in part.rglob("*") if path.suffix not in (".bin", ".md"))
    files = sorted(path for path in found if path.is_file())
    if not files:
        raise InputError(
            f"{root}: no file of a model in this folder: a model has config.json, a tokenizer or a "
            "processor, and weights in .safetensors or .onnx"
        )
    return files


def module_folders(root: Path) -> list[Path]:
    """Return the sub-folders that `modules.json` names."""
    path = root / "modules.json"
    if not path.is_file():
        return []
    try:
        named = [str(entry.get("path", "")) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, AttributeError, TypeError):
        raise InputError(f"{path}: not a list of modules as sentence-transformers writes it") from None
    return [root / name for name in named if name and ".." not in Path(name).parts]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; read again whenever the file may have changed since."""
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    if key not in _known:
        begun = time.time_ns()
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
        if max(stat.st_mtime_ns, stat.st_ctime_ns) + _RECENT > begun:
            return found
        _known[key] = found
    return _known[key]
