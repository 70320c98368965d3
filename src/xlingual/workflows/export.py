"""A trained model for other programs: a folder of sentence-transformers, or maps as plain arrays.

A folder of sentence-transformers is built of modules of the library: those of the encoder below, then layers
of the model. The library saves them and loads them again; the folder is kept where it gives the same vectors.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual import encoders
from xlingual.arrays import Vectors
from xlingual.encoders import Encoder, EncoderLike
from xlingual.encoders.network import Network
from xlingual.encoders.runtime import loading, require
from xlingual.encoders.trained import check_base
from xlingual.encoders.transform import map_of
from xlingual.errors import DataWarning, InputError, listed
from xlingual.files import make_folder
from xlingual.models.card import card, comparing, identity, languages, place_name, signature
from xlingual.models.folder import CARD, CONFIG, TRANSFORM, ModelFolder
from xlingual.records import Texts
from xlingual.streams import stream
from xlingual.transforms.affine import unit_rows

if TYPE_CHECKING:
    from xlingual.workflows.export_modules import Export

LIBRARY, ARRAYS = FORMATS = ("sentence-transformers", "safetensors")
MARK = "xlingual.json"  # says what was exported; only a folder with it is ever replaced
MAPS = "maps.safetensors"
MOST = 1e-5  # largest difference of vectors that rounding may cause
ROLES = (None, "query", "candidate")
_TAKES = {  # the options that a kind of model has for sentence-transformers
    "triplet": ("base", "field"),
    "dual-encoder": (),
    "dual-encoder on an encoder": ("base",),
    "mlmme": ("language",),
    TRANSFORM: ("base", "language"),
}
_LONG = "Peel the apples, cut them into thin slices, and bake them for an hour. " * 40
_TRIED = (
    _LONG,
    "Sopa de tomate con albahaca",
    "Щи из свежей капусты",
    "حساء العدس",
    "親子丼",
    "12 × 250 g",
    "!",
)


@dataclass(frozen=True)
class ExportedModel:
    """The folder that was written, and the largest difference of its vectors from the model's."""

    path: Path
    to: str
    dim: int  # of the vectors that it gives
    difference: float  # a share of the largest number where vectors are not unit ones


def export_model(
    model: str | Path,
    to: str,
    out: str | Path,
    *,
    base: EncoderLike | None = None,
    field: str | None = None,
    language: str | None = None,
    replace: bool = False,
) -> ExportedModel:
    """Write a trained model, or the maps of an alignment, for another program.

    Args:
        model: its folder.
        to: "sentence-transformers" (all that makes vectors of texts; of a Triplet, of one field) or
            "safetensors" (the maps as a matrix and an offset for each language).
        out: the folder to write.
        base: the text encoder that the model was trained on, `st:` or `hf:`, where it stands on one.
        field: "title" or "body" of a Triplet, where each has layers of its own.
        language: of texts whose language is not named (MLMME); of all texts, where there is a map for each.
        replace: write over what was exported to `out` before.

    Raises:
        InputError: the model is of another kind, the base is another one or cannot be exported, `out` exists
            already, or what was written gives other vectors.

    """
    if to not in FORMATS:
        raise InputError(f"--to {to}: choose one of {listed(FORMATS)}")
    folder, out = ModelFolder.read(model), Path(out)
    if to == ARRAYS and folder.kind != TRANSFORM:
        raise InputError(
            f"--to {to} is for maps of languages; {folder.path} is of the kind {folder.kind}, whose "
            "weights are in safetensors already"
        )
    kind = folder.kind
    if kind == "dual-encoder" and folder.config.get("base") is not None:
        kind += " on an encoder"
    takes = () if to == ARRAYS else _TAKES[kind]
    for option, value in (("base", base), ("field", field), ("language", language)):
        if value is not None and option not in takes:
            raise InputError(f"--{option} is no option of a {kind} with --to {to}: leave it out")
    if to == ARRAYS:
        return _export_maps(folder, out, replace)
    require("an export to sentence-transformers", "st", "torch", "transformers", "sentence_transformers")
    from xlingual.workflows import export_modules as modules

    below = _base(folder, base) if "base" in takes else None
    if below is None:
        export = (
            modules.mlmme_export(folder, language) if kind == "mlmme" else modules.dual_export(folder, None)
        )
    elif kind == "triplet":
        export = modules.triplet_export(folder, below, field)
    elif kind == TRANSFORM:
        export = modules.mapped_export(folder, below, language)
    else:
        export = modules.dual_export(folder, below)
    with _new_folder(out, replace, export.base) as new:
        return ExportedModel(out, to, export.dim, _save(export, folder, new, out.name))


