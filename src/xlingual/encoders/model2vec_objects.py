"""A StaticModel of model2vec as an encoder: means of token vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.state_digest import Digested, arrays_digest
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts


class StaticModelObject(Digested, Encoder):
    """A StaticModel as it is; texts that are longer than it reads are noted."""

    origin = "general"
    content = ("text",)

    def __init__(self, model: Any) -> None:  # noqa: ANN401  (of model2vec)
        self.model = model

    @cached_property
    def identity(self) -> str:
        """A digest of vectors, weights, tokenizer and settings."""
        model = self.model
        arrays = (model.embedding, getattr(model, "weights", None), getattr(model, "token_mapping", None))
        settings = (bool(model.normalize), self._limit, model.tokenizer.to_str())
        return f"model2vec:{arrays_digest(arrays, *settings)}"

    @property
    def _limit(self) -> int | None:
        return getattr(self.model, "max_length", 512)  # what earlier versions read

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return float32 [n, d], and which texts were cut."""
        distinct, index = distinct_rows(batch.text)
        texts = list(distinct)
        if not texts:
            return Encoded(np.empty((0, self.model.dim), dtype=np.float32))
        found = np.asarray(self.model.encode(texts, show_progress_bar=False), dtype=np.float32)
        return Encoded(found[index], self._cut(texts)[index])

    def _cut(self, texts: list[str]) -> np.ndarray:
        """Return which texts have more tokens than are read; the model cuts characters first, then tokens."""
        if self._limit is None:
            return np.zeros(len(texts), dtype=np.bool_)
        characters = self._limit * int(getattr(self.model, "median_token_length", 0) or 10**9)
        tokenizer = self.model.tokenizer
        rows = tokenizer.encode_batch(texts, add_special_tokens=False)
        return np.array(
            [len(text) > characters or bool(row.overflowing) or len(row.ids) > self._limit
             for text, row in zip(texts, rows, strict=True)]
        )  # fmt: skip


def adapter_of(entry: Any, kind: str) -> StaticModelObject:  # noqa: ANN401
    """Return the encoder; raise InputError where images are asked for."""
    if kind != "texts":
        raise InputError("a StaticModel of model2vec embeds texts: for images give another encoder")
    return StaticModelObject(entry)
