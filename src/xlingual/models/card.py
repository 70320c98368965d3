"""The card of a model: what it is, how it is used, its data, scores, options, sizes and signature.

All of it follows from `config.json` and the weights, so a card can be made anew at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from xlingual.files import atomic_file
from xlingual.models.card_words import DATA, words_of
from xlingual.models.folder import BANK, CARD, FITTED_ON, TRANSFORM, WEIGHTS, ModelFolder
from xlingual.models.recorded import ANYWHERE, OUTCOME
from xlingual.models.transform_card import Choice, beside, caution, chosen, shapes, sizes
from xlingual.signature import Signature

CHOSEN = "How it was chosen and tested"
PLACE = "DIR"  # the folder, which may be moved, as the card in it writes it


@dataclass(frozen=True)
class CardSection:
    """A part of a card: sentences, then lines of code, then names with values."""

    title: str
    sentences: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = field(default=())

    def markdown(self) -> str:
        """Return the section in Markdown."""
        parts = [f"## {self.title}", *self.sentences]
        if self.code:
            parts.append("\n".join(["```", *self.code, "```"]))
        if self.rows:
            rows = (f"| {_cell(name)} | {_cell(value)} |" for name, value in self.rows)
            parts.append("\n".join(["| | |", "|---|---|", *rows]))
        return "\n\n".join(parts)


@dataclass(frozen=True)
class ModelCard:
    """All that is known of a model."""

    title: str
    languages: tuple[str, ...]
    sections: tuple[CardSection, ...]

    def markdown(self) -> str:
        """Return the card as the README.md of its folder, with the head that hubs of models read."""
        head = front_matter(self.languages, ("xlingual",))
        return "\n\n".join([head, f"# {self.title}", *(part.markdown() for part in self.sections)]) + "\n"


def card(folder: ModelFolder, where: str = PLACE, repair: Choice | None = None) -> ModelCard:
    """Return the card of a model; `where` is the folder in its commands.

    `repair` chose the model, a transform; None: the one whose file lies beside the folder, if any.
    """
    config = folder.config
    words = words_of(folder.kind)
    choice = repair or (beside(folder) if folder.kind == TRANSFORM else None)
    sentences = words.what(config), None if choice is None else caution(choice), words.reference
    found = (
        CardSection("What it is", tuple(filter(None, sentences))),
        _use(folder, where),
        CardSection("Data", rows=tuple(_rows(config.get("data") or {}, DATA))),
        _scores(config),
        _chosen(choice),
        CardSection("Training", rows=tuple(_rows(_only_training(config)))),
        CardSection("Sizes", rows=tuple(_sizes(folder))),
        CardSection("Environment", rows=tuple(_rows(config.get("environment") or {}))),
        CardSection(
            "Signature",
            (
                f"Results name the model `{identity(folder)}`. Models with equal signatures up to `system:` "
                f"were {words.made} on equal data with equal options.",
            ),
            (str(signature(folder)),),
        ),
    )
    kept = tuple(part for part in found if part.sentences or part.code or part.rows)
    return ModelCard(words.title(config), languages(config), kept)


def write_card(folder: ModelFolder, repair: Choice | None = None) -> ModelFolder:
    """Write the card of a model as the README.md of its folder, and return the model."""
    text = card(folder, repair=repair).markdown()
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
    conditions = {
        "kind": folder.kind,
        "recipe": training.get("recipe"),
        "data": data.get("digest"),
        "validation": data.get("validation_digest"),
        "options": _hashed([config["model"], _options(config, but=ANYWHERE)]),
        "seed": training.get("seed"),
        "xlingual": environment.get("xlingual"),
    }
    base = (config.get("base") or {}).get("identity")
    system = {"encoder": identity(folder), "base": base}
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


def parameters(folder: ModelFolder) -> int:
    """Return how many numbers the weights are; what a transform keeps of its data is none of them."""
    return sum(prod(shape) for name, shape in shapes(folder).items() if name not in (BANK, FITTED_ON))


def front_matter(tags: tuple[str, ...], topics: tuple[str, ...], library: str = "xlingual") -> str:
    """Return the head of a README.md in YAML: languages, topics, library. All words are quoted ("no")."""
    lines = ["---"]
    if tags:
        lines += ["language:", *(f"- {json.dumps(tag)}" for tag in tags)]
    lines += [
        f"library_name: {json.dumps(library)}",
        "tags:",
        *(f"- {json.dumps(topic)}" for topic in topics),
    ]
    return "\n".join([*lines, "---"])


def _use(folder: ModelFolder, where: str) -> CardSection:
    words, base = words_of(folder.kind), folder.config.get("base")
    sentences = [f"{where} is this folder."] if where == PLACE else []
    if base is not None:
        sentences.append(
            f"SPEC is the encoder that it was {words.made} on: {base.get('name') or 'named'} "
            f"({base['dim']:,} dimensions), with the identity `{base['identity']}`."
        )
    return CardSection(
        "How to use it", (" ".join(sentences),) if sentences else (), words.use(folder.config, where)
    )


def _scores(config: Mapping[str, Any]) -> CardSection:
    training = config.get("training") or {}
    words = words_of(config["kind"])
    scores = {"score": training.get("score"), **(training.get("scores") or {})}
    rows = tuple((name, words.number(value)) for name, value in scores.items() if value is not None)
    ran, best = training.get("epochs_run"), training.get("best_epoch")
    kept = ran if training.get("keep_epoch") == "last" else best
    epochs = f" Epoch {kept} of {ran} is the model." if kept is not None and ran is not None else ""
    if not training:
        return CardSection("Scores")
    if not rows:
        return CardSection("Scores", (f"Nothing was validated: there are no scores.{epochs}",))
    return CardSection("Scores", (f"On data held out from training: {words.scores}.{epochs}",), rows=rows)


def _chosen(found: Choice | None) -> CardSection:
    return (
        CardSection(CHOSEN) if found is None else CardSection(CHOSEN, chosen(found)[0], rows=chosen(found)[1])
    )


def _sizes(folder: ModelFolder) -> Iterator[tuple[str, str]]:
    yield "parameters", f"{parameters(folder):,}"
    yield "weights", f"{(folder.path / WEIGHTS).stat().st_size:,} bytes"
    yield from sizes(folder) if folder.kind == TRANSFORM else _rows(folder.config["model"])


def _options(config: Mapping[str, Any], but: Collection[str] = ()) -> dict[str, Any]:
    """Return the options of the training, without its results."""
    training = config.get("training") or {}
    return {name: value for name, value in training.items() if name not in OUTCOME and name not in but}


def _only_training(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of training that are not among the model's own."""
    model = config["model"]
    return {
        name: value
        for name, value in _options(config).items()
        if name == "recipe" or name not in model or model[name] != value
    }


def _rows(content: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if value is not None:
            yield (names or {}).get(name, name.replace("picture", "image")), _in_words(value)


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


def _hashed(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
