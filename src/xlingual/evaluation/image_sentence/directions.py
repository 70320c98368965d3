"""The two directions of image–sentence ranking."""

from __future__ import annotations

from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.rankings import IMAGE


def both_ways(language: str) -> tuple[Subject, Subject]:
    """Return the two directions of a language: sentence → image, image → sentence."""
    return Subject(language, IMAGE), Subject(IMAGE, language)
