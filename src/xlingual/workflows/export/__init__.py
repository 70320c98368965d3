"""A trained model as a folder of sentence-transformers, checked to give the same vectors there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xlingual import encoders
from xlingual.encoders import Encoder, EncoderLike
from xlingual.encoders.scheme import Context
from xlingual.encoders.trained import TripletNetwork, build, check_base
from xlingual.errors import InputError, listed
from xlingual.models.card import languages
from xlingual.models.folder import CONFIG, TRANSFORM, ModelFolder
from xlingual.workflows.export.sentence_transformers import export_sentence_transformers
from xlingual.workflows.export.texts import export_texts, text_model
from xlingual.workflows.export.transform import TransformModel
from xlingual.workflows.export.transform_modules import to_modules

FORMATS = ("sentence-transformers", "safetensors")


@dataclass(frozen=True)
class ExportedModel:
    """The folder that was written, and the largest difference of its vectors from the model's."""

    path: Path
    to: str
    dim: int  # of the vectors that it gives
    difference: float  # largest one found, as a share of the largest number where vectors are not unit ones


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
    """Write a trained model, or what `xlingual repair` chose, for another program.

    Args:
        model: its folder.
        to: "sentence-transformers" (all that makes vectors of texts; of a Triplet, of one field) or
            "safetensors" (the maps of a repair as a matrix and an offset for each language).
        out: the folder to write.
        base: the text encoder that the model was trained on, `st:` or `hf:`, where it stands on one;
            sentence-transformers only.
        field: "title" or "body": whose layers, where each has its own; of a Triplet only.
        language: of texts whose language is not given, where a model has an encoder for each (MLMME); of
            all texts, for sentence-transformers, where a repair has a map for each.
        replace: write over what was exported to `out` before.

    Raises:
        InputError: the model is of another kind, the base is another one or cannot be exported, `out` exists
            already, or what was written gives other vectors.

    """
    if to not in FORMATS:
        raise InputError(f"--to {to}: choose one of {listed(FORMATS)}")
    folder = ModelFolder.read(model)
    if folder.kind == TRANSFORM:
        return _transform(folder, to, Path(out), base, field, language, replace)
    if to == "safetensors":
        raise InputError(
            f"--to safetensors is for what xlingual repair chose; {folder.path} is a model of the kind "
            f"{folder.kind}, whose weights are in safetensors already"
        )
    if folder.kind != "triplet":
        return _texts(folder, Path(out), base, field, language, replace)
    if language is not None:
        raise InputError(f"{folder.path} reads texts of all languages alike: leave --language out")
    if folder.config.get("base") is None:
        raise InputError(f"{folder.path / CONFIG} names no encoder below the model: copy the model anew")
    network = TripletNetwork(folder, "cpu")
    below = _base(folder, base)
    tower = _tower(network, field)
    difference = export_sentence_transformers(folder, network, below, tower, Path(out), replace)
    return ExportedModel(Path(out), to, network.config.out_dim, difference)


def _transform(
    folder: ModelFolder,
    to: str,
    out: Path,
    base: EncoderLike | None,
    field: str | None,
    language: str | None,
    replace: bool,
) -> ExportedModel:
    """Write what a repair chose."""
    if field is not None:
        raise InputError(f"{folder.path} has no fields: leave --field out")
    model = TransformModel(folder)
    if to == "sentence-transformers":
        difference = to_modules(model, _base(folder, base), language, out, replace)
        return ExportedModel(out, to, model.dim, difference)
    for option, value in (("--base", base), ("--language", language)):
        if value is not None:
            raise InputError(f"--to {to} writes the maps of all languages alone: leave {option} out")
    return ExportedModel(out, to, model.dim, model.to_arrays(out, replace))


def _texts(
    folder: ModelFolder,
    out: Path,
    base: EncoderLike | None,
    field: str | None,
    language: str | None,
    replace: bool,
) -> ExportedModel:
    """Write a dual encoder, or the encoders of texts of an MLMME."""
    if field is not None:
        raise InputError(f"{folder.path} has no fields: leave --field out")
    of_texts = folder.kind == "mlmme" or folder.config.get("base") is None
    if of_texts and base is not None:
        raise InputError(f"{folder.path} reads texts itself: leave --base out")
    below = None if of_texts else _base(folder, base)
    context = Context(languages(folder.config), base=below)
    encoder = build(str(folder.path), {"device": "cpu", "batch": 128, "base": None}, context)
    model = text_model(folder, encoder, below, language)
    return ExportedModel(out, FORMATS[0], model.dim, export_texts(model, out, replace))


def _base(folder: ModelFolder, spec: EncoderLike | None) -> Encoder:
    """Return the text encoder below the model."""
    if spec is None:
        trained = folder.config["base"]
        alone = "; --to safetensors needs none" if folder.kind == TRANSFORM else ""
        raise InputError(
            f"{folder.path} stands on another encoder, which is exported with it: name it with --base SPEC; "
            f"it is {trained.get('name')}, {trained['identity']}{alone}"
        )
    found = encoders.text_encoders(spec, languages=list(languages(folder.config)) or ["und"])
    if len(found) > 1:
        raise InputError(f"--base stands for {len(found)} encoders: name the one that was trained on")
    return check_base(folder, next(iter(found.values())), trusted=False)


def _tower(network: TripletNetwork, field: str | None) -> str:
    """Return the name of the layers that are exported."""
    towers = network.config.towers
    if len(towers) == 1:
        if field is not None:
            raise InputError(f"{network.who} has one set of layers for title and body: leave --field out")
        return towers[0]
    if field not in towers:
        raise InputError(
            f"{network.who} has separate layers for title and body: export each, with --field title "
            "and with --field body"
        )
    return field
