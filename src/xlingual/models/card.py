"""The card of a model, the README.md of its folder: one template over `config.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.files import atomic_file
from xlingual.models.folder import BANK, CARD, FITTED_ON, TRANSFORM, WEIGHTS, ModelFolder
from xlingual.signature import Signature
from xlingual.visible import visible_value

_TEMPLATE = Path(__file__).with_name("card.md")
_NAMES = {"mlmme": "MLMME", "vse": "VSE", "vsepp": "VSE++", "triplet": "Triplet", "triplet-xl": "TripletXL"}
_NAMES |= {"paper": "MLMME", "dual-encoder": "Dual encoder", TRANSFORM: "Map of vectors"}

# keys of `training` in config.json that are results of the training, not its options
OUTCOME = frozenset({"epochs_run", "best_epoch", "stopped", "seconds", "score", "scores", "final_scale"})

# options that say where a training ran and do not change its result
ANYWHERE = frozenset({"device", "threads"})


def card(
    folder: ModelFolder,
    *,
    what: str = "",
    use: str = "",
    library: str = "xlingual",
    topics: Sequence[str] = ("xlingual",),
) -> str:
    """Return the card of a model in Markdown, with the head that hubs of models read.

    An export says with `what` and `use` what it is and how it is used; they are Markdown.
    """
    import jinja2

    config = folder.config
    data, training = config.get("data") or {}, config.get("training") or {}
    name = str(training.get("recipe", config["kind"]))
    source = " ".join(str(data.get("source") or "").split())
    tables = {
        "Data": data,
        "Training": training,
        "Model": {**config["model"], "parameters": parameters(folder)},
        "Environment": config.get("environment") or {},
    }
    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        finalize=visible_value,
        keep_trailing_newline=True,
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        kind=config["kind"],
        model=config["model"],
        base=config.get("base"),
        languages=languages(config),
        title=_NAMES.get(name, name) + (f", made on {source}" if source else ""),
        what=what,
        use=use,
        library=library,
        topics=topics,
        tables=[(title, rows) for title, part in tables.items() if (rows := list(_rows(part)))],
        identity=identity(folder),
        signature=signature(folder),
    )


def write_card(folder: ModelFolder) -> ModelFolder:
    """Write the card of a model as the README.md of its folder, and return the model."""
    text = card(folder)
    with atomic_file(folder.path / CARD) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return folder


def identity(folder: ModelFolder) -> str:
    """Return the name of the model in results, without the encoder below it."""
    return f"model:{folder.kind}:{folder.digest[:16]}"


def signature(folder: ModelFolder) -> Signature:
    """Return the signature of the model: kind, data, options, version, and under `system` its identity."""
    config = folder.config
    training, data, environment = (config.get(name) or {} for name in ("training", "data", "environment"))
    options = {name: one for name, one in training.items() if name not in OUTCOME | ANYWHERE}
    content = json.dumps([config["model"], options], sort_keys=True)
    conditions = {
        "kind": folder.kind,
        "recipe": training.get("recipe"),
        "data": data.get("digest"),
        "validation": data.get("validation_digest"),
        "options": hashlib.sha256(content.encode()).hexdigest()[:12],
        "seed": training.get("seed"),
        "xlingual": environment.get("xlingual"),
    }
    system = {"encoder": identity(folder), "base": (config.get("base") or {}).get("identity")}
    return Signature(
        *({name: str(v) for name, v in part.items() if v is not None} for part in (conditions, system))
    )


def languages(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the languages of a model's texts, as far as its `config.json` names them."""
    data = config.get("data") or {}
    tags = config["model"].get("languages") or data.get("languages") or data.get("texts")
    if config["kind"] == TRANSFORM and None in (tags or ()):  # a map for all (other) languages
        tags = (config.get("base") or {}).get("languages")
    return tuple(str(tag) for tag in tags) if isinstance(tags, (list, tuple, Mapping)) else ()


def comparing(folder: ModelFolder) -> str:
    """Say how the vectors of a map are compared, in Markdown."""
    similarity = folder.config["model"].get("similarity")
    by = "Vectors are not of unit length: compare them by cosine."
    if similarity in (None, "cosine"):
        return by
    return (
        f"{by} The model was chosen with a correction of hubs, `{similarity}`, which is no part of the "
        "vectors: `xlingual embed … --offsets` writes it as one more dimension, where that can be done."
    )


def place_name(tag: str | None) -> str:
    """Return the name of a language that a transform has a map for: * for all others."""
    return "*" if tag is None else tag


def parameters(folder: ModelFolder) -> int:
    """Return how many numbers the weights are; what a transform keeps of its data is none of them."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder.path / WEIGHTS, framework="numpy") as weights:
            names = [name for name in weights.keys() if name not in (BANK, FITTED_ON)]  # noqa: SIM118
            return sum(prod(weights.get_slice(name).get_shape()) for name in names)
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{folder.path / WEIGHTS} is damaged ({error}): copy the model anew, or make it again"
        ) from None


def _rows(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and values as cells of Markdown; names say image where the file says picture."""
    for name, value in content.items():
        if value is not None:
            text = " ".join(_in_words(value).split()).replace("|", "\\|")
            yield name.replace("picture", "image").replace("_", " "), text


def _in_words(value: Any) -> str:  # noqa: ANN401  (of JSON)
    """Return a value of JSON in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_in_words(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_in_words(one) for one in value)
    return str(value)


def differences(training: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return in what a training differs from what is asked for, in words: "rate was 0.1 and is 0.01".

    Where it ran does not count.
    """
    wanted = json.loads(json.dumps(asked))  # as config.json gives them back
    return [
        f"{name} was {training.get(name)} and is {value}"
        for name, value in wanted.items()
        if name not in ANYWHERE and training.get(name) != value
    ]
