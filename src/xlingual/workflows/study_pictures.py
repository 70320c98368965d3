"""The pictures of a study, opened once each before anything is written."""

from __future__ import annotations

import warnings

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Report
from xlingual.errors import DataWarning, InputError
from xlingual.study.design import Design
from xlingual.study.images import encoded


def pictures_of(manifest: Manifest, design: Design, progress: Report | None = None) -> dict[str, bytes]:
    """Return the pictures of a study, by file name; raise InputError where one cannot be opened.

    Warns (DataWarning) where some texts have a picture and others have none.
    """
    shown = [one for query in design.study.queries for one in (query.shown, *query.suggestions)]
    without = sum(one.image is None for one in shown)
    if 0 < without < len(shown):
        warnings.warn(
            f"{without} of {len(shown)} texts of the study have no picture, which raters may hold against "
            "them: give all a picture, or show none (--no-pictures)",
            DataWarning,
            stacklevel=3,
        )
    images: dict[str, bytes] = {}
    for name, slot in design.pictures.items():
        number = int(slot)
        row = int(np.flatnonzero(manifest.picture == number)[0])
        try:
            images[name] = encoded(manifest.picture_source[number], row=manifest.ids[row])
        except InputError as error:
            raise InputError(f"{error}; or ask with texts alone (--no-pictures)") from error
        if progress is not None:
            progress("preparing pictures", len(images), len(design.pictures))
    return images
