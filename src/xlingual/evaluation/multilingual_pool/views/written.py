"""Views as JSON: values, and their intervals nested alike under "ci"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from xlingual.evaluation.estimates import Score


class View(Protocol):
    """One view or several that belong together: what it writes under its own names, and its intervals."""

    def as_json(self) -> dict[str, Any]:
        """Return the values by the view's name; empty where the pool does not allow the view."""

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested like the values."""


def as_json(languages: Iterable[str], views: Iterable[View]) -> dict[str, Any]:
    """Return `views` of an entry: the values of all views, and "ci" with their intervals."""
    views = list(views)
    found: dict[str, Any] = {"languages": list(languages)}
    intervals: dict[str, Any] = {}
    for view in views:
        found |= view.as_json()
        intervals |= view.intervals()
    return {**found, "ci": intervals}


def values(scores: Mapping[str, Score]) -> dict[str, float]:
    """Return the value of each score."""
    return {name: score.value for name, score in scores.items()}


def intervals(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    """Return the interval of each score."""
    return {name: interval(score) for name, score in scores.items()}


def interval(score: Score) -> dict[str, Any]:
    """Return {low, high, level, method} of one score."""
    return asdict(score.interval())
