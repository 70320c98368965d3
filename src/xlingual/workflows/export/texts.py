"""Dual encoders and MLMME as folders of sentence-transformers.

A network of transformers with one tower becomes modules of the library alone. Any other model is a module of
xlingual (`xlingual.integrations.sentence_transformers`), with the model's folder inside.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xlingual.arrays import Vectors
from xlingual.encoders import Encoder
from xlingual.encoders.runtime import loading
from xlingual.encoders.trained import (
    CANDIDATE,
    QUERY,
    DualNetwork,
    DualTexts,
    MlmmeNetwork,
    MlmmeTexts,
    OnBase,
)
from xlingual.errors import DataWarning, InputError, listed
from xlingual.models.card import identity, signature
from xlingual.models.folder import CARD, CHECKPOINT, LOG, ModelFolder
from xlingual.records import Texts
from xlingual.workflows.export.about import check_same, python, readme
from xlingual.workflows.export.checkpoint import (
    NORMALIZE,
    Listing,
    copy_base,
    pooled_network,
    write_modules,
    write_settings,
)
from xlingual.workflows.export.sentence_transformers import (
    MARK,
    TRIED,
    encoded,
    new_folder,
    require_library,
)

_OURS = "xlingual.integrations.sentence_transformers"
_SOME = 24  # words of each vocabulary that the export is tried on


@dataclass(frozen=True)
class TextModel:
    """A model that is exported: `encoder` gives its vectors of texts here."""

    folder: ModelFolder
    encoder: DualTexts | OnBase | MlmmeTexts
    base: Encoder | None
    language: str | None  # of texts whose language is not given

    @property
    def who(self) -> str:
        """How messages name it."""
        return self.encoder.network.who

    @property
    def dim(self) -> int:
        """How many dimensions its vectors have."""
        network = self.encoder.network
        return network.config.joint_dim if isinstance(network, MlmmeNetwork) else network.config.dim

    @property
    def plain(self) -> bool:
        """Whether the library's own modules are enough."""
        network = self.encoder.network
        if isinstance(network, MlmmeNetwork):
            return False
        config = network.config
        return config.tower == "transformer" and not (config.separate or config.context)

    @property
    def roles(self) -> tuple[str | None, ...]:
        """The roles of texts whose vectors differ."""
        return (None,) if isinstance(self.encoder, MlmmeTexts) else (None, QUERY, CANDIDATE)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have an encoder of their own; without any there is one for all."""
        return self.encoder.languages if isinstance(self.encoder, MlmmeTexts) else ()


def export_texts(model: TextModel, out: Path, replace: bool) -> float:
    """Write the folder `out`, whole or not at all; return the largest difference of its vectors."""
    network = model.encoder.network
    require_library()
    with new_folder(out, replace, model.base) as made:
        if model.base is not None:
            modules = copy_base(model.base, made)
            _add_ours(model, made, modules, "TrainedLayer")
        elif model.plain and isinstance(network, DualNetwork):
            _write_plain(network, made)
        else:
            _add_ours(model, made, [], "TrainedTexts")
        write_settings(made / MARK, _about(model))
        (made / CARD).write_text(_readme(model, out.name), encoding="utf-8")
        return max(
            check_same(f"the export of {model.who}", found, expected)
            for found, expected in _compared(model, made)
        )


def _add_ours(model: TextModel, made: Path, modules: Listing, kind: str) -> None:
    """Add a module of xlingual, which holds the model's folder."""
    place = f"{len(modules)}_{kind}"
    shutil.copytree(model.folder.path, made / place, ignore=shutil.ignore_patterns(CHECKPOINT, LOG))
    write_settings(made / place / "module.json", {"language": model.language})
    write_modules(made, modules, [(f"{_OURS}.{kind}", place)])


def _write_plain(network: DualNetwork, made: Path) -> None:
    """Write the network, the pooling of its first token, and unit length: modules of the library."""
    with loading(network.who):
        network.module.question.network.save_pretrained(made)
        network.tokens.tokenizer.save_pretrained(made)
    modules = pooled_network(made, network.config.dim, "cls", network.config.max_length)
    (made / "2_Normalize").mkdir()
    write_modules(made, modules, [(NORMALIZE, "2_Normalize")])


