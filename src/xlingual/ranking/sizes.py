"""Which sizes of scores can be decided to 9 decimals, where scores are no cosines."""

from __future__ import annotations

from xlingual.errors import InputError
from xlingual.ranking.similarity import DECIMALS

ROUNDING = 2.0**-24  # of a float32 number, relative
MOST = 1e6  # of a score: a float64 sum of that size is right to 9 decimals
LEAST = 1e-4  # of the largest possible score: five decimals are left


def check_sizes(largest: float) -> None:
    """Raise InputError where scores, whose largest possible one is given, are not to be told apart.

    Multiplying all vectors by one number changes no rank.
    """
    if largest > MOST or 0 < largest < LEAST:
        where = f"up to {largest:.2g}, above {MOST:,.0f}" if largest > MOST else f"{largest:.2g} at most"
        raise InputError(
            f"scores are {where}: they are decided to {DECIMALS} decimals, for which the largest must be "
            f"{LEAST:g} to {MOST:,.0f}; multiply all vectors by one number, which changes no rank"
        )
