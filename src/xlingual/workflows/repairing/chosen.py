"""What repairs with and without translations share: their encoder, their clock, and what they write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError, parameter
from xlingual.models.card import write_card
from xlingual.models.folder import BANK, FITTED_ON, TRANSFORM, ModelFolder, write_model
from xlingual.records import HubCorrection
from xlingual.results.repair import Repair
from xlingual.results.unlabelled_repair import UnlabelledRepair
from xlingual.transforms.affine import Affine
from xlingual.workflows.repairing.divided import Divided
from xlingual.workflows.repairing.parts import SHARES

MODEL = "model"
Record = TypeVar("Record", Repair, UnlabelledRepair)


@dataclass
class Chosen(Generic[Record]):
    """What was found, and the map that was chosen; None where the encoder stays as it is.

    `request` and `run` are those of `found`.
    """

    found: Record
    map: Affine | None
    base: dict[str, Any]  # the encoder, as the folder of a model names it
    source: str  # the data
    seen: frozenset[bytes]  # digests of the rows it was fitted or chosen on
    divided: Divided = field(kw_only=True)  # the rows of its parts
    correction: HubCorrection | None = field(default=None, kw_only=True)  # None: the cosine
    images: str | None = field(default=None, kw_only=True)  # the image encoder that the map was fitted on

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("request", "run"):
            name, value = "found", msgspec.structs.replace(self.found, **{name: value})
        super().__setattr__(name, value)

    def write(self, folder: str | Path) -> None:
        """Write the findings into a folder, the rows of the parts, and the transform, if any, in `model`."""
        self.divided.write(folder)
        if self.map is not None:
            self.write_model(Path(folder) / MODEL)
        self.found.write(folder)

    def write_model(self, folder: str | Path) -> ModelFolder:
        """Write the folder of the transform, for model:FOLDER::SPEC; raise InputError where there is none."""
        if self.map is None:
            raise InputError("nothing is better than the encoder as it is: there is no transform to write")
        found = self.found
        data = {"source": self.source, "digest": found.conditions["data"]}
        if self.images is not None:
            data["images"] = self.images
        config = {
            "kind": TRANSFORM,
            "model": {
                "languages": self.map.places,
                "transforms": found.chosen,
                "similarity": found.similarity,
            },
            "base": self.base,
            "data": data,
        }
        digests = np.array([list(each) for each in sorted(self.seen)], dtype=np.uint8)
        arrays = self.map.arrays() | {FITTED_ON: digests}
        if self.correction is not None:
            arrays[BANK] = self.correction.bank
        return write_card(write_model(folder, config, arrays), found)


def check_languages(data: Manifest) -> None:
    """Raise InputError where data have texts in one language only."""
    if len(data.languages) < 2:
        raise InputError(
            f"{data.source} has texts in {data.languages[0]!r} only, and a repair brings languages together: "
            "give texts in two languages at least"
        )


def check_options(shares: Sequence[float], delta: float = 0.01, alpha: float = 0.05) -> None:
    """Raise InputError for options that cannot be."""
    if len(shares) != len(SHARES) or not all(0 < share < math.inf for share in shares):
        raise InputError(
            f"{parameter('shares')}: expected three numbers above 0, to fit on, to choose on and to test on, "
            "such as 0.4,0.2,0.4"
        )
    if not 0 < delta < 1:
        raise InputError(f"{parameter('delta', f'{delta:g}')}: expected more than 0 and less than 1")
    if not 0 < alpha < 0.5:
        raise InputError(f"{parameter('alpha', f'{alpha:g}')}: expected more than 0 and less than 0.5")
