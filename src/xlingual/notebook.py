"""HTML for notebooks: the verdict and the tables of an object's page, made when the object is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlingual.tasks import load

RENDERER = "xlingual.report:in_notebook"  # of a higher layer, so it is a dotted name and loaded late
VERDICT = "xlingual.report:verdict"


@dataclass(frozen=True)
class Overview:
    """The sizes of texts with images."""

    name: str
    n_items: int
    texts: Mapping[str, int]  # by language
    n_images: int


@dataclass(frozen=True)
class PoolOverview:
    """The sizes of a pool."""

    name: str
    questions: Mapping[str, int]  # by language
    candidates: Mapping[str, int]
    n_relevant: int  # pairs of a question and a right answer


def html_of(thing: Any) -> str | None:  # noqa: ANN401  (a record of results, or an overview)
    """Return a thing as HTML for a notebook; None where it is shown as Python does."""
    shown: str | None = load(RENDERER)(thing)
    return shown


def verdict_of(thing: Any) -> list[str]:  # noqa: ANN401  (a record of results)
    """Return what the numbers of a thing say as plain sentences."""
    sentences: list[str] = load(VERDICT)(thing)
    return sentences
