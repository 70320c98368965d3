"""Approximate ranking: an index finds the candidates worth scoring, the others are taken to be below.

The evaluations that offer it (`evaluation.approximation`) measure in every run how far that is from exact.
"""

from xlingual.ranking.approximate.ranker import Approximate
from xlingual.ranking.approximate.search import KINDS, Search

__all__ = ["KINDS", "Approximate", "Search"]
