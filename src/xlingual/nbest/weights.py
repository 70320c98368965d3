"""Weights of features: what a tuning found, in memory and as a file of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.errors import InputError
from xlingual.nbest.choice import first_best, model_scores
from xlingual.nbest.lists import NBestLists
from xlingual.records import Floats, Ints
from xlingual.results import read_json, write_json
from xlingual.results.reading import fields_of, record

SCHEMA = "xlingual/rerank-weights/1"
MADE_BY = "xlingual rerank tune … --out WEIGHTS.json"


@dataclass(frozen=True)
class Tuning:
    """One run of the tuner."""

    seed: int
    weights: list[float]  # [f], of the features divided by the scale
    bleu: float  # of its choice on the lists it was tuned on, 0 to 100
    epoch: int | None = None  # the one that was kept


@dataclass(frozen=True)
class Spread:
    """A mean and the standard deviation of n values; None for one value."""

    mean: float
    sd: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return mean and standard deviation (n − 1) of some values."""
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), sd, len(values))


@dataclass(frozen=True)
class Bounds:
    """BLEU, 0 to 100, of choices that need no weights."""

    decoder: float  # the decoder's own
    oracle: float  # the best sentence BLEU of each list
    anti_oracle: float  # the worst
    random: Spread  # any hypothesis, drawn several times


@dataclass(frozen=True)
class Weights:
    """Weights for named features, from several tunings that differ in their seed; the first is applied."""

    features: list[str]
    scale: list[float]  # [f]: what each feature is divided by
    tunings: list[Tuning]
    algorithm: str
    settings: dict[str, Any]  # of the algorithm, and how BLEU was counted
    n_lists: int
    n_hypotheses: int
    bleu: Spread  # of the tunings: what another order of the sentences changes
    bounds: Bounds
    cross_validated: Spread | None = None  # BLEU on sentences whose fold took no part, over the tunings
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def choose(self, lists: NBestLists, tuning: int = 0) -> Ints:
        """Return the row that the weights of a tuning choose in each list, [s]; the first of equal ones.

        Raises InputError where the lists have other features, naming both, or there is no such tuning.
        """
        return first_best(self.scores(lists, tuning), lists.offsets)

    def scores(self, lists: NBestLists, tuning: int = 0) -> Floats:
        """Return the weighted sum of each hypothesis, [n]."""
        check_features(self.features, lists.names)
        if not 0 <= tuning < len(self.tunings):
            raise InputError(f"there is no tuning {tuning}: the weights have 0 to {len(self.tunings) - 1}")
        return scored(lists, np.array(self.scale), np.array(self.tunings[tuning].weights))

    def to_dict(self) -> dict[str, Any]:
        """Return the weights as JSON holds them; "weights" has those that are applied, by name."""
        named = dict(zip(self.features, self.tunings[0].weights, strict=True))
        return {"schema": SCHEMA, "weights": named} | asdict(self)

    def write(self, path: str | Path) -> None:
        """Write the weights to a file, atomically."""
        write_json(Path(path), self.to_dict())

    @classmethod
    def read(cls, path: str | Path) -> Weights:
        """Read a file of weights; raise InputError where it is none."""
        content = read_json(Path(path), SCHEMA, MADE_BY)
        with fields_of(Path(path), MADE_BY):
            found = _read(content)
            counts = {len(found.features), len(found.scale), *(len(one.weights) for one in found.tunings)}
            numbers = [*found.scale, *(weight for one in found.tunings for weight in one.weights)]
            finite = all(type(number) in (int, float) and isfinite(number) for number in numbers)
            if not found.tunings or len(counts) > 1 or not finite or 0 in found.scale:
                raise ValueError("features, scale and weights must be lists of finite numbers, of one length")
            return found


def scored(lists: NBestLists, scale: Floats, weights: Floats) -> Floats:
    """Return Σ weight·feature/scale of each hypothesis, [n]."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = model_scores(np.ascontiguousarray(lists.features.T) / scale[:, None], weights)
    if not np.isfinite(found).all():
        raise InputError("weights times features are too large to be added up: divide the large features")
    return found


def check_features(tuned: Sequence[str], found: Sequence[str]) -> None:
    """Raise InputError where lists have other features than those that the weights are for."""
    if list(tuned) != list(found):
        order = "in another order: " if sorted(tuned) == sorted(found) else ""
        raise InputError(
            f"the weights are for other features than the n-best list has: {order}weights for "
            f"{', '.join(tuned)}; the list has {', '.join(found) or 'none'}: make both lists in the same way"
        )


def _read(content: Mapping[str, Any]) -> Weights:
    bounds = content["bounds"]
    validated = content.get("cross_validated")
    return record(
        Weights,
        content,
        cross_validated=None if validated is None else record(Spread, validated),
        tunings=[record(Tuning, row) for row in content["tunings"]],
        bleu=record(Spread, content["bleu"]),
        bounds=record(Bounds, bounds, random=record(Spread, bounds["random"])),
    )
