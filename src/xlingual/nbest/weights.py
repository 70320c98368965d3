"""Weights of features, as a tuning found them: in memory and as a file of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field, structs

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.nbest.choice import first_best, model_scores
from xlingual.nbest.lists import NBestLists
from xlingual.results.document import Answer
from xlingual.results.values import Amount, Bleu, Count, Number, Size, Warnings, about

SCHEMA = "xlingual/rerank-weights/1"
MADE_BY = "xlingual rerank tune … --out WEIGHTS.json"


class TuningRun(Struct, frozen=True):
    """One run of the tuner."""

    seed: Annotated[Count, about("Seed of the order of the sentences.")]
    weights: Annotated[list[Number], about("Weights of the features divided by the scale, in their order.")]
    bleu: Annotated[Bleu, about("BLEU of its choice on the lists it was tuned on.")]
    epoch: Annotated[Size, about("The epoch that was kept.")]


class Spread(Struct, frozen=True):
    """A mean and the standard deviation of n values; None for one value."""

    mean: Annotated[Number, about("Mean of the values.")]
    sd: Annotated[Amount | None, about("Standard deviation (n − 1); null for one value.")]
    n: Annotated[Size, about("Number of values.")]

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return mean and standard deviation (n − 1) of some values."""
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), sd, len(values))


class Bounds(Struct, frozen=True):
    """BLEU, 0 to 100, of choices that need no weights."""

    decoder: Annotated[Bleu, about("The decoder's own choice.")]
    oracle: Annotated[Bleu, about("The hypothesis with the best sentence BLEU of each list.")]
    anti_oracle: Annotated[Bleu, about("The hypothesis with the worst.")]
    random: Annotated[Spread, about("Any hypothesis, drawn several times.")]


class Weights(Answer, frozen=True, kw_only=True, tag=SCHEMA):
    """Weights for named features, from several tunings that differ in their seed; the first is applied."""

    made_by = MADE_BY

    weights: Annotated[
        dict[str, Number],
        about(
            "Weights of the first tuning by the names of the features: those that are applied, to features "
            "divided by the scale."
        ),
    ] = field(default_factory=dict)  # made from the other fields

    features: Annotated[list[str], about("Names of the features, in the order of the list.")]
    scale: Annotated[list[Number], about("What each feature is divided by.")]
    tunings: Annotated[list[TuningRun], Meta(min_length=1), about("One for each seed; the first is applied.")]
    settings: Annotated[dict[str, Any], about("Settings of k-best MIRA, and how BLEU was counted.")]
    n_lists: Annotated[Size, about("Number of sentences.")]
    n_hypotheses: Annotated[Size, about("Number of hypotheses in all lists.")]
    bleu: Annotated[Spread, about("BLEU of the tunings on the lists that were tuned on.")]
    bounds: Annotated[Bounds, about("BLEU of choices without weights, on the lists that were tuned on.")]
    cross_validated: Annotated[
        Spread | None,
        about("BLEU on sentences whose fold took no part, over the tunings; null without cross-validation."),
    ] = None
    warnings: Warnings = field(default_factory=list)
    notes: Annotated[list[str], about("Differences from the request, one sentence each.")] = field(
        default_factory=list
    )

    def __post_init__(self) -> None:
        named = dict(zip(self.features, self.tunings[0].weights, strict=False))
        structs.force_setattr(self, "weights", named)

    def choose(self, lists: NBestLists, tuning: int = 0) -> Ints:
        """Return the row that the weights of a tuning choose in each list, [s]; the first of equal ones.

        Raises InputError where the lists have other features, naming both, or there is no such tuning.
        """
        return first_best(self.scores(lists, tuning), lists.offsets)

    def scores(self, lists: NBestLists, tuning: int = 0) -> Floats:
        """Return the weighted sum of each hypothesis, [n]."""
        tuned, found = self.features, list(lists.names)
        if tuned != found:
            order = "in another order: " if sorted(tuned) == sorted(found) else ""
            raise InputError(
                f"the weights are for other features than the n-best list has: {order}weights for "
                f"{', '.join(tuned)}; the list has {', '.join(found) or 'none'}: make both lists in the same "
                "way"
            )
        if not 0 <= tuning < len(self.tunings):
            raise InputError(f"there is no tuning {tuning}: the weights have 0 to {len(self.tunings) - 1}")
        return scored(lists, np.array(self.scale), np.array(self.tunings[tuning].weights))

    def problem(self) -> str | None:
        """Return what does not fit together, None where all does."""
        counts = {len(self.features), len(self.scale), *(len(one.weights) for one in self.tunings)}
        if len(counts) > 1 or 0 in self.scale:
            return "features, scale and weights must be lists of finite numbers, of one length"
        return None


def scored(lists: NBestLists, scale: Floats, weights: Floats) -> Floats:
    """Return Σ weight·feature/scale of each hypothesis, [n]."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = model_scores(np.ascontiguousarray(lists.features.T) / scale[:, None], weights)
    if not np.isfinite(found).all():
        raise InputError("weights times features are too large to be added up: divide the large features")
    return found
