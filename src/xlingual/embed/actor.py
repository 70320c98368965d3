"""One copy of an encoder, as it runs on a machine of a cluster."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from xlingual import encoders
from xlingual.cluster import why_not_here
from xlingual.encoders.decoding import BrokenImagesError
from xlingual.errors import DataWarning, XlingualError
from xlingual.forms import as_other
from xlingual.records import Images, Texts


@dataclass(frozen=True)
class ActorSpec:
    """The description of a copy: a spec, or an object with `encode`."""

    name: str
    kind: str  # "texts" or "images"
    entry: Any
    depth: int  # of encoders that stand on the one that is copied
    languages: tuple[str, ...]
    folder: str  # where the command runs: paths in specs may begin there
    version: str = field(default_factory=lambda: version("xlingual"))  # where the command runs


@dataclass(frozen=True)
class ActorReply:
    """Vectors [n, d] of a piece, and which texts were cut; or why there are none."""

    vectors: Any = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    truncated: np.ndarray | None = None
    warnings: tuple[str, ...] = ()
    refused: str = ""
    broken: bool = False  # whether it was refused since images are broken


class Actor:
    """A copy; the encoder is made at its first use, so that errors in making it can be reported."""

    def __init__(self, spec: ActorSpec) -> None:
        self.spec = spec
        self._encoder: encoders.Encoder | None = None

    def identity(self) -> str | ActorReply:
        """Return the identity of the copy, or why it cannot be made."""
        if other := why_not_here(self.spec.version):
            return ActorReply(refused=other)
        try:
            return self._made().identity
        except XlingualError as error:
            return ActorReply(refused=f"on a machine of the cluster: {error}")

    def encode(self, batch: Texts | Images) -> ActorReply:
        """Return the vectors of a piece."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            try:
                found = self._made().encode_noting(batch)
                other = as_other(found.vectors, f"encoder {self.spec.name!r}", batch.ids)
                vectors = np.asarray(found.vectors) if other is None else other
            except XlingualError as error:
                return ActorReply(refused=str(error), broken=isinstance(error, BrokenImagesError))
        messages = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, DataWarning))
        return ActorReply(vectors, found.truncated, tuple(messages))

    def notes(self) -> list[str]:
        """Return the copy's notes on the rows that it encoded."""
        return [] if self._encoder is None else list(self._encoder.notes())

    def _made(self) -> encoders.Encoder:
        if self._encoder is None:
            spec = self.spec
            if os.path.isdir(spec.folder):
                os.chdir(spec.folder)
            if spec.kind == "texts":
                named = encoders.text_encoders({spec.name: spec.entry}, languages=spec.languages)
                made = named[spec.name]
            else:
                _, made = encoders.image_encoder(spec.entry, languages=spec.languages)
            for _ in range(spec.depth):
                assert isinstance(made, encoders.Stacked)
                made = made.base
            self._encoder = made
        return self._encoder
