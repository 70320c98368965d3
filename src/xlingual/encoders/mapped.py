"""Encoders whose vectors are those of the encoder below, of unit length, through a linear map by language."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder, Stacked
from xlingual.errors import InputError
from xlingual.records import HubCorrection, digest
from xlingual.transforms.affine import Affine, unit_rows


class MappedBase(Stacked):
    """What maps vectors has a `map`, and `who` begins its errors."""

    origin = "fitted"
    who: str
    unit_below = True  # whether vectors of the encoder below are brought to unit length first

    @property
    @abstractmethod
    def map(self) -> Affine:
        """The map of each language."""

    def apply(self, *vectors: Vectors) -> Vectors:
        """Raise TypeError: it needs the languages."""
        raise TypeError(f"{self.who} needs the language of each vector: call apply_in")

    def apply_in(self, languages: Sequence[str], *vectors: Vectors) -> Vectors:
        """Return float32 [n, e] for the base's vectors float32 [n, d] and the language of each."""
        given = unit_rows(vectors[0]) if self.unit_below else vectors[0]
        try:
            return self.map.apply(given, languages)
        except InputError as error:
            raise InputError(f"{self.who}: {error}") from None


class MappedTexts(MappedBase):
    """An encoder with a map that is there already."""

    map: Affine = None  # type: ignore[assignment]  # set below
    who = "map"

    def __init__(self, base: Encoder, map: Affine, hub_correction: HubCorrection | None = None) -> None:
        super().__init__(base)
        self.map, self.hub_correction = map, hub_correction

    @property
    def identity(self) -> str:
        """A digest of the map, and the identity of the encoder below."""
        parts = [each.tobytes() for each in self.map.arrays().values()]
        if self.hub_correction is not None:
            parts.append(self.hub_correction.bank.tobytes())
        return f"map:{digest(*parts, *(tag or '' for tag in self.map.places)).hex()}::{self.base.identity}"
