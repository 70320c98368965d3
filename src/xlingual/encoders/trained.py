"""`model:DIR` and `model:DIR::SPEC`: encoders that were trained or fitted here, by their recipe.

- MLMME: texts of its languages, and images on top of the image encoder it was trained on;
- Triplet and TripletXL: texts with a title and a body, on top of a text encoder;
- dual encoder: texts by words or a network of transformers, or on top of a text encoder;
- transform: a linear map for each language, on top of a text encoder, as `align` chose it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.base import Encoder, Stacked
from xlingual.encoders.checkpoints import check_sizes
from xlingual.encoders.runtime import Batches, choose_device, loading, require, running
from xlingual.encoders.scheme import DEVICE, IMAGES, TEXTS, Context, Option, Scheme, one_of, positive
from xlingual.encoders.tokens import TextTokens, position_limit
from xlingual.encoders.transform import FittedTransform
from xlingual.encoders.wordlists import UnknownWords
from xlingual.errors import InputError
from xlingual.models.configs import DualEncoderConfig, MlmmeConfig, TripletConfig
from xlingual.models.folder import NETWORK, TRANSFORM, WEIGHTS, ModelFolder
from xlingual.models.texts import (
    FIRST,
    SHARED,
    UNKNOWN,
    TextFeatures,
    ViewReader,
    Vocabulary,
    bags,
    padded,
    padded_numbers,
)
from xlingual.models.words import pretokenized_tokens, tokens
from xlingual.records import Encoded, Texts
from xlingual.transforms.affine import rows_of_each
from xlingual.typed import convert

SCHEME = Scheme(
    "model",
    (TEXTS, IMAGES),
    "a model that xlingual has trained; for images on top of the encoder that it was trained on",
    __name__,
    argument="DIR",
    options=(
        Option("batch", positive, 128, "texts at a time; changes no vector"),
        DEVICE,
        Option(
            "base",
            one_of("same", "trusted"),
            "same",
            "same: only the encoder below that it was trained on; trusted: any of its dimensions",
        ),
    ),
    extra="torch",
    over="may",
)
QUERY, CANDIDATE = "query", "candidate"
_LOCAL = {"local_files_only": True, "trust_remote_code": False}
_COPY = "copy the whole folder of the model anew"

C = TypeVar("C", MlmmeConfig, TripletConfig, DualEncoderConfig)


class TrainedNetwork(Generic[C]):
    """The network of a model's folder, loaded when it is first needed."""

    config_type: ClassVar[Any]
    class_name: ClassVar[str]  # of the module: xlingual.models.MODULE:CLASS

    def __init__(self, folder: ModelFolder, device: str | None = None) -> None:
        self.folder, self.device, self.who = folder, device, f"model:{folder.path}"
        self.space = folder.digest  # vectors of one model are comparable where it is equal
        self.identity = f"model:{folder.kind}:{folder.digest[:16]}"

    @cached_property
    def config(self) -> C:
        """The dimensions and options of the network; InputError where its folder does not describe them."""
        content, kind = self.folder.config["model"], type(self).config_type
        described = f"{self.who}: its config.json does not describe such a model"
        convert(content, kind, where=described, remedy=_COPY)  # its types; below, what clashes or is unknown
        try:
            return cast("C", kind.from_dict(content))
        except (TypeError, ValueError) as error:
            raise InputError(f"{described} ({error}): {_COPY}") from None

    def new_module(self) -> Any:  # noqa: ANN401  (of torch)
        """Make the module, its weights not yet set."""
        module, _, name = self.class_name.partition(":")
        return getattr(import_module(f"xlingual.models.{module}"), name)(self.config, None)

    @cached_property
    def module(self) -> Any:  # noqa: ANN401  (of torch)
        """The module with the model's weights, ready to encode."""
        require(self.who, "torch", "torch")
        weights = self.folder.weights()
        try:
            module = self.new_module()
            module.load_state_dict(weights)
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:  # by settings of other types
            misfit = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError(
                f"{self.who}: its weights do not fit its config.json ({misfit}): {_COPY}"
            ) from None
        self.check_unchanged()
        return module.to(choose_device(self.device, self.who)).eval()

    def run(self, method: str, *inputs: Any) -> Vectors:  # noqa: ANN401  (arrays; words as they are)
        """Compute what a method of the module gives for arrays, float32."""
        module = self.module
        import torch

        device = next(module.parameters()).device
        with running(self.who), torch.inference_mode():
            tensors = [
                part if isinstance(part, str) else torch.tensor(part, device=device) for part in inputs
            ]
            return np.asarray(getattr(module, method)(*tensors).float().cpu().numpy())

    def check_unchanged(self) -> None:
        """Raise InputError where files of the model are others than those its identity is of."""
        if ModelFolder.read(self.folder.path).digest != self.space:
            raise InputError(f"{self.who} changed while it was read: start again")

    def vocabulary(self, name: str, size: int) -> Vocabulary:
        """Read a vocabulary; raise InputError where it has another size than the network."""
        words = self.folder.vocabulary(name)
        if len(words) != size:
            sizes = f"{len(words) - FIRST:,} words, its config.json says {size - FIRST:,}"
            raise InputError(f"{self.who}: the vocabulary of {name} has {sizes}: {_COPY}")
        self.check_unchanged()
        return words


