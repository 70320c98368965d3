"""A Triplet and the text encoder below it, as one folder of sentence-transformers for one field of a text."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders import Encoder
from xlingual.encoders.network import Network, NetworkEncoder, whole_dim
from xlingual.encoders.runtime import loading, require
from xlingual.encoders.trained import TripletNetwork
from xlingual.errors import DataWarning, InputError
from xlingual.files import make_folder
from xlingual.models.folder import CARD, CONFIG, WEIGHTS, ModelFolder
from xlingual.records import Texts
from xlingual.workflows.export.about import about, check_same, triplet_readme
from xlingual.workflows.export.checkpoint import (
    DENSE,
    NORMALIZE,
    copy_base,
    write_modules,
    write_settings,
)

WHAT = "an export to sentence-transformers"
MARK = "xlingual.json"  # says what was exported; only a folder with it is ever replaced
# what the exported model is tried on: short and long texts, several scripts, none
TRIED = (
    "Apple pie",
    "Peel the apples, cut them into thin slices, and bake them for an hour. " * 40,
    "Sopa de tomate con albahaca",
    "Щи из свежей капусты",
    "حساء العدس",
    "親子丼",
    "12 × 250 g",
    "!",
)


def export_sentence_transformers(
    folder: ModelFolder, network: TripletNetwork, base: Encoder, tower: str, out: Path, replace: bool
) -> float:
    """Write the folder `out`, whole or not at all; return the largest difference of its vectors.

    Its modules are those of the base, two dense layers with ReLU and, where the model's scaling is `unit`,
    unit length. It loads with `SentenceTransformer(out)`; no code comes with it.
    """
    require_library()
    with new_folder(out, replace, base) as made:
        modules = copy_base(base, made)
        expected = _expected(network, base, tower)
        width = uncut_dim(base, network.config.base_dim)
        _write_layers(folder, network, tower, made, modules, width)
        write_settings(made / MARK, about(folder, network) | {"field": tower})
        (made / CARD).write_text(triplet_readme(folder, network.config, tower, out.name), encoding="utf-8")
        return check_same(f"the export of {network.who}", encoded(made, network.who, TRIED), expected)


def require_library() -> None:
    """Raise MissingExtraError where a package of the library is not installed."""
    require(WHAT, "st", "torch", "transformers", "sentence_transformers")


@contextmanager
def new_folder(out: Path, replace: bool, base: Encoder | None = None) -> Iterator[Path]:
    """Give a folder to write into, which becomes `out` in the end, whole or not at all.

    Raises InputError where `out` may not be replaced.
    """
    _check_out(out, replace, base.folder if isinstance(base, NetworkEncoder) else None)
    parent = make_folder(out.parent)
    made = Path(mkdtemp(prefix=f".{out.name}.", dir=parent))
    try:
        yield made
        for path in (made, *made.rglob("*")):  # some libraries write files that nobody else may read
            path.chmod(0o755 if path.is_dir() else 0o644)
        if out.exists():
            shutil.rmtree(out)
        made.replace(out)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check_out(out: Path, replace: bool, below: Path | None) -> None:
    """Raise InputError where `out` may not be replaced; `below` is the folder of the base."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    own = below is not None and out.resolve() == below.resolve()
    if own or not (out / MARK).is_file():
        raise InputError(f"--out {out} is there and was not exported by xlingual: name a new folder")
    if not replace:
        raise InputError(f"--out {out} holds an exported model already: --force replaces it")


def _write_layers(
    folder: ModelFolder, network: TripletNetwork, tower: str, made: Path, modules: list[Any], width: int
) -> None:
    """Write the two dense layers and the scaling, and list all modules."""
    from safetensors.torch import save_file
    from torch import nn

    weights, start = folder.weights(), len(modules)
    added: list[tuple[str, str]] = []
    for layer in ("first", "second"):
        weight, bias = (weights[f"towers.{tower}.{layer}.{part}"] for part in ("weight", "bias"))
        if layer == "first" and width > weight.shape[1]:  # the base's vectors were cut: zeros for the rest
            weight = nn.functional.pad(weight, (0, width - weight.shape[1]))
        place = f"{start + len(added)}_Dense"
        settings = {
            "in_features": weight.shape[1],
            "out_features": weight.shape[0],
            "bias": True,
            "activation_function": "torch.nn.modules.activation.ReLU",
        }
        write_settings(made / place / CONFIG, settings)
        stored = {"linear.weight": weight.contiguous(), "linear.bias": bias.contiguous()}
        save_file(stored, made / place / WEIGHTS)
        added.append((DENSE, place))
    if network.config.scaling == "unit":
        place = f"{start + len(added)}_Normalize"
        (made / place).mkdir()
        added.append((NORMALIZE, place))
    write_modules(made, modules, added)


def uncut_dim(base: Encoder, dim: int) -> int:
    """Return how many dimensions the modules of the base give, whose vectors, of `dim`, may be cut."""
    return whole_dim(base.model) or dim if isinstance(base, Network) else dim


def _expected(network: TripletNetwork, base: Encoder, tower: str) -> Vectors:
    """Return the model's own vectors of the texts it is tried on: one half, for one field."""
    n = len(TRIED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of prompts for a role, and of texts that are cut
        vectors = base.encode(Texts(list(TRIED), ["en"] * n, [str(i) for i in range(n)]))
    both = network.run("represent", vectors, vectors)
    half = slice(network.config.out_dim, None) if tower == "body" else slice(network.config.out_dim)
    found: Vectors = np.ascontiguousarray(both[:, half])
    return found


def encoded(
    folder: Path,
    who: str,
    texts: Sequence[Any],
    role: str | None = None,
    code: bool = False,
    **more: Any,  # noqa: ANN401
) -> Vectors:
    """Return the vectors of texts as the library gives them; `more` is given to its method.

    `code`: the folder names a module of xlingual, which the library imports on request only.
    """
    from sentence_transformers import SentenceTransformer

    with loading(who):
        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True, trust_remote_code=code)
        encode = {None: model.encode, "query": model.encode_query, "candidate": model.encode_document}[role]
        found: Vectors = encode(list(texts), show_progress_bar=False, convert_to_numpy=True, **more)
    return found
