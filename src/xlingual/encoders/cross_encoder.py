"""Cross-encoders of sentence-transformers: one score for each pair of a query and a candidate.

A pair is a row of `Texts`, the candidate its text and the query its context, and its score a vector of one
number. So pairs are scored once, kept in the store and resumed as vectors are. Scores are the model's
logits: a sigmoid rounds the best ones to 1, which would tie them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import (
    PAIRS,
    check_tokenizer,
    check_weights,
    model_folder,
    user_path,
)
from xlingual.encoders.networks import NetworkEncoder
from xlingual.encoders.objects import is_a, name_of, unnamed
from xlingual.encoders.remote_code import OPTION, checked, pinned_commit, say
from xlingual.encoders.state_digest import Digested, is_plain, model_digest
from xlingual.encoders.tokens import chosen_limit, stated_limit
from xlingual.encoders.torch_runtime import (
    choose_device,
    loading,
    randomly_initialized,
    refuse_random,
    require,
    running,
    torch_dtype,
)
from xlingual.encoders.transformer_text import position_limit
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

_SHOWN = {"show_progress_bar": False}
_BATCH = 32


class CrossEncoderFolder(NetworkEncoder):
    """A cross-encoder in a folder, loaded when it is first used."""

    has_head = False  # a classifier is what it must be
    kinds = (PAIRS,)
    content = ("text", "context")

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        check_weights(who, folder, modules=True)
        check_tokenizer(who, folder, modules=True)

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files, and the options that change scores."""
        options = self.stated("dtype", "max_length", OPTION)
        return f"cross-encoder:{self.digest}?{options}{self.stated_device()}"

    @cached_property
    def model(self) -> Any:  # noqa: ANN401  (a CrossEncoder)
        """The model, read from the files that the identity is of."""
        from sentence_transformers import CrossEncoder

        device, dtype = choose_device(self.options["device"], self.who), torch_dtype(self.options["dtype"])
        runs_code = self.runs_code
        if runs_code:
            say(self.who, self.options)
        # before version 4 of the library another name
        known = inspect.signature(CrossEncoder.__init__).parameters
        loads = "automodel_args" if "automodel_args" in known else "model_kwargs"
        with self.unchanged(), loading(self.who) as messages:
            model: Any = CrossEncoder(
                str(self.folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=runs_code,
                **{loads: {"use_safetensors": True, "dtype": dtype}},
            )
        kind = str(getattr(_network(model).config, "model_type", "?"))
        refuse_random(self.who, randomly_initialized(messages), kind)
        can = position_limit(_network(model), _network(model).config)
        wanted = chosen_limit(self.who, self.options["max_length"], can, stated_limit(model.tokenizer))
        if wanted is not None:
            setattr(model, _limit_name(model), wanted)
            model.tokenizer.model_max_length = wanted
        return model

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the scores of pairs, float32 [n, 1], and which were cut."""
        return scored(self.model, batch, self.who, self.options["batch"])


class CrossEncoderObject(Digested, Encoder):
    """A loaded cross-encoder; or any object with `predict`, which gives pairs (query, candidate) a score."""

    opens_images = False

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        self.model, self.who = model, f"re-ranker {name_of(model)!r}"
        self._known = is_a(model, "sentence_transformers", PAIRS) and hasattr(model, "state_dict")

    @cached_property
    def identity(self) -> str:
        """A digest of the weights, the tokenizer and the settings."""
        if not self.has_own_identity:
            return unnamed(self.model, self.label)
        return f"cross-encoder:weights-{model_digest(self.model)}?max_length={_limit(self.model)}"

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether the weights and settings tell all."""
        return self._known and is_plain(self.model)

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its score depends on."""
        return ("text", "context")

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the scores of pairs, float32 [n, 1], and which were cut; it may be in training."""
        if not self._known:
            found = self.model.predict(_pairs(batch))
            return Encoded(_one_score(np.asarray(found, dtype=np.float32), batch, self.who))
        training = self.model.training
        try:
            return scored(self.model, batch, self.who, _BATCH)
        finally:
            self.model.train(training)


def scored(model: Any, batch: Texts, who: str, size: int) -> Encoded:  # noqa: ANN401
    """Return the logits of pairs as a cross-encoder of the library gives them, and which pairs were cut."""
    import torch

    pairs = _pairs(batch)
    if not pairs:
        return Encoded(np.empty((0, 1), dtype=np.float32), np.zeros(0, dtype=np.bool_))
    # before version 4 of the library another name
    known = inspect.signature(model.predict).parameters
    named = "activation_fct" if "activation_fct" in known else "activation_fn"
    with running(who):
        found = model.predict(pairs, batch_size=size, **{named: torch.nn.Identity()}, **_SHOWN)
    return Encoded(_one_score(np.asarray(found, dtype=np.float32), batch, who), _cut(model, pairs))


def _pairs(batch: Texts) -> list[tuple[str, str]]:
    return list(zip(batch.context, batch.text, strict=True))


def _one_score(found: np.ndarray, batch: Texts, who: str) -> np.ndarray:
    count = len(batch)
    if found.size != count and found.ndim == 2 and len(found) == count:
        raise InputError(
            f"{who}: gives each pair {found.shape[1]} numbers, and re-ranking needs one score: is it a "
            "classifier (of entailment, say)?"
        )
    if found.size != count:
        scores = "1 score" if found.size == 1 else f"{found.size:,} scores"
        raise InputError(
            f"{who}: returned {scores} for {count:,} {'pair' if count == 1 else 'pairs'}: return one for each"
        )
    if len(bad := np.flatnonzero(~np.isfinite(found.reshape(-1)))):
        row = int(bad[0])
        raise InputError(
            f"{who}: the score of the pair ({batch.context[row]!r:.60}, {batch.text[row]!r:.60}) is "
            f"{found.reshape(-1)[row]}: return a finite number for each pair"
        )
    return found.reshape(count, 1)


def _cut(model: Any, pairs: Sequence[tuple[str, str]]) -> np.ndarray:  # noqa: ANN401
    """Return which pairs have more tokens than the model reads, bool [n]."""
    limit, tokenizer = _limit(model), getattr(model, "tokenizer", None)
    if limit is None or not callable(tokenizer):
        return np.zeros(len(pairs), dtype=np.bool_)
    tokens = tokenizer(*map(list, zip(*pairs, strict=True)), truncation=False, verbose=False)["input_ids"]
    return np.array([len(one) > limit for one in tokens], dtype=np.bool_)


def _limit(model: Any) -> int | None:  # noqa: ANN401
    found = getattr(model, _limit_name(model), None)
    return found if isinstance(found, int) else stated_limit(getattr(model, "tokenizer", None))


def _limit_name(model: Any) -> str:  # noqa: ANN401
    """Return what the library calls the limit; before version 6 another name."""
    return "max_seq_length" if hasattr(model, "max_seq_length") else "max_length"


def _network(model: Any) -> Any:  # noqa: ANN401
    """Return the network of transformers, which is an attribute in some versions of the library."""
    return model.model if hasattr(getattr(model, "model", None), "config") else model[0].auto_model


def folder_of(argument: str, options: Mapping[str, Any], who: str) -> CrossEncoderFolder:
    """Return the cross-encoder that a spec names; it is found, and fetched where need be, but not loaded."""
    require(who, "st", "torch", "transformers", "sentence_transformers")
    code = None if user_path(who, argument).is_dir() else pinned_commit(who, options)
    folder = model_folder(who, argument, code or options["revision"], "st", with_code=code is not None)
    found: CrossEncoderFolder = checked(CrossEncoderFolder(folder, options, who), code)
    return found


def adapter_of(model: Any) -> Encoder:  # noqa: ANN401
    """Return what scores pairs with a loaded model; raise InputError where it cannot."""
    if not callable(getattr(model, "predict", None)):
        raise InputError(
            f"a re-ranker is a CrossEncoder, or an object with predict([(query, candidate), …]); found a "
            f"{type(model).__name__}"
        )
    return CrossEncoderObject(model)
