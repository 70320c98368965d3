"""Trained models as modules of sentence-transformers: what is exported, and the modules of our own in it.

A folder's `modules.json` names the modules of our own:

model = SentenceTransformer("OUT", trust_remote_code=True)
model.encode_query(questions), model.encode_document(answers)  # a dual encoder
model.encode(texts, language="de")  # a model with an encoder for each language
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

import numpy as np
import torch
from safetensors.torch import save_file
from sentence_transformers.models import Dense, InputModule, Module, Normalize, Pooling, Transformer
from torch import Tensor, nn, tensor

from xlingual.arrays import Vectors
from xlingual.encoders.network import Network, whole_dim
from xlingual.encoders.runtime import loading
from xlingual.encoders.scheme import Context
from xlingual.encoders.trained import (
    CANDIDATE,
    QUERY,
    DualNetwork,
    MlmmeNetwork,
    TripletNetwork,
    build,
    with_context,
)
from xlingual.encoders.transform import FittedTransform, map_of
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.models.card import comparing, languages, place_name
from xlingual.models.folder import CHECKPOINT, LOG, WEIGHTS, ModelFolder
from xlingual.models.texts import bags, padded, padded_numbers
from xlingual.records import Texts
from xlingual.transforms.affine import Affine

SETTINGS = "module.json"  # of the module, in the model's folder
_DOCUMENT = ("document", "passage", "corpus", CANDIDATE)  # tasks that mean an answer
_PART = "xlingual_{}"
_PLAIN = ("vectors = model.encode(texts)",)
_BY_ROLE = ("questions = model.encode_query(asked)", "answers = model.encode_document(texts)")
_OPTIONS = {"device": "cpu", "batch": 128, "base": None}  # of `model:`
_WORDS = 24  # words of a vocabulary that an export is tried on


class _Trained(Module):  # type: ignore[misc]  # the library is untyped here
    """A model folder as a module."""

    config_keys: ClassVar[list[str]] = ["language"]

    def __init__(self, folder: str | Path, language: str | None = None) -> None:
        super().__init__()
        self.folder, self.language = ModelFolder.read(folder), language
        kind = MlmmeNetwork if self.folder.kind == "mlmme" else DualNetwork
        self.trained: Any = kind(self.folder, "cpu")
        self.network = self.trained.module

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **more: Any) -> Self:  # noqa: ANN401
        """Read the module from its folder."""
        names = ("token", "cache_folder", "revision", "local_files_only")
        options = {name: more[name] for name in names if name in more}
        place = Path(cls.load_dir_path(model_name_or_path, subfolder=subfolder, **options))
        return cls(place, **json.loads((place / SETTINGS).read_text(encoding="utf-8")))

    def save(self, output_path: str, *args: Any, **more: Any) -> None:  # noqa: ANN401
        """Write the folder of the model, with the weights as they are now."""
        out = Path(output_path)
        left_out = shutil.ignore_patterns(CHECKPOINT, LOG, WEIGHTS)
        shutil.copytree(self.folder.path, out, ignore=left_out, dirs_exist_ok=True)
        weights = {name: each.detach().cpu().contiguous() for name, each in self.network.state_dict().items()}
        save_file(weights, out / WEIGHTS)
        (out / SETTINGS).write_text(json.dumps(self.get_config_dict()) + "\n", encoding="utf-8")

    def get_sentence_embedding_dimension(self) -> int:
        """Return the number of dimensions of a vector."""
        config = self.trained.config
        return int(config.joint_dim if self.folder.kind == "mlmme" else config.dim)

    get_embedding_dimension = get_sentence_embedding_dimension


class TrainedTexts(_Trained, InputModule):  # type: ignore[misc]
    """The first and only module of a dual encoder that reads texts, or of an MLMME.

    `task`, which `encode_query` and `encode_document` give, says whether texts are questions or answers;
    without it they are questions. A text may be a pair (answer, what surrounds it). `language` is that of all
    texts of a call; an MLMME needs one, unless the module has one of its own.
    """

    forward_kwargs: ClassVar[set[str]] = {"task", "language"}
    save_in_root = False

    def preprocess(
        self,
        inputs: Sequence[Any],
        prompt: str | None = None,
        task: str | None = None,
        language: str | None = None,
        **more: Any,  # noqa: ANN401
    ) -> dict[str, Tensor]:
        """Return what the network reads of texts, or of pairs of a text and its context."""
        pairs = [(one, "") if isinstance(one, str) else tuple(one) for one in inputs]
        texts = [(prompt or "") + text for text, _ in pairs]
        parts = self._parts(texts, [around for _, around in pairs], _role(task), self._language(language))
        return {_PART.format(i): torch.as_tensor(part) for i, part in enumerate(parts)}

    def tokenize(self, texts: Sequence[Any], **more: Any) -> dict[str, Tensor]:  # noqa: ANN401
        """Return the same, for versions of the library that ask so."""
        return self.preprocess(texts, **more)

    def forward(
        self,
        features: dict[str, Any],
        task: str | None = None,
        language: str | None = None,
        **more: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """Add the vectors of the texts."""
        parts = [features[name] for i in range(len(features)) if (name := _PART.format(i)) in features]
        if self.folder.kind == "mlmme":
            vectors = self.network.texts(self._language(language), *parts)
        else:
            vectors = self.network.encode(_role(task), *parts)
        return {**features, "sentence_embedding": vectors.float()}

    def _parts(self, texts: list[str], contexts: list[str], role: str, language: str) -> Sequence[Any]:
        if self.folder.kind == "mlmme":
            split, numbers = self.trained.split, self.trained.numbers
            return padded_numbers([numbers(split(text, language), language) for text in texts])
        config, n = self.trained.config, len(texts)
        batch = Texts(texts, [language] * n, [""] * n, role=role, context=contexts if any(contexts) else ())
        if config.tower == "words":
            read = with_context(batch) if config.context else texts
            return bags([self.trained.features.of(text, language) for text in read])
        paired = config.context and role == CANDIDATE and any(contexts)
        tokens = self.trained.tokens
        return padded(
            tokens.pieces(texts, contexts if paired else ()).features, tokens.tokenizer.pad_token_id or 0
        )

    def _language(self, given: str | None) -> str:
        """Return the language of a call; raise InputError where an MLMME knows none."""
        chosen = given or self.language
        if self.folder.kind != "mlmme":
            return chosen or "und"
        languages = self.trained.config.languages
        if chosen is None and len(languages) == 1:
            return str(languages[0])
        if chosen is None:
            raise InputError(
                f"the model has an encoder for each of {listed(languages, 20)}: say which, as in "
                f"encode(texts, language={languages[0]!r}), or export it with --language"
            )
        if chosen not in languages:
            near = did_you_mean(chosen, languages)
            raise InputError(
                f"language {chosen!r} is unknown to the model.{near} It knows {listed(languages, 20)}"
            )
        return chosen


class TrainedLayer(_Trained):
    """The last module of a dual encoder that stands on another encoder of texts: its layer."""

    def forward(self, features: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Replace the vectors by the model's."""
        vectors = self.network.encode(QUERY, features["sentence_embedding"].float())
        return {**features, "sentence_embedding": vectors}


