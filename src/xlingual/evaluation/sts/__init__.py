"""Semantic textual similarity (STS): do cosines of sentence pairs follow people's scores."""

from xlingual.evaluation.sts.evaluate import sts

__all__ = ["sts"]
