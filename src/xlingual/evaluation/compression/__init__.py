"""What smaller vectors lose: the same queries, by language pair, for one form after another."""

from xlingual.evaluation.compression.asked import Asked, Sides
from xlingual.evaluation.compression.pairs import OverPairs
from xlingual.evaluation.compression.pools import OverPool

__all__ = ["Asked", "OverPairs", "OverPool", "Sides"]
