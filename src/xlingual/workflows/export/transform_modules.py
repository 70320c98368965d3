"""A transform and the text encoder below it, as one folder of sentence-transformers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders import Encoder
from xlingual.encoders.checkpoints import read_json
from xlingual.encoders.network import Network
from xlingual.encoders.transform import FittedTransform
from xlingual.errors import DataWarning, InputError, listed
from xlingual.models.card import place_name
from xlingual.models.folder import CARD, CONFIG, WEIGHTS
from xlingual.records import Texts
from xlingual.workflows.export.about import check_same, python, readme
from xlingual.workflows.export.checkpoint import (
    DENSE,
    NORMALIZE,
    SETTINGS,
    Listing,
    copy_base,
    write_modules,
    write_settings,
)
from xlingual.workflows.export.sentence_transformers import (
    MARK,
    TRIED,
    encoded,
    new_folder,
    require_library,
    uncut_dim,
)
from xlingual.workflows.export.transform import TransformModel, matrix_and_offset

_LINEAR = "torch.nn.modules.linear.Identity"
_BY_ROLE = ("questions = model.encode_query(asked)", "answers = model.encode_document(texts)")


def to_modules(model: TransformModel, base: Encoder, language: str | None, out: Path, replace: bool) -> float:
    """Write the folder of sentence-transformers for texts of a language; None: for any.

    Modules are those of the base, unit length, and a dense layer without activation.
    """
    _check_network(base)
    require_library()
    matrix, offset = matrix_and_offset(model.map, _place(model, language))
    with new_folder(out, replace, base) as made:
        modules = copy_base(base, made)
        write_settings(made / SETTINGS, read_json(made / SETTINGS) | {"similarity_fn_name": "cosine"})
        _write_layers(made, modules, matrix, offset, uncut_dim(base, model.map.dim))
        write_settings(made / MARK, model.about | {"language": language or model.map.places[0]})
        (made / CARD).write_text(_readme(model, base, language, out.name), encoding="utf-8")
        return max(
            check_same(f"the export of {model.who}", found, expected)
            for found, expected in _encoded(model, made, base, language)
        )


def _place(model: TransformModel, language: str | None) -> str | None:
    """Return the place of a language; raise InputError where one is missing, or is not needed."""
    places = model.map.places
    if language is None and len(places) > 1:
        raise InputError(
            f"{model.who} has a map for each language ({listed([place_name(tag) for tag in places], 20)}) "
            "and nothing in a text says which: export a folder for each, with --language TAG"
        )
    if language is not None and places == [None]:
        raise InputError(f"{model.who} maps texts of all languages alike: leave --language out")
    if language is None or language in places:
        return language if language is not None else places[0]
    if None not in places:
        model.map.of(language)  # says which languages there are
    return None


def _encoded(
    model: TransformModel, made: Path, base: Encoder, language: str | None
) -> Iterator[tuple[Vectors, Vectors]]:
    """Yield the vectors of the library and of the model, for every role."""
    tag, n = language or model.map.places[0] or "und", len(TRIED)
    encoder = FittedTransform(model.folder, base)
    for role in (None, "query", "candidate") if base.by_role else (None,):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of prompts, and of texts that are cut
            batch = Texts(list(TRIED), [tag] * n, [str(i) for i in range(n)], role=role)
            expected = encoder.encode(batch)
        yield encoded(made, model.who, TRIED, role), expected
    base.notes()


def _readme(model: TransformModel, base: Encoder, language: str | None, name: str) -> str:
    of = f"texts in `{language}`" if language else "texts"
    what = (
        f"A frozen encoder of texts, `{model.base_name}`, and a linear map of its vectors that xlingual "
        f"fitted, chose and tested. It gives vectors of {model.dim:,} dimensions of {of}. The licence of the "
        "encoder holds for its part."
    )
    lines = [
        "from sentence_transformers import SentenceTransformer",
        "",
        f'model = SentenceTransformer("{name}")',
        *(_BY_ROLE if base.by_role else ("vectors = model.encode(texts)",)),
    ]
    others = "Texts in other languages have maps of their own: one folder for each. " if language else ""
    return readme(model.folder, what, python(lines), others + model.compared)


def _write_layers(made: Path, modules: Listing, matrix: Floats, offset: Floats, width: int) -> None:
    """Write unit length and the dense layer, before them one that takes the first dimensions of `width`."""
    from safetensors.numpy import save_file

    start, added = len(modules), list[tuple[str, str]]()

    def dense(weight: Floats, bias: Floats | None) -> None:
        place = f"{start + len(added)}_Dense"
        settings: Mapping[str, Any] = {
            "in_features": weight.shape[0],
            "out_features": weight.shape[1],
            "bias": bias is not None,
            "activation_function": _LINEAR,
        }
        write_settings(made / place / CONFIG, settings)
        stored = {"linear.weight": weight.T} | ({} if bias is None else {"linear.bias": bias})
        arrays = {name: np.ascontiguousarray(one, dtype=np.float32) for name, one in stored.items()}
        save_file(arrays, made / place / WEIGHTS)
        added.append((DENSE, place))

    if width > len(matrix):  # the base's vectors were cut
        dense(np.eye(width, len(matrix)), None)
    added.append((NORMALIZE, f"{start + len(added)}_Normalize"))
    (made / added[-1][1]).mkdir()
    dense(matrix, offset)
    write_modules(made, modules, added)


def _check_network(base: Encoder) -> None:
    """Raise InputError where the encoder below is no network that the library runs."""
    if not isinstance(base, Network):
        raise InputError(
            f"--base {base.identity}: only st: and hf: encoders are networks that can be exported with the "
            "map; --to safetensors writes the map alone"
        )
