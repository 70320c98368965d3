"""`model:DIR::SPEC`, a transform of `repair` or `train pivot`: a linear map for each language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.mapped import MappedBase
from xlingual.encoders.scheme import IMAGES, Context
from xlingual.encoders.trained import check_base
from xlingual.errors import InputError, listed
from xlingual.forms import COSINE
from xlingual.models.folder import BANK, FITTED_ON, ModelFolder
from xlingual.records import HubCorrection
from xlingual.transforms.affine import Affine


class FittedTransform(MappedBase):
    """Vectors of the encoder below at unit length, through the map of the folder.

    `apply_in` raises InputError for a language that the map does not have. `hubs`: it is ranked with the
    correction of hubs that it was chosen with, if any.
    """

    def __init__(self, folder: ModelFolder, base: Encoder, *, hubs: bool = True) -> None:
        super().__init__(base)
        self.folder, self.who, self.hubs = folder, f"model:{folder.path}", hubs

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"model:{self.folder.kind}:{self.folder.digest[:16]}::{self.base.identity}"

    @cached_property
    def fitted_images(self) -> str | None:  # type: ignore[override]  # found when first asked for
        """The image encoder of an image pivot; else that of the encoder below."""
        found = (self.folder.config.get("data") or {}).get("images")
        return self.base.fitted_images if found is None else str(found)

    @cached_property
    def map(self) -> Affine:
        """The map; InputError where its folder does not describe one."""
        return map_of(self.folder, self._arrays)

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it was fitted or chosen on, and of those that the encoder below was."""
        rows = self._arrays.get(FITTED_ON, ())
        return frozenset(row.tobytes() for row in rows) | self.base.fitted_on

    @cached_property
    def hub_correction(self) -> HubCorrection | None:  # type: ignore[override]  # found when first asked for
        """The correction of hubs that it was chosen with; InputError where training questions are missing."""
        similarity = str(self.folder.config["model"].get("similarity", COSINE))
        if similarity == COSINE or not self.hubs:
            return None
        bank = self._arrays.get(BANK)
        if bank is None:
            raise InputError(f"{self.who}: its training questions are missing: copy the model anew")
        return HubCorrection(similarity, bank)

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        return self.folder.arrays()

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where it has no map for texts of a language."""
        asked = set(tags)
        self.base.check_languages(asked)
        if self.map.languages is not None and (unknown := sorted(asked - set(self.map.languages))):
            raise InputError(
                f"{self.who} was fitted on texts in {listed(self.map.languages, 20)}, and not in "
                f"{listed(unknown)}: fit it again, on texts in that language too"
            )


def map_of(folder: ModelFolder, arrays: Mapping[str, np.ndarray] | None = None) -> Affine:
    """Return the map of a folder, of its arrays; raise InputError where it does not describe one."""
    try:
        return Affine.of_arrays(
            folder.arrays() if arrays is None else arrays, folder.config["model"]["languages"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"model:{folder.path}: its config.json does not describe such a model ({error}): copy the model "
            "anew"
        ) from None


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> FittedTransform:
    """Return the encoder of texts; raise InputError for images, without a base, or on another base."""
    if context.kind == IMAGES:
        raise InputError(f"model:{folder.path} was fitted on texts and encodes no images")
    base = check_base(folder, context.base, options["base"] == "trusted")
    return FittedTransform(folder, base, hubs=options["hubs"] == "corrected")
