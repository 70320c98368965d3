"""Fitting many transforms on some vectors, and choosing among them by what a callback says of each."""

from xlingual.repair.candidates import CORRECTIONS, Step, steps
from xlingual.repair.search import Judged, NotFitted, Search, Tried, search

__all__ = ["CORRECTIONS", "Judged", "NotFitted", "Search", "Step", "Tried", "search", "steps"]