def _role(task: str | None) -> str:
    return CANDIDATE if task in _DOCUMENT else QUERY


@dataclass(frozen=True)
class Export:
    """A model in modules of the library, and what they must give."""

    modules: Sequence[Any]
    encode: Callable[[Texts], Vectors]
    dim: int
    what: str  # it is, for its README.md
    remarks: str = ""
    usage: Sequence[str] = _PLAIN  # lines of code
    about: Mapping[str, Any] = field(default_factory=dict)
    base: Network | None = None
    by_role: bool = False
    language: str | None = None  # of texts whose language is not named
    tried: Mapping[str | None, Sequence[str]] = field(default_factory=dict)  # texts by the language of a call
    trusted: bool = False  # a module is one of xlingual, which the library imports on request only


def triplet_export(folder: ModelFolder, base: Network, field: str | None) -> Export:
    """Put the two dense layers of a field, and unit length where the model has it, behind the base."""
    network = TripletNetwork(folder, "cpu")
    config, weights = network.config, folder.weights()
    if len(config.towers) == 1 and field is not None:
        raise InputError(f"{network.who} has one set of layers for title and body: leave --field out")
    if len(config.towers) > 1 and field is None:
        raise InputError(
            f"{network.who} has separate layers for title and body: export each, with --field title and "
            "with --field body"
        )
    tower, modules = field or config.towers[0], list(base.model)
    for layer in ("first", "second"):
        weight, bias = (weights[f"towers.{tower}.{layer}.{part}"] for part in ("weight", "bias"))
        wide = (layer == "first" and whole_dim(base.model)) or weight.shape[1]
        weight = nn.functional.pad(weight, (0, wide - weight.shape[1]))  # where the base's vectors are cut
        modules.append(_dense(weight, bias, nn.ReLU()))
    if config.scaling == "unit":
        modules.append(Normalize())

    def half(batch: Texts) -> Vectors:
        vectors = base.encode(batch)
        both = network.run("represent", vectors, vectors)
        return both[:, config.out_dim :] if tower == "body" else both[:, : config.out_dim]

    views = f"{config.title}, {config.body}" if config.split is None else f"split: {config.split}"
    reads = {"title": "titles alone", "body": "bodies alone"}.get(tower, "titles and bodies")
    return Export(
        modules,
        half,
        config.out_dim,
        f"A frozen encoder of texts (`{base.identity}`) and two dense layers with ReLU, trained by xlingual. "
        f"It gives half of the model's vector, {config.out_dim:,} dimensions, of {reads} ({views}).",
        "The whole vector is `np.hstack([title, body])`. Where a title or a body is empty, the other stands "
        "for it: encode it in both places.",
        about={"field": tower, "views": views, "scaling": config.scaling},
        base=base,
    )


