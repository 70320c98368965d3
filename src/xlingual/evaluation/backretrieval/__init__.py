"""Backretrieval: nearest text, way back, baselines, scores; `evaluate` goes through them in this order."""

from xlingual.evaluation.backretrieval.evaluate import backretrieval

__all__ = ["backretrieval"]
