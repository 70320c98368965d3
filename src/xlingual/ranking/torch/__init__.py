"""Ranking with torch: tiles and reductions on a GPU (or on CPU tensors), in low precision, and still exact.

`TorchRanker` is a `Ranker` like any other. torch is imported when one is made, not before.
"""

from __future__ import annotations

from xlingual.ranking.torch.ranker import TorchRanker

__all__ = ["TorchRanker"]