class OnBase(Stacked):
    """A trained network on top of the encoder that it was trained on: `method` of its vectors.

    MLMME: images; Triplet: texts by title and body (`views`); dual encoder: texts.
    """

    network: Any  # TrainedNetwork

    def __init__(
        self,
        network: TrainedNetwork[Any],
        base: Encoder,
        dim: int,
        method: Sequence[str],
        views: ViewReader | None = None,
    ) -> None:
        super().__init__(base)
        self.network, self.dim, self.method, self.views = network, dim, method, views
        self.space = network.space

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether the encoder below has roles; a Triplet is trained on vectors of texts without one."""
        return self.views is None and self.base.by_role

    @property
    def origin(self) -> str | None:  # type: ignore[override]
        """It is fitted in the domain; images are of the kind of the encoder below."""
        return self.base.origin if self.method[0] == "images" else "fitted"

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"{self.network.identity}::{self.base.identity}"

    def inputs(self, batch: Texts, /) -> tuple[Texts, ...]:
        """Give what the encoder below encodes: the batch, or its titles and bodies."""
        return (batch,) if self.views is None else self.views.read(batch)

    def apply(self, *vectors: Vectors) -> Vectors:
        """Give float32 [n, e] for the vectors float32 [n, d] of each input."""
        if (width := vectors[0].shape[1]) != self.dim:
            raise InputError(
                f"{self.network.who} takes vectors of {self.dim} dimensions, and the encoder below it gives "
                f"{width}: name the one that it was trained on"
            )
        arrays = [np.ascontiguousarray(part, dtype=np.float32) for part in vectors]
        if self.method[0] != "images":
            return cast("Vectors", self.network.run(*self.method, *arrays))
        # each once: a matrix product may round equal rows differently, and images are told apart by vectors
        as_bytes = arrays[0].view(np.dtype((np.void, 4 * width)))
        _, first, row = np.unique(as_bytes.ravel(), return_index=True, return_inverse=True)
        return np.asarray(self.network.run(*self.method, arrays[0][first])[row.ravel()])

    def notes(self) -> list[str]:
        """Write how many texts lack a title or a body, since last asked."""
        return [] if self.views is None else self.views.notes()


class TripletNetwork(TrainedNetwork[TripletConfig]):
    """Two layers over vectors of titles and of bodies."""

    config_type = TripletConfig
    class_name = "triplet:Triplet"


class MlmmeNetwork(TrainedNetwork[MlmmeConfig]):
    """A network for each language, and one for images."""

    config_type = MlmmeConfig
    class_name = "mlmme:Mlmme"

    @cached_property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """The words of each language."""
        sizes = self.config.vocabulary_sizes
        return {tag: self.vocabulary(tag, sizes[tag]) for tag in self.config.languages}

    def split(self, text: str, language: str) -> list[str]:
        """List the words of a text."""
        return pretokenized_tokens(text) if self.config.pretokenized else tokens(text, language)

    def numbers(self, words: Sequence[str], language: str) -> list[int]:
        """Give the numbers of those words that are read."""
        return self.vocabularies[language].numbers(words[: self.config.max_length])


class MlmmeTexts(Encoder):
    """Texts of the model's languages as unit vectors float32 [n, joint]; zero where a text has no words.

    Words are split as in training (`models.words`). All that a model does not know are one and the same word.
    """

    origin = "fitted"
    content = ("text", "language")
    languages: tuple[str, ...] = ()

    def __init__(self, network: MlmmeNetwork, batch: int = 128) -> None:
        self.network, self.who, self.space = network, network.who, network.space
        self.languages = network.config.languages
        self.trained_on_images = network.config.picture_dim is not None  # and not on sentences alone
        self._batches, self._unknown = Batches(batch, network.who), UnknownWords()

    @property
    def identity(self) -> str:
        """The kind and the model's digest."""
        return self.network.identity

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give float32 [n, joint], and which texts were cut; unknown words are counted for `notes`."""
        self.check_languages(batch.language)
        network = self.network
        _ = network.module  # its weights are held against its sizes before memory is asked for
        vectors = np.zeros((len(batch), network.config.joint_dim), dtype=np.float32)
        truncated = np.zeros(len(batch), dtype=np.bool_)
        for tag, rows in rows_of_each(batch.language).items():
            words = [network.split(batch.text[row], tag) for row in rows.tolist()]
            numbers = [network.numbers(text, tag) for text in words]
            lengths = np.array(list(map(len, numbers)), dtype=np.int64)
            truncated[rows] = lengths < list(map(len, words))
            self._unknown.add(tag, sum(text.count(UNKNOWN) for text in numbers), int(lengths.sum()))

            def run(rows: Ints, tag: str = tag, numbers: list[list[int]] = numbers) -> Vectors:
                return network.run("texts", tag, *padded_numbers([numbers[row] for row in rows.tolist()]))

            vectors[rows] = self._batches.run(lengths, run, network.config.joint_dim)
        return Encoded(vectors, truncated)

    def notes(self) -> list[str]:
        """Write the share of unknown words, since last asked."""
        return self._unknown.notes(
            f"{self.network.who}: words that it does not know, which are all one to it"
        )


class DualNetwork(TrainedNetwork[DualEncoderConfig]):
    """Towers of questions and answers, over words, tokens or vectors."""

    config_type = DualEncoderConfig

    @cached_property
    def features(self) -> TextFeatures:
        """The numbers of the features of texts, for the tower `words`."""
        config = self.config
        words = self.vocabulary(SHARED, config.features - config.buckets)
        return TextFeatures(words, config.ngrams, config.buckets)

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer, for the tower `transformer`."""
        require(self.who, "st", "torch", "transformers")
        from transformers import AutoTokenizer

        with loading(self.who):
            tokenizer = AutoTokenizer.from_pretrained(self.folder.path / NETWORK, **_LOCAL)
        tokenizer.padding_side = "right"
        return TextTokens(tokenizer, self.config.max_length, self.who)

    def new_module(self) -> Any:  # noqa: ANN401  (a DualEncoder)
        """Make the network without weights."""
        from xlingual.models.dual_encoder import DualEncoder

        if self.config.tower != "transformer":
            return DualEncoder(self.config, None, None)
        require(self.who, "st", "torch", "transformers")
        from transformers import AutoConfig, AutoModel

        folder = self.folder.path / NETWORK
        if not (folder / "config.json").is_file():
            raise InputError(f"{self.who}: {NETWORK} is missing: {_COPY}")
        check_sizes(self.who, folder / "config.json", [self.folder.path / WEIGHTS])
        with loading(self.who):
            settings = AutoConfig.from_pretrained(folder, **_LOCAL)
            network = AutoModel.from_config(settings, trust_remote_code=False)
        limit = position_limit(network, settings)
        if self.config.max_length and limit is not None and self.config.max_length > limit:
            raise InputError(f"{self.who}: reads {limit} tokens at most: {_COPY}")
        return DualEncoder(self.config, None, network)


