"""Dimensions and options of a Triplet, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

SCALINGS = ("unit", "raw")
SPLITS = ("first-sentence", "halves")


@dataclass(frozen=True)
class TripletConfig:
    """Dimensions and options of the network; the defaults are the paper's. ValueError where they clash.

    - `base_dim`: of the frozen vectors; `hidden_dim`, `out_dim`: of the two dense layers
    - `separate_towers`: title and body have separate weights, in place of one set for both
    - `scaling`: `unit` (each half of the representation has length 1) or `raw` (as the layers give it)
    - `title`, `body`: the fields of a text that are its two views; "text" is the text itself
    - `split`: the two views are made of the text itself, in place of two fields: see `models.views`
    - `recipe`: how it was trained, `triplet` or `triplet-xl`; changes no vector
    """

    base_dim: int
    hidden_dim: int = 300
    out_dim: int = 300
    separate_towers: bool = False
    scaling: str = "unit"
    title: str = "title"
    body: str = "body"
    split: str | None = None
    recipe: str = "triplet"

    def __post_init__(self) -> None:
        if min(self.base_dim, self.hidden_dim, self.out_dim) < 1:
            raise ValueError(f"dimensions must be at least 1: {self}")
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}: {self.scaling!r}")
        if self.split is not None and self.split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}: {self.split!r}")
        if not self.title or not self.body or self.title == self.body:
            raise ValueError(f"title and body must be two fields: {self.title!r} and {self.body!r}")

    @property
    def towers(self) -> tuple[str, ...]:
        """The names of the sets of weights: one for both views, or one for each."""
        return ("title", "body") if self.separate_towers else ("both",)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> TripletConfig:
        """Return what `to_dict` gave; ValueError or TypeError where it is anything else."""
        return cls(**content)
