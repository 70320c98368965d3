"""What a training of a dual encoder may be told; importing it costs little."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.models.dual_encoder_config import MOST_SCALE

REGIMES = ("en-en", "x-x", "x-x-mono", "x-y", "hybrid")  # `training.recipes.regimes` says what they are
POSITIVE = ("inside", "outside")
FALSE_NEGATIVES = ("keep", "mask")


@dataclass(frozen=True)
class DualOptions:
    """Options of the batches, of the loss and of the towers; wrong ones raise InputError.

    - `regime`, `language` (of `en-en`), `batch` (pairs), `steps` (batches of an epoch; None: one pass)
    - `positive`: `inside` or `outside` the softmax's sum; `sub_batch`: pairs whose answers are each other's
      negatives (None: the batch); `scale`: at the start of the training
    - `false_negatives`: answers of the batch that are right for a question too (the same question in another
      language, another question with the same answer): `keep` them as negatives, as the paper does, or `mask`
    - `separate`: answers have a tower of their own; `context`: answers are read with what surrounds them
      (None: where the tower is a network of transformers)
    - of the tower `words`: `dim`, `ngrams` (from, to; None: words only) in `buckets` numbers, `threshold` and
      `most_words` of the vocabulary
    - `hidden`: of a layer over words (None: none) or vectors (None: 256); `dropout`: share of features that a
      step leaves out (None: 0.5 of those of texts, 0 of vectors)
    - `max_length`: tokens that a network of transformers reads
    """

    regime: str = "x-y"
    language: str = "en"
    batch: int = 256
    steps: int | None = None
    positive: str = "inside"
    sub_batch: int | None = None
    scale: float = 20.0
    false_negatives: str = "keep"
    separate: bool = False
    context: bool | None = None
    dim: int = 256
    ngrams: tuple[int, ...] | None = (3, 5)
    buckets: int = 32_768
    threshold: int = 1
    most_words: int | None = 100_000
    hidden: int | None = None
    dropout: float | None = None
    max_length: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("regime", self.regime, REGIMES)
        _one_of("positive", self.positive, POSITIVE)
        _one_of("false_negatives", self.false_negatives, FALSE_NEGATIVES)
        least = {"batch": 2, "sub_batch": 2, "hidden": 0, "seed": 0}
        for name in (
            *("batch", "sub_batch", "steps", "dim", "buckets", "threshold", "most_words"),
            *("hidden", "max_length", "seed"),
        ):
            value = getattr(self, name)
            if value is not None and value < least.get(name, 1):
                raise InputError(f"{name} must be {least.get(name, 1)} or more: found {value}")
        if not (math.isfinite(self.scale) and 0 < self.scale <= MOST_SCALE):
            raise InputError(f"scale must be above 0 and at most {MOST_SCALE:g}: found {self.scale}")
        if self.dropout is not None and not 0 <= self.dropout <= 0.99:
            raise InputError(f"dropout must be between 0 and 0.99: found {self.dropout}")
        if self.ngrams is not None and (len(self.ngrams) != 2 or not 1 <= self.ngrams[0] <= self.ngrams[1]):
            raise InputError(f"ngrams must be two lengths such as 3,5, or none: found {list(self.ngrams)}")
        if self.sub_batch is not None and self.sub_batch > self.batch:
            raise InputError(f"sub_batch is {self.sub_batch}, more than the {self.batch} pairs of a batch")

    def settings(self) -> dict[str, Any]:
        """Return all options for JSON."""
        return asdict(self) | {"ngrams": None if self.ngrams is None else list(self.ngrams)}


# what of FitOptions a tower sets; the paper's for a network of transformers, but for the number of steps
FIT_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "words": {"rate": 1e-3, "epochs": 30},
    "vectors": {"rate": 1e-3, "epochs": 30},
    "transformer": {"rate": 1e-5, "epochs": 10, "schedule": "linear", "warmup": 1.0, "weight_decay": 0.01,
                    "optimizer": "adamw"},
}  # fmt: skip


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(
            f"{name} {value!r} is unknown.{did_you_mean(value, known)} Choose one of {listed(known)}"
        )