class DualTexts(Encoder):
    """Texts of any language as unit vectors float32 [n, dim].

    Texts with the role "candidate" are answers, which may be read with their context, or by weights of their
    own; all others are questions. A text is zero where the model knows nothing of it.
    """

    origin = "fitted"
    content: tuple[str, ...] = ("text",)

    def __init__(self, network: DualNetwork, batch: int = 128) -> None:
        self.network, self.space, self._batches = network, network.space, Batches(batch, network.who)
        config = network.config
        by_role = ("role",) if config.separate or config.context else ()
        in_language = ("language",) if config.tower == "words" else ()
        context = ("context",) if config.context else ()
        self.content = ("text", *in_language, *by_role, *context)
        self.by_role = bool(config.separate)

    @property
    def identity(self) -> str:
        """The kind and the model's digest."""
        return self.network.identity

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give float32 [n, dim], and which texts were cut."""
        network, config = self.network, self.network.config
        role = CANDIDATE if batch.role == CANDIDATE else QUERY
        if config.tower == "words":
            texts = with_context(batch) if config.context else batch.text
            numbers = list(map(network.features.of, texts, batch.language))
            lengths, truncated = np.array(list(map(len, numbers)), dtype=np.int64), None
        else:
            paired = config.context and role == CANDIDATE and len(batch.context) > 0
            pieces = network.tokens.pieces(list(batch.text), list(batch.context) if paired else ())
            lengths, truncated = pieces.lengths, pieces.truncated

        def run(rows: Ints) -> Vectors:
            arrays: tuple[Ints, ...]
            if config.tower == "words":
                arrays = bags([numbers[row] for row in rows.tolist()])
            else:
                features = [pieces.features[row] for row in rows.tolist()]
                arrays = padded(features, network.tokens.tokenizer.pad_token_id or 0)
            return network.run("encode", role, *arrays)

        return Encoded(self._batches.run(lengths, run, config.dim), truncated)


def with_context(batch: Texts) -> list[str]:
    """Give each text, and behind an answer what surrounds it."""
    if batch.role != CANDIDATE or not len(batch.context):
        return list(batch.text)
    return [f"{text} {around}".rstrip() for text, around in zip(batch.text, batch.context, strict=True)]


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; raise InputError where the folder is no model, or has another base."""
    folder, device, images = ModelFolder.read(argument), options["device"], context.kind == IMAGES
    who, kind, batch = f"model:{folder.path}", folder.kind, options["batch"]
    mlmme, dual = MlmmeNetwork(folder, device), DualNetwork(folder, device)
    if images and (kind != "mlmme" or mlmme.config.picture_dim is None):
        raise InputError(f"{who} was trained without images and encodes texts only")
    alone: Encoder | None = None
    if kind == "mlmme" and not images:
        alone = MlmmeTexts(mlmme, batch)
    elif kind == "dual-encoder" and dual.config.tower != "vectors":
        alone = DualTexts(dual, batch)
    if alone is not None:
        if context.base is not None:
            raise InputError(f"{who} reads texts itself: leave out '::' and what follows")
        return alone
    base = check_base(folder, context.base, options["base"] == "trusted")
    if kind == TRANSFORM:
        return FittedTransform(folder, base)
    if kind == "mlmme":
        return OnBase(mlmme, base, mlmme.config.picture_dim or 0, ("images",))
    if kind == "dual-encoder":
        return OnBase(dual, base, dual.config.dim, ("encode", QUERY))
    triplet = TripletNetwork(folder, device)
    config = triplet.config
    views = ViewReader(who, config.title, config.body, config.split)
    return OnBase(triplet, base, config.base_dim, ("represent",), views)


def check_base(folder: ModelFolder, base: Encoder | None, trusted: bool) -> Encoder:
    """Give the encoder below; raise InputError where it is absent or not the one that was trained on.

    `trusted`: any encoder will do. Dimensions are checked when there are vectors.
    """
    trained, who = folder.config.get("base"), f"model:{folder.path}"
    if trained is None:
        raise InputError(f"{who} was trained on texts alone: it stands on no other encoder")
    name = trained.get("name") or trained["identity"]
    if base is None or (base.identity != trained["identity"] and not trusted):
        below = "nothing" if base is None else base.identity[:60]
        raise InputError(
            f"{who} was trained on {name} ({trained['identity'][:60]}, {trained['dim']} dimensions), and "
            f"{below} is below it: write {who}::SPEC, with ?base=trusted if both give vectors of one model"
        )
    return base
