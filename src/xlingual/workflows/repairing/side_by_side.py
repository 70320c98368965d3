"""The encoder before and after its repair, evaluated on the part for testing: all views, side by side."""

from __future__ import annotations

from typing import Any

from xlingual.arrays import Vectors
from xlingual.encoders import Encoder
from xlingual.encoders.mapped import MappedTexts
from xlingual.evaluation.multilingual_pool import multilingual_pool
from xlingual.records import HubCorrection
from xlingual.results import Results
from xlingual.transforms.affine import Affine
from xlingual.workflows.repairing.parts import PartVectors


class Known(Encoder):
    """Gives the vectors that were computed before, for the questions and candidates of a part of the pool."""

    identity = ""

    def __init__(self, part: PartVectors, identity: str) -> None:
        self.part, self.identity = part, identity

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401  (Texts of one side, all of them)
        """Return the vectors of the questions, or of the candidates."""
        return self.part.questions if batch.role == "query" else self.part.candidates


def side_by_side(
    part: PartVectors, name: str, identity: str, map: Affine, correction: HubCorrection | None, seed: int
) -> Results:
    """Return the results of the encoder, compared by cosine, and of the repaired one with its correction."""
    known = Known(part, identity)
    both = {name: known, f"{name}-repaired": MappedTexts(known, map, correction)}
    return multilingual_pool(part.pool, both, seed=seed, store=None)
