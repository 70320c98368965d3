"""Encoders of the training loop: the model that is trained, and images, which stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from xlingual.arrays import Vectors
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import Adapter, Encoder
from xlingual.encoders.checkpoints import DENSE
from xlingual.encoders.network import kind_of_model, model_vectors, similarity_of
from xlingual.encoders.runtime import distinct_rows
from xlingual.errors import InputError
from xlingual.records import Images, Texts, digest
from xlingual.store import Store

MODEL = "model"  # the trained model's name in results


class TrainedModel(Encoder):
    """The model that is trained, as an encoder: texts by their role, equal texts once."""

    has_own_identity = False  # it is another one at each step
    origin = "fitted"
    name = MODEL

    def __init__(
        self,
        model: Any,  # noqa: ANN401  (a SentenceTransformer)
        encoding: Mapping[str, Any],
        prompts: Mapping[str, Mapping[str, Any]],
        when: str,
    ) -> None:
        self.model, self.encoding, self.prompts, self.when = model, encoding, prompts, when

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether a text may have another vector as a query than as a candidate."""
        if kind_of_model(self.model) != DENSE:
            return True
        own = any((getattr(self.model, "prompts", None) or {}).values())
        given = any(text is not None for side in self.prompts.values() for text in side.values())
        parts = self.model.modules() if callable(getattr(self.model, "modules", None)) else ()
        return own or given or any(type(part).__name__ in ("Router", "Asym") for part in parts)

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model compares vectors."""
        return similarity_of(self.model)

    @property
    def identity(self) -> str:
        """The class of the model, and when in the training it is evaluated."""
        kind = type(self.model)
        return f"python:{kind.__module__}.{kind.__qualname__}?{self.when}"

    def encode(self, batch: Texts, /) -> Vectors:
        """Give the vectors of texts in the model's own form, as the library's evaluators make them."""
        texts, index = distinct_rows(batch.text)
        sides = self.prompts.get(batch.role or "", {})
        named = {key: text for key, text in sides.items() if text is not None}
        kind, options = kind_of_model(self.model), {**self.encoding, **named}
        if kind == DENSE:
            vectors = model_vectors(self.model, kind, texts, batch.role, **options)
        else:  # of the options of dense vectors they know the size of batches alone
            size = self.encoding.get("batch_size") or 32
            vectors = model_vectors(self.model, kind, texts, batch.role, batch_size=size, **named)
        if getattr(vectors, "ndim", 2) != 2 or len(vectors) != len(texts):
            raise InputError(
                f"the model ({type(self.model).__name__}) returned an array of shape "
                f"{np.shape(vectors)} for {len(texts):,} texts; expected ({len(texts)}, d)"
            )
        return cast("Vectors", vectors[index])


def check_model(model: Any) -> None:  # noqa: ANN401
    """Raise InputError where there is no model but a path, or what encodes no texts."""
    if isinstance(model, str | Path):
        raise InputError(
            f"an evaluator takes the model that is trained, not the path {str(model)!r}: call it with "
            f"SentenceTransformer({str(model)!r})"
        )
    if not callable(getattr(model, "encode", None)):
        raise InputError(
            f"an evaluator takes the model that is trained, and a {type(model).__name__} has no method "
            "encode: call it with a SentenceTransformer, a SparseEncoder or a MultiVectorEncoder"
        )


class RememberedImages(Adapter):
    """An encoder of images that encodes none twice."""

    content = ()  # the store has the base's vectors

    def __init__(self, name: str, base: Encoder, store: Store | None = None) -> None:
        super().__init__(base)
        self.name, self.store = name, store
        self.rows: dict[
            tuple[str, str, bytes | Path | None], Vectors
        ] = {}  # by the row that shows it, and the image

    @property
    def identity(self) -> str:
        """That of the encoder, whose vectors these are."""
        return self.base.identity

    def encode(self, batch: Images, /) -> Vectors:
        """Return the vectors of images, and encode those that are new."""
        keys = list(zip(batch.language, batch.ids, self._images(batch), strict=True))
        new = np.array([row for row, key in enumerate(keys) if key not in self.rows], dtype=np.int64)
        if len(new):
            source = VectorSource(f"image encoder {self.name!r}", "encoding images", self.store)
            vectors = encode(self.base, batch.take(new), source).vectors
            self.rows |= {keys[row]: vector for row, vector in zip(new.tolist(), vectors, strict=True)}
        return np.stack([self.rows[key] for key in keys])

    def _images(self, batch: Images) -> list[bytes | Path | None]:
        """Return what tells the images of one row from each other; a file has one vector of a row."""
        if not self.opens_images:
            return [None] * len(batch)
        return [
            digest(source) if isinstance(source, bytes) else cast("Path", source) for source in batch.source
        ]
