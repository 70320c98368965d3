"""The names that runs call texts by; they are read with the data (`data.names`)."""

from xlingual.data.names import AMBIGUOUS, UNKNOWN, Names, escaped

__all__ = ["AMBIGUOUS", "UNKNOWN", "Names", "escaped"]
