"""Dimensions and options of a dual encoder, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

TOWERS = ("words", "vectors", "transformer")
MOST_SCALE = 100.0  # a trained scale stays below it, as CLIP's does


@dataclass(frozen=True)
class DualEncoderConfig:
    """The parts of a dual encoder; ValueError where options clash.

    - `tower`: `words` (features of texts, learnt from scratch), `vectors` (layers over those of a frozen
      encoder) or `transformer` (a network of transformers, its first token)
    - `dim`: of the vectors; those of the encoder below, or of the network, where there is one
    - `features`: how many the tower `words` has, `buckets` of them for `ngrams` (from, to)
    - `hidden`: of a layer with a shortcut around it, over words or vectors; 0: none
    - `separate`: whether answers have separate weights
    - `context`: whether answers are read together with their context
    - `dropout`: share of the features (words) or of the dimensions (vectors) that a training leaves out
    - `scale`: factor of the products, before it is trained
    - `max_length`: tokens that the tower `transformer` reads; None: all that it can
    """

    tower: str
    dim: int
    features: int = 0
    ngrams: tuple[int, int] | None = None
    buckets: int = 0
    hidden: int = 0
    separate: bool = False
    context: bool = False
    dropout: float = 0.0
    scale: float = 20.0
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.tower not in TOWERS:
            raise ValueError(f"tower must be one of {', '.join(TOWERS)}: {self.tower!r}")
        if self.dim < 1 or self.hidden < 0 or (self.features < 1) == (self.tower == "words"):
            raise ValueError(f"dimensions do not fit the tower: {self}")
        if (self.ngrams is None) != (self.buckets == 0) or self.buckets > self.features:
            raise ValueError(f"n-grams and buckets go together: {self}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1: {self.dropout}")
        if not 0 < self.scale <= MOST_SCALE:
            raise ValueError(f"scale must be above 0 and at most {MOST_SCALE:g}: {self.scale}")

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration for JSON."""
        return asdict(self) | {"ngrams": None if self.ngrams is None else list(self.ngrams)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> DualEncoderConfig:
        """Return what `to_dict` gave; ValueError or TypeError where it is anything else."""
        ngrams = content.get("ngrams")
        if ngrams is not None:
            low, high = ngrams
            ngrams = (low, high)
        return cls(**{**content, "ngrams": ngrams})
