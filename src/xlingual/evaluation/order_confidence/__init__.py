"""Order confidence: how likely "A before B by Backretrieval" is the order of true retrieval, without labels.

`model` is the fitted probability, `looks` sees encoders that know what images look like, `judge` makes the
record of a leaderboard. `fitted.json` is written by benchmarks/order_confidence.py.
"""

from xlingual.evaluation.order_confidence.judge import order_confidence

__all__ = ["order_confidence"]