def _compared(model: TextModel, made: Path) -> Iterator[tuple[Vectors, Vectors]]:
    """Yield vectors of the library, and of the model, for every role and language."""
    for language in model.languages or (None,):
        texts = [*TRIED, *_words(model, language)]
        more = {} if language is None else {"language": language}
        tag = language or model.language or "und"
        for role in model.roles:
            batch = Texts(texts, [tag] * len(texts), [str(i) for i in range(len(texts))], role=role)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # of prompts, and of texts that are cut
                expected = model.encoder.encode(batch)
            yield encoded(made, model.who, texts, role, code=not model.plain, **more), expected
    model.encoder.notes()


def _words(model: TextModel, language: str | None) -> list[str]:
    """Return some words that the model knows, where it has lists of them: alone, and as one text."""
    network = model.encoder.network
    if isinstance(network, MlmmeNetwork):
        known = network.vocabularies[str(language)].words
    elif network.config.tower == "words":
        known = network.features.vocabulary.words
    else:
        return []
    some = [word for word in known if word][:_SOME]
    return [*some, " ".join(some)]


def _about(model: TextModel) -> dict[str, object]:
    base = {} if model.base is None else {"base": model.base.identity}
    return {
        "model": identity(model.folder),
        "signature": str(signature(model.folder)),
        **base,
        "languages": list(model.languages),
        "language": model.language,
    }


def _readme(model: TextModel, name: str) -> str:
    """Return the README.md of the folder."""
    needs = (
        "It consists of modules of the library alone."
        if model.plain
        else "Its module is part of xlingual: install that where the model is used, "
        "and let the library import it with `trust_remote_code=True`."
    )
    below = "" if model.base is None else " The licence of the encoder below holds for its part."
    what = (
        f"Texts as unit vectors of {model.dim:,} dimensions, by a model that xlingual trained. {needs}{below}"
    )
    return readme(model.folder, what, _code(model, name), *_remarks(model))


def _code(model: TextModel, name: str) -> str:
    trust = "" if model.plain else ", trust_remote_code=True"
    lines = [
        "from sentence_transformers import SentenceTransformer",
        "",
        f'model = SentenceTransformer("{name}"{trust})',
    ]
    if model.languages:
        lines += [
            f"{_name(tag)} = model.encode(texts, language={json.dumps(tag)})" for tag in model.languages[:2]
        ]
        lines[-1] += "  # all texts of a call have one language"
    else:
        lines += ["questions = model.encode_query(texts)", "answers = model.encode_document(texts)"]
    return python(lines)


def _name(tag: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in tag)


def _remarks(model: TextModel) -> list[str]:
    """Return what a user must know of languages, contexts and images."""
    network = model.encoder.network
    if isinstance(network, MlmmeNetwork):
        default = (
            f"Without `language` texts are taken as `{model.language}`."
            if model.language
            else "A call without `language` is refused."
            if len(model.languages) > 1
            else "`language` may be left out."
        )
        images = " Images are not encoded here: xlingual does." if network.config.picture_dim else ""
        return [
            f"Languages: {listed(model.languages, 40)}, each with an encoder of its own. {default}{images}"
        ]
    if network.config.context:
        return [
            "Answers are read with what surrounds them: give pairs (answer, context) to `encode_document`."
        ]
    return []


def text_model(
    folder: ModelFolder, encoder: Encoder, base: Encoder | None, language: str | None
) -> TextModel:
    """Return the model of an encoder; raise InputError where the language is not one that it takes."""
    if not isinstance(encoder, DualTexts | OnBase | MlmmeTexts):
        raise InputError(f"{folder.path} is a model of the kind {folder.kind}, which encodes no texts")
    if language is not None and isinstance(encoder, MlmmeTexts):
        encoder.check_languages([language])
    elif language is not None:
        raise InputError(
            f"{folder.path} has one encoder for all languages: --language is for models with one for each "
            "(train mlmme): leave it out"
        )
    return TextModel(folder, encoder, base, language)