def _base(folder: ModelFolder, spec: EncoderLike | None) -> Network:
    """Load the text encoder below the model."""
    below = folder.config.get("base")
    if below is None:
        raise InputError(f"{folder.path / CONFIG} names no encoder below the model: copy the model anew")
    if spec is None:
        alone = "; --to safetensors needs none" if folder.kind == TRANSFORM else ""
        raise InputError(
            f"{folder.path} stands on another encoder, which is exported with it: name it with --base SPEC; "
            f"it is {below.get('name')}, {below['identity']}{alone}"
        )
    by_name = encoders.text_encoders(spec, languages=list(languages(folder.config)) or ["und"])
    if len(by_name) > 1:
        raise InputError(f"--base stands for {len(by_name)} encoders: name the one that was trained on")
    base = check_base(folder, next(iter(by_name.values())), trusted=False)
    if not isinstance(base, Network):
        raise InputError(f"--base {base.identity}: only st: and hf: encoders can be exported with the model")
    if base.options["dtype"] != "float32":
        raise InputError(f"{base.who}: dtype={base.options['dtype']} cannot be exported: train on float32")
    return base


def _save(export: Export, folder: ModelFolder, new: Path, name: str) -> float:
    """Save the modules, a README.md and the mark, and compare the vectors of the folder with the model's."""
    from sentence_transformers import SentenceTransformer

    prompts: dict[str, Any] = {}
    if isinstance(export.base, Network):
        texts = export.base.prompts
        prompts = {**export.base.model.prompts, "query": texts.query, "document": texts.candidate}
        prompts |= {"plain": texts.plain} if texts.plain else {}
        prompts = {"prompts": prompts, "default_prompt_name": "plain" if texts.plain else None}
    who = f"model:{folder.path}"
    with loading(who):
        model = SentenceTransformer(
            modules=list(export.modules), device="cpu", similarity_fn_name="cosine", **prompts
        )
        model.save_pretrained(str(new), create_model_card=False)
    about = {"model": identity(folder), "signature": str(signature(folder)), **export.about}
    if export.base is not None:
        about["base"] = export.base.identity
    (new / MARK).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    trust = ", trust_remote_code=True" if export.trusted else ""
    code = [
        "from sentence_transformers import SentenceTransformer",
        "",
        f'model = SentenceTransformer("{name}"{trust})',
        *export.usage,
    ]
    needs = "Its module is part of xlingual: install that where the model is used." if export.trusted else ""
    licence = "The licence of the encoder below holds for its part." if export.base is not None else ""
    _write_readme(folder, new, [export.what, needs, licence], code, export.remarks, LIBRARY)
    return max(_check_same(who, *both) for both in _compared(export, new, who))


def _compared(export: Export, new: Path, who: str) -> Iterator[tuple[Vectors, Vectors]]:
    """Yield vectors of the library and of the model, for every role and language."""
    from sentence_transformers import SentenceTransformer

    with loading(who):
        model = SentenceTransformer(
            str(new), device="cpu", local_files_only=True, trust_remote_code=export.trusted
        )
    methods = dict(zip(ROLES, (model.encode, model.encode_query, model.encode_document), strict=True))
    for language, words in (export.tried or {None: ()}).items():
        texts, named = [*_TRIED, *words], {} if language is None else {"language": language}
        tags = [language or export.language or "und"] * len(texts)
        for role in ROLES if export.by_role else (None,):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # of prompts, and of texts that are cut
                expected = export.encode(Texts(texts, tags, [str(i) for i in range(len(texts))], role=role))
            with loading(who):
                yield methods[role](texts, show_progress_bar=False, **named), expected