def mapped_export(folder: ModelFolder, base: Network, language: str | None) -> Export:
    """Put unit length and the map of a language behind the base, as a dense layer without activation."""
    map = map_of(folder)
    matrix, offset = map.of(_place(folder, map, language))
    matrix = np.eye(map.dim) if matrix is None else matrix
    modules = list(base.model)
    if (whole := whole_dim(base.model) or 0) > map.dim:  # the base's vectors are cut
        modules.append(_dense(tensor(np.eye(map.dim, whole)), None, nn.Identity()))
    modules += [Normalize(), _dense(tensor(matrix.T), tensor(offset), nn.Identity())]
    return Export(
        modules,
        FittedTransform(folder, base).encode,
        int(offset.shape[0]),
        f"A frozen encoder of texts, `{base.identity}`, and a linear map of its vectors that xlingual chose "
        f"and tested{f', for texts in `{language}`' if language else ''}.",
        comparing(folder),
        usage=_BY_ROLE if base.by_role else _PLAIN,
        about={"languages": map.places, "language": language or map.places[0]},
        base=base,
        by_role=base.by_role,
        language=language or map.places[0],
    )


def _place(folder: ModelFolder, map: Affine, language: str | None) -> str | None:
    """Find the place of a language among the maps."""
    places, names = map.places, listed([place_name(tag) for tag in map.places], 20)
    if language is None and len(places) > 1:
        raise InputError(
            f"model:{folder.path} has a map for each of {names}, and nothing in a text says which: export a "
            "folder for each, with --language TAG"
        )
    if language is not None and places == [None]:
        raise InputError(f"model:{folder.path} maps texts of all languages alike: leave --language out")
    if language is None or language in places:
        return language or places[0]
    if None not in places:
        map.of(language)  # raises, and says which languages there are
    return None


def dual_export(folder: ModelFolder, base: Network | None = None) -> Export:
    """Make the modules of a dual encoder: those of the library where its tower is a plain network."""
    network = DualNetwork(folder, "cpu")
    config = network.config
    plain = config.tower == "transformer" and not (config.separate or config.context)
    modules = _plain(network) if plain else [TrainedTexts(folder.path)]
    if base is not None:
        modules = [*base.model, TrainedLayer(folder.path)]
    words = network.features.vocabulary.words if config.tower == "words" else []
    context = "Answers are read with what surrounds them: give pairs (answer, context) to `encode_document`."
    return Export(
        modules,
        build(str(folder.path), _OPTIONS, Context(languages(folder.config), base=base)).encode,
        config.dim,
        f"Questions and answers as unit vectors of {config.dim:,} dimensions, by a dual encoder.",
        context if config.context else "",
        usage=_BY_ROLE,
        base=base,
        by_role=True,
        tried={None: _some(words)},
        trusted=not plain,
    )


def _plain(network: DualNetwork) -> list[Any]:
    """Make the network, the pooling of its first token, and unit length."""
    with TemporaryDirectory() as folder, loading(network.who):
        network.module.question.network.save_pretrained(folder)
        network.tokens.tokenizer.save_pretrained(folder)
        body = Transformer(folder, max_seq_length=network.config.max_length)
    return [body, Pooling(network.config.dim, pooling_mode="cls"), Normalize()]


def mlmme_export(folder: ModelFolder, language: str | None) -> Export:
    """Make the module of an MLMME, which has an encoder for each language."""
    network = MlmmeNetwork(folder, "cpu")
    tags, encoder = (
        network.config.languages,
        build(str(folder.path), _OPTIONS, Context(network.config.languages)),
    )
    if language is not None:
        encoder.check_languages([language])
    default = f"Without `language` texts are taken as `{language}`." if language else ""
    if language is None and len(tags) > 1:
        default = "A call without `language` is refused."
    return Export(
        [TrainedTexts(folder.path, language)],
        encoder.encode,
        network.config.joint_dim,
        f"Texts in {listed(tags, 40)} as unit vectors of {network.config.joint_dim:,} dimensions, by an "
        "encoder for each language.",
        default,
        usage=[f"vectors = model.encode(texts, language={json.dumps(tag)})" for tag in tags[:2]],
        about={"languages": list(tags), "language": language},
        tried={tag: _some(network.vocabularies[tag].words) for tag in tags},
        trusted=True,
    )


def _some(words: Sequence[str]) -> list[str]:
    """Take some words of a vocabulary: each alone, and all as one text."""
    some = [word for word in words if word][:_WORDS]
    return [*some, " ".join(some)] if some else []


def _dense(weight: Any, bias: Any, activation: Any) -> Any:  # noqa: ANN401  (tensors, a module of torch)

    start = None if bias is None else bias.float()
    sizes = weight.shape[1], weight.shape[0], bias is not None
    return Dense(*sizes, activation, init_weight=weight.float(), init_bias=start)
