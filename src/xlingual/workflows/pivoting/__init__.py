"""`train pivot` and `data pivot-pairs`: languages brought together by images alone, chosen and tested."""

from xlingual.workflows.pivoting.text_pairs import TextPairs, pivot_pairs
from xlingual.workflows.pivoting.trained import Pivoted, train_pivot

__all__ = ["Pivoted", "TextPairs", "pivot_pairs", "train_pivot"]
