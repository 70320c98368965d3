"""Views as results hold them: values, and their intervals nested alike under "ci"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from xlingual.evaluation.scores import Score
from xlingual.results import Interval
from xlingual.results.views import PoolIntervals, PoolViews


class View(Protocol):
    """One view or several that belong together: what it writes under its own names, and its intervals."""

    def as_json(self) -> dict[str, Any]:
        """Return the values by the view's name; empty where the pool does not allow the view."""

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested like the values."""


def record_of(languages: Iterable[str], views: Iterable[View]) -> PoolViews:
    """Return `views` of an entry: the values of all views, and "ci" with their intervals."""
    views = list(views)
    found: dict[str, Any] = {"languages": list(languages)}
    intervals: dict[str, Any] = {}
    for view in views:
        found |= view.as_json()
        intervals |= view.intervals()
    return PoolViews(**found, ci=PoolIntervals(**intervals))


def values(scores: Mapping[str, Score]) -> dict[str, float]:
    """Return the value of each score."""
    return {name: score.value for name, score in scores.items()}


def intervals(scores: Mapping[str, Score]) -> dict[str, Interval]:
    """Return the interval of each score."""
    return {name: interval(score) for name, score in scores.items()}


def interval(score: Score) -> Interval:
    """Return the interval of one score."""
    return score.interval()
