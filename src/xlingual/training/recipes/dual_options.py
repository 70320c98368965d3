"""The options of a training of a dual encoder; importing them costs little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

from msgspec import Meta

from xlingual.errors import InputError
from xlingual.models.configs import MOST_SCALE
from xlingual.requests.record import Record, option
from xlingual.requests.values import Dropout, Natural, Positive, TwoOrMore
from xlingual.training.options import Seed

WORDS = "words"  # the base of a tower that is trained from scratch
Regime: TypeAlias = Literal["en-en", "x-x", "x-x-mono", "x-y", "hybrid"]
Positives: TypeAlias = Literal["inside", "outside"]
REGIMES, POSITIVE = get_args(Regime), get_args(Positives)


def lengths(text: str) -> list[int] | None:
    """Return the two whole numbers of "3-5"; None for "none"."""
    low, _, high = text.partition("-")
    if text == "none":
        return None
    if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
        raise InputError(f"{text!r} is neither a range such as 3-5 nor 'none'")
    return [int(low), int(high)]


class DualSettings(Record, frozen=True, kw_only=True):
    """Settings of the batches, of the loss and of the towers, whatever the regime."""

    language: Annotated[str, option("Language that the regime en-en trains on.", metavar="TAG")] = "en"
    batch: Annotated[TwoOrMore, option("Number of pairs of a batch.", metavar="N")] = 256
    steps: Annotated[
        Positive | None,
        option("Number of batches of an epoch.", metavar="N", otherwise="one pass over the data"),
    ] = None
    positive: Annotated[Positives, option("Whether the sum of the softmax includes the right answer.")] = (
        "inside"
    )
    sub_batch: Annotated[
        TwoOrMore | None,
        option(
            "Number of pairs that use each other's answers as negatives.", metavar="N", otherwise="the batch"
        ),
    ] = None
    mini_batch: Annotated[
        Positive | None,
        option(
            "Number of pairs encoded at a time, to save memory: the gradients stay those of the whole "
            "batch; each text is encoded twice.",
            metavar="N",
            otherwise="the batch",
        ),
    ] = None
    scale: Annotated[
        Annotated[float, Meta(gt=0, le=MOST_SCALE)],
        option("Initial scale of the dot products; it is trained.", metavar="X"),
    ] = 20.0
    separate: Annotated[bool, option("Use a separate tower for answers.")] = False
    context: Annotated[
        bool | None,
        option(
            "Read answers with their context.",
            names=("--context/--no-context",),
            otherwise="with a network of transformers",
        ),
    ] = None
    dim: Annotated[Positive, option("Dimensions, with --base words.", metavar="N")] = 256
    ngrams: Annotated[
        tuple[int, ...] | None,
        option(
            "Number of characters of n-grams, with --base words.",
            metavar="A-B|none",
            otherwise="3-5",
            reads=lengths,
        ),
    ] = (3, 5)
    buckets: Annotated[Positive, option("Number of features that hashed n-grams share.", metavar="N")] = (
        32_768
    )
    threshold: Annotated[
        Positive, option("Words that occur less often than N times are unknown.", metavar="N")
    ] = 1
    most_words: Annotated[
        Positive | None, option("Only the N most frequent words are known.", metavar="N")
    ] = 100_000
    hidden: Annotated[
        Natural | None,
        option(
            "Number of units of a layer over words or vectors, 0: none.",
            metavar="N",
            otherwise="words 0, vectors 256",
        ),
    ] = None
    dropout: Annotated[
        Dropout | None,
        option("Share of features left out at a time.", metavar="X", otherwise="words 0.5, vectors 0"),
    ] = None
    max_length: Annotated[
        Positive | None,
        option("Number of tokens that a network of transformers reads.", metavar="N", otherwise="all it can"),
    ] = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Check values that depend on each other."""
        super().__post_init__()
        if self.ngrams is not None and (len(self.ngrams) != 2 or not 1 <= self.ngrams[0] <= self.ngrams[1]):
            raise InputError(f"ngrams must be two lengths such as 3,5, or none: found {list(self.ngrams)}")
        if self.sub_batch is not None and self.sub_batch > self.batch:
            raise InputError(f"sub_batch is {self.sub_batch}, more than the {self.batch} pairs of a batch")


class DualOptions(DualSettings, frozen=True, kw_only=True):
    """Settings of the batches, of the loss and of the towers."""

    regime: Annotated[
        Regime,
        option(
            "Which languages meet in a batch. en-en: one language; x-x: question and answer in the same "
            "language, languages mixed; x-x-mono: the same, one language in each batch; x-y: languages "
            "drawn independently; hybrid: x-x-mono and x-y in turn."
        ),
    ] = "x-y"


# the FitOptions that a network of transformers changes: the paper's, but for the number of steps
NETWORK_FIT: Mapping[str, Any] = {
    "rate": 1e-5,
    "epochs": 10,
    "schedule": "linear",
    "warmup": 1.0,
    "weight_decay": 0.01,
    "optimizer": "adamw",
}
