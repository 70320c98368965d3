"""Ranking with torch: tiles and reductions on a GPU (or on CPU tensors), in low precision, and still exact.

`TorchRanker` is a `Ranker` like any other. torch is imported when one is made, not before. Its modules are
imported when it is asked for: every evaluation imports `devices` alone, to see what there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xlingual.ranking.torch.ranker import TorchRanker

__all__ = ["TorchRanker"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (the class)
    if name != "TorchRanker":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from xlingual.ranking.torch.ranker import TorchRanker

    return TorchRanker
