"""Correlations of an encoder's numbers with people's: measures of a whole file, without values per query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias


@dataclass(frozen=True)
class PearsonCorrelation:
    """Pearson's correlation: the same for cosines that are shifted, or multiplied by 5."""

    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    name: ClassVar[str] = "Pearson"


@dataclass(frozen=True)
class SpearmanCorrelation:
    """Spearman's correlation: Pearson's of ranks, equal numbers sharing their mean rank."""

    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    name: ClassVar[str] = "Spearman"


Agreement: TypeAlias = PearsonCorrelation | SpearmanCorrelation
