"""What sentence-transformers loads: evaluators for its training, and modules with a model trained here.

A folder's `modules.json` names the modules:

model = SentenceTransformer("OUT", trust_remote_code=True)
model.encode_query(questions), model.encode_document(answers)  # a dual encoder
model.encode(texts, language="de")  # a model with an encoder for each language
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors.torch import save_file
from sentence_transformers.models import InputModule, Module
from torch import Tensor

from xlingual.encoders.trained import CANDIDATE, QUERY, DualNetwork, MlmmeNetwork, with_context
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.integrations.evaluators import (
    BackretrievalEvaluator,
    CrosslingualRetrievalEvaluator,
    MultilingualPoolEvaluator,
)
from xlingual.models.batches import bags, padded, padded_numbers
from xlingual.models.folder import CHECKPOINT, LOG, WEIGHTS, ModelFolder
from xlingual.records import Texts

__all__ = [
    "BackretrievalEvaluator",
    "CrosslingualRetrievalEvaluator",
    "MultilingualPoolEvaluator",
    "TrainedLayer",
    "TrainedTexts",
]

SETTINGS = "module.json"  # of the module, in the model's folder
_DOCUMENT = ("document", "passage", "corpus", CANDIDATE)  # tasks that mean an answer
_PART = "xlingual_{}"


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
        known = ("token", "cache_folder", "revision", "local_files_only")
        given = {name: more[name] for name in known if name in more}
        place = Path(cls.load_dir_path(model_name_or_path, subfolder=subfolder, **given))
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
            found = self.network.texts(self._language(language), *parts)
        else:
            found = self.network.encode(_role(task), *parts)
        return {**features, "sentence_embedding": found.float()}

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
        known = self.trained.config.languages
        if chosen is None and len(known) == 1:
            return str(known[0])
        if chosen is None:
            raise InputError(
                f"the model has an encoder for each of {listed(known, 20)}: say which, as in "
                f"encode(texts, language={known[0]!r}), or export it with --language"
            )
        if chosen not in known:
            near = did_you_mean(chosen, known)
            raise InputError(
                f"language {chosen!r} is unknown to the model.{near} It knows {listed(known, 20)}"
            )
        return chosen


class TrainedLayer(_Trained):
    """The last module of a dual encoder that stands on another encoder of texts: its layer."""

    def forward(self, features: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Replace the vectors by the model's."""
        found = self.network.encode(QUERY, features["sentence_embedding"].float())
        return {**features, "sentence_embedding": found}


def _role(task: str | None) -> str:
    return CANDIDATE if task in _DOCUMENT else QUERY
