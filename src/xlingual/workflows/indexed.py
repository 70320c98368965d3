"""Vectors for a search index: at unit length, with a correction of hubs as one more dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Vectors
from xlingual.embed.encoding import Progress
from xlingual.encoders import Encoder
from xlingual.encoders.transform import FittedTransform
from xlingual.errors import InputError
from xlingual.evaluation.similarity import banked
from xlingual.ranking import Banked, Cpu
from xlingual.requests.ranking import available_cores
from xlingual.transforms.affine import unit_rows

FOLDER = "index"


@dataclass(frozen=True)
class Indexed:
    """The correction of hubs of a transform, with its training questions."""

    name: str
    repair: Banked

    @classmethod
    def of(cls, name: str, encoder: Encoder) -> Indexed:
        """Return that of an encoder; raise InputError where it has none that can be a dimension."""
        if not isinstance(encoder, FittedTransform):
            raise InputError(
                f"text encoder {name!r} has no correction of hubs: --offsets is for model:DIR::SPEC of what "
                "xlingual repair chose"
            )
        if (own := encoder.hub_correction) is None:
            raise InputError(
                f"{encoder.who} has no correction of hubs: its vectors are searched by cosine as they are; "
                "leave --offsets out"
            )
        return cls(name, banked(own))

    def rows(self, vectors: Vectors, progress: Progress | None = None) -> Vectors:
        """Return float32 [n, e + 1] for candidates [n, e]: unit length, and the correction."""

        def shown(done: int, total: int) -> None:
            if progress is not None:
                progress(f"hubs of {self.name}", done, total)

        last = self.repair.column(vectors, Cpu(available_cores()), shown)
        return np.hstack([unit_rows(vectors), last[:, None].astype(np.float32)])
