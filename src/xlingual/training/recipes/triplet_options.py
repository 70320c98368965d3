"""What a training of Triplet or TripletXL may be told; importing it costs nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.models.triplet_config import SCALINGS, SPLITS

FROM = ("batch", "index")
BY = ("current", "base")


@dataclass(frozen=True)
class TripletOptions:
    """Options of the model and of the loss; the defaults are the paper's where it names them.

    - `margin`: by how much a body is to be nearer to its own title than to another one (cosine distance)
    - `beta`: weight of the neighbour term, 0 is Triplet; `neighbours`: K of each language
    - `neighbours_from`: `batch` (the nearest within the batch) or `index` (within all training texts; found
      anew every `refresh` epochs); `neighbours_by`: `current` or `base` vectors; see `recipes.triplet`
    - `batch`: texts of a batch
    - the rest: see `xlingual.models.triplet_config.TripletConfig`
    """

    margin: float = 0.1
    beta: float = 0.0
    neighbours: int = 5
    neighbours_from: str = "batch"
    neighbours_by: str = "current"
    refresh: int = 1
    batch: int = 128
    hidden_dim: int = 300
    out_dim: int = 300
    separate_towers: bool = False
    scaling: str = "unit"
    title: str = "title"
    body: str = "body"
    split: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("neighbours_from", self.neighbours_from, FROM)
        _one_of("neighbours_by", self.neighbours_by, BY)
        _one_of("scaling", self.scaling, SCALINGS)
        if self.split is not None:
            _one_of("split", self.split, SPLITS)
        if not 0 <= self.margin <= 2:
            raise InputError(f"margin must be between 0 and 2: found {self.margin}")
        if not (math.isfinite(self.beta) and self.beta >= 0):
            raise InputError(f"beta must be 0 or more: found {self.beta}")
        least = {"batch": 2, "seed": 0}
        for name in ("neighbours", "refresh", "batch", "hidden_dim", "out_dim", "seed"):
            if (value := getattr(self, name)) < least.get(name, 1):
                raise InputError(f"{name} must be {least.get(name, 1)} or more: found {value}")
        if not self.title or not self.body or self.title == self.body:
            raise InputError(f"title and body must be two columns: found {self.title!r} and {self.body!r}")
        if self.split is not None and (self.title, self.body) != ("title", "body"):
            raise InputError(
                f"the text itself is split ({self.split}), so no columns are read: leave title and body out"
            )

    @classmethod
    def preset(cls, recipe: str, **changes: Any) -> TripletOptions:  # noqa: ANN401
        """Return the options of a named recipe (`triplet`, `triplet-xl`) with some of them changed."""
        _one_of("recipe", recipe, tuple(PRESETS))
        known = {field.name for field in fields(cls)}
        for name in changes:
            if name not in known:
                raise InputError(f"unknown option {name!r} of {recipe}.{did_you_mean(name, known)}")
        options = cls(**{**PRESETS[recipe], **changes})
        if (options.beta > 0) != (recipe == "triplet-xl"):
            raise InputError(
                f"beta is {options.beta:g}: triplet has no neighbour term (beta 0), triplet-xl has one (beta "
                "above 0): take the other recipe"
            )
        return options

    def settings(self) -> dict[str, Any]:
        """Return all options for JSON."""
        return asdict(self)

    def changed(self, **changes: Any) -> TripletOptions:  # noqa: ANN401
        """Return the options with some of them changed, checked again."""
        return replace(self, **changes)


# what each recipe sets of TripletOptions
PRESETS: Mapping[str, Mapping[str, Any]] = {"triplet": {}, "triplet-xl": {"beta": 0.01}}
# and of FitOptions
FIT: Mapping[str, Any] = {"rate": 0.01, "epochs": 40, "patience": None}


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(
            f"{name} {value!r} is unknown.{did_you_mean(value, known)} Choose one of {listed(known)}"
        )