def _check_same(who: str, vectors: Vectors, expected: Vectors) -> float:
    """Measure the largest difference of vectors [n, d]; raise InputError where they are not the same."""
    size = max(1.0, float(np.abs(expected).max(initial=0)))
    same_shape = vectors.shape == expected.shape and bool(np.isfinite(vectors).all())
    difference = float(np.abs(vectors - expected).max(initial=0)) / size if same_shape else np.inf
    if difference > MOST:
        raise InputError(
            f"the export of {who} gives other vectors than the model (they differ by {difference:.2g}, "
            f"expected {MOST:g} at most) and is not written: use model: in xlingual, or train on another base"
        )
    return difference


def _export_maps(folder: ModelFolder, out: Path, replace: bool) -> ExportedModel:
    """Write a matrix and an offset for each language, and a README.md that shows their use."""
    from safetensors.numpy import load_file, save_file

    map, who = map_of(folder), f"model:{folder.path}"
    arrays: dict[str, np.ndarray] = {}
    for tag in map.places:
        matrix, offset = map.of(tag)
        arrays[f"{place_name(tag)}.matrix"] = np.eye(map.dim) if matrix is None else matrix
        arrays[f"{place_name(tag)}.offset"] = offset
    name = place_name(map.places[0])
    code = [
        "import numpy as np",
        "from safetensors.numpy import load_file",
        "",
        f'maps = load_file("{MAPS}")',
        "unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)",
        f'mapped = unit @ maps["{name}.matrix"] + maps["{name}.offset"]',
    ]
    names = listed([place_name(tag) for tag in map.places], 40)
    what = f"A matrix and an offset for each language, `*` for all others: {names}. They map vectors of "
    what += f"`{folder.config['base']['identity']}`, {map.dim:,} dimensions."
    with _new_folder(out, replace) as new:
        save_file({key: np.ascontiguousarray(a, np.float32) for key, a in arrays.items()}, new / MAPS)
        about = {"model": identity(folder), "signature": str(signature(folder)), "languages": map.places}
        (new / MARK).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        _write_readme(folder, new, [what], code, comparing(folder), "numpy")
        drawn = stream(0, "export").standard_normal((8, map.dim)).astype(np.float32)
        maps, unit = load_file(new / MAPS), unit_rows(drawn)
        mapped, expected = [], []
        for tag in map.places:
            key = place_name(tag)
            mapped.append(unit @ maps[f"{key}.matrix"] + maps[f"{key}.offset"])
            expected.append(map.apply(unit, [key] * len(unit)))
        difference = _check_same(who, np.concatenate(mapped), np.concatenate(expected))
    return ExportedModel(out, ARRAYS, int(map.offset.shape[1]), difference)


def _write_readme(
    folder: ModelFolder, new: Path, what: Sequence[str], code: Sequence[str], remarks: str, library: str
) -> None:
    """Write the README.md of an export: what it is, and how it is used."""
    use = "\n\n".join(filter(None, ["\n".join(["```python", *code, "```"]), remarks]))
    topics = (*{library, "xlingual"} - {"numpy"}, "sentence-similarity", "feature-extraction")
    text = card(folder, what=" ".join(filter(None, what)), use=use, library=library, topics=sorted(topics))
    (new / CARD).write_text(text, encoding="utf-8")


@contextmanager
def _new_folder(out: Path, replace: bool, base: Encoder | None = None) -> Iterator[Path]:
    """Give a folder to write into, which becomes `out` in the end, whole or not at all."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        is_base = isinstance(base, Network) and out.resolve() == base.folder.resolve()
        if is_base or not (out / MARK).is_file():
            raise InputError(f"--out {out} is there and was not exported by xlingual: name a new folder")
        if not replace:
            raise InputError(f"--out {out} holds an exported model already: --force replaces it")
    new = Path(mkdtemp(prefix=f".{out.name}.", dir=make_folder(out.parent)))
    try:
        yield new
        for path in (new, *new.rglob("*")):  # some libraries write files that nobody else may read
            path.chmod(0o755 if path.is_dir() else 0o644)
        if out.exists():
            shutil.rmtree(out)
        new.replace(out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
