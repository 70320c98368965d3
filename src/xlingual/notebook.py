"""HTML for notebooks: the verdict and the tables of an object's page, made when the object is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlingual.tasks import load

RENDERER = "xlingual.report:in_notebook"  # of a higher layer, so it is a dotted name and loaded late


@dataclass(frozen=True)
class Overview:
    """The sizes of texts with images."""

    name: str
    n_items: int
    texts: Mapping[str, int]  # by language
    n_images: int


def html_of(thing: Any) -> str | None:  # noqa: ANN401  (a record of results, or an overview)
    """Return a thing as HTML for a notebook; None where it is shown as Python does."""
    shown: str | None = load(RENDERER)(thing)
    return shown
