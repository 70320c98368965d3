"""The pictures of a study, opened once each before anything is written."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.errors import DataWarning, InputError
from xlingual.study.design import Design
from xlingual.study.images import encoded


def pictures_of(manifest: Manifest, design: Design, progress: Progress | None = None) -> dict[str, bytes]:
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
    _refuse_missing(manifest, design)
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


def _refuse_missing(manifest: Manifest, design: Design) -> None:
    """Raise InputError where files of pictures are not there, with their number and the first."""
    sources = [manifest.picture_source[int(slot)] for slot in design.pictures.values()]
    missing = [source for source in sources if isinstance(source, Path) and not source.is_file()]
    if missing:
        raise InputError(
            f"{len(missing)} of the {len(sources)} pictures of the study are missing (first: {missing[0]}): "
            "put them there, correct the paths in the manifest, or ask with texts alone (--no-pictures)"
        )
