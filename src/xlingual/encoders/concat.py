"""`concat:…::SPEC`: title and body through the encoder below, side by side; nothing is learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder, Stacked
from xlingual.encoders.scheme import TEXTS, Context, Option, Scheme, not_empty, one_of
from xlingual.errors import InputError
from xlingual.models.texts import ViewReader
from xlingual.records import Texts
from xlingual.transforms.affine import unit_rows

SCHEME = Scheme(
    "concat",
    (TEXTS,),
    "title and body, each encoded by the encoder below, side by side",
    __name__,
    options=(
        Option("title", not_empty, "title", "column of titles"),
        Option("body", not_empty, "body", 'column of bodies; "text" is the text itself'),
        Option(
            "split",
            one_of("first-sentence", "halves"),
            None,
            "make title and body of the text itself: its first sentence and the rest, or its halves",
        ),
    ),
    over="must",
)


class ConcatTexts(Stacked):
    """Texts with a title and a body as float32 [n, 2·d]: what Triplet's layers get, without the layers.

    Each half has length 1, so that the cosine of two texts is the mean of the cosines of their titles and of
    their bodies. A zero half stays zero.
    """

    def __init__(self, base: Encoder, title: str, body: str, split: str | None) -> None:
        super().__init__(base)
        remedy = "Name the columns with title= and body=, or split the text itself with split="
        self._views = ViewReader("concat", title, body, split, remedy)

    @property
    def identity(self) -> str:
        """The columns, and the identity of the encoder below."""
        views = self._views
        columns = f"split={views.split}" if views.split else f"title={views.title}&body={views.body}"
        return f"concat:{columns}::{self.base.identity}"

    def inputs(self, batch: Texts, /) -> tuple[Texts, Texts]:
        """Give what the encoder below encodes: the titles and the bodies."""
        return self._views.read(batch)

    def apply(self, *vectors: Vectors) -> Vectors:
        """Give float32 [n, 2·d] for the base's vectors float32 [n, d] of titles and of bodies."""
        return np.concatenate([unit_rows(half) for half in vectors], axis=1, dtype=np.float32)

    def notes(self) -> list[str]:
        """Write how many texts lack one of the two views, since last asked."""
        return self._views.notes()


def build(argument: str, options: Mapping[str, Any], context: Context) -> ConcatTexts:
    """Make the encoder for a spec; raise InputError where the columns are one."""
    title, body, split = options["title"], options["body"], options["split"]
    if title == body or (split is not None and (title, body) != ("title", "body")):
        raise InputError(
            f"concat: title={title} and body={body}: give two columns, or split= alone, for the text itself"
        )
    return ConcatTexts(cast("Encoder", context.base), title, body, split)
