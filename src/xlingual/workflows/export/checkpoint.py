"""The text encoder below a model, copied as a folder that sentence-transformers reads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xlingual.encoders import Encoder
from xlingual.encoders.checkpoints import model_files, read_json
from xlingual.encoders.network import Network, whole_dim
from xlingual.encoders.scheme import Prompts
from xlingual.errors import InputError

# names that every version of the library since 2.0 reads
TRANSFORMER, POOLING, DENSE, NORMALIZE = (
    f"sentence_transformers.models.{name}" for name in ("Transformer", "Pooling", "Dense", "Normalize")
)
MODULES, SETTINGS = "modules.json", "config_sentence_transformers.json"
_MODES = {"mean": "mean_tokens", "cls": "cls_token", "last": "lasttoken"}
Listing = list[dict[str, Any]]


def copy_base(base: Encoder, folder: Path) -> Listing:
    """Copy the files of an `st:` or `hf:` encoder to a folder; return its modules, for `write_modules`.

    Options of its spec become settings: prompts, the most tokens, the pooling. Raises InputError where the
    library has no setting for one.
    """
    if not isinstance(base, Network):
        raise InputError(
            f"--base {base.identity}: only st: and hf: encoders are networks that can be exported with the "
            "layers"
        )
    if base.options["dtype"] != "float32":
        raise InputError(
            f"{base.who}: dtype={base.options['dtype']} has no equivalent in sentence-transformers: export "
            "the layers alone, with --to onnx"
        )
    return _copy_modules(base, folder) if base.is_st else _copy_network(base, folder)


def write_modules(folder: Path, modules: Listing, more: Iterable[tuple[str, str]]) -> None:
    """Write the list of a folder's modules, and after them more, as (type, name of its folder)."""
    added = [
        {"idx": i, "name": str(i), "path": path, "type": kind}
        for i, (kind, path) in enumerate(more, start=len(modules))
    ]
    write_settings(folder / MODULES, [*modules, *added])


def write_settings(path: Path, content: Mapping[str, Any] | Listing) -> None:
    """Write settings as JSON, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _copy_modules(base: Network, folder: Path) -> Listing:
    _copy(base.folder, model_files(base.folder), folder)
    if not (folder / MODULES).is_file():  # the library then pools a network of transformers by the mean
        modules = pooled_network(folder, whole_dim(base.model) or 0, "mean", None)
    else:
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    settings = read_json(folder / SETTINGS)
    settings.pop("truncate_dim", None)  # of the base's vectors: the layers have zeros for what it leaves out
    own = settings.get("prompts") or {}
    write_settings(folder / SETTINGS, settings | _prompts(base.prompts, own))
    limit = base.model.max_seq_length if getattr(base.model[0], "auto_model", None) is not None else None
    if limit is not None:
        first = folder / str(modules[0].get("path", ""))
        path = next(iter(sorted(first.glob("sentence_*_config.json"))), first / "sentence_bert_config.json")
        write_settings(path, read_json(path) | {"max_seq_length": int(limit)})
    return modules


def _copy_network(base: Network, folder: Path) -> Listing:
    if base.pool not in _MODES:
        raise InputError(
            f"{base.who}: pool={base.pool} has no equivalent in sentence-transformers: export the layers "
            "alone, with --to onnx"
        )
    files = [path for path in model_files(base.folder) if path.parent == base.folder]
    bare = [path for path in files if not path.name.startswith(("modules.json", "sentence_", "router_"))]
    _copy(base.folder, bare, folder)
    write_settings(folder / SETTINGS, _prompts(base.prompts, {}))
    limit = base.model.max_seq_length
    most = limit if limit is not None and limit < 10**9 else None
    return pooled_network(folder, whole_dim(base.model) or 0, base.pool, most)


def pooled_network(folder: Path, dim: int, pool: str, limit: int | None) -> Listing:
    """Write what makes a network of transformers and its pooling modules of the library."""
    length = {} if limit is None else {"max_seq_length": int(limit)}
    write_settings(folder / "sentence_bert_config.json", {**length, "do_lower_case": False})
    modes = {f"pooling_mode_{name}": mode == pool for mode, name in _MODES.items()}
    write_settings(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": dim, **modes})
    kinds = ((TRANSFORMER, ""), (POOLING, "1_Pooling"))
    return [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (kind, path) in enumerate(kinds)]


def _copy(source: Path, files: Iterable[Path], folder: Path) -> None:
    for file in files:
        target = folder / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _prompts(prompts: Prompts, own: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that put the same prompts before texts without a role, queries, documents."""
    settings = {**own, "query": prompts.query, "document": prompts.candidate}
    if not prompts.plain:
        return {"prompts": settings, "default_prompt_name": None}
    return {"prompts": settings | {"plain": prompts.plain}, "default_prompt_name": "plain"}
