"""The verdict on several pools: whether one encoder is the best on all, and whether the order is the same."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.pool_columns import PoolColumn


def findings(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the sentences about pools by a measure of a name."""
    apart = "Pools have questions of their own: differences are tested within each pool, not between two."
    return [*_best(pools, name), *_order(pools), apart]


def _best(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the best encoder of each pool, and with whom it is level."""
    known = [(pool, pool.ordered[0]) for pool in pools if len(pool.ordered) > 1]
    if not known:
        return _alone(pools, name)
    level = [
        f"level with {numbers.in_words(names)} on {pool.name}"
        for pool, _ in known
        if (names := [one for one, row in pool.rows.items() if row.standing == "level"])
    ]
    text = f" ({numbers.in_words(level)})" if level else ""
    if len({best for _, best in known}) == 1:
        where = numbers.in_words([pool.name for pool, _ in known])
        return [f"{known[0][1]} has the best {name} on {where}{text}."]
    best = numbers.in_words([f"{best} on {pool.name}" for pool, best in known])
    return [f"The best {name} is not that of one encoder: {best}{text}."]


def _alone(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the values where every pool has a single encoder."""
    shown = [
        f"{row.encoder} {numbers.with_interval(row.value, row.ci, row.measure)} on {pool.name}"
        for pool in pools
        for row in pool.rows.values()
    ]
    return [f"{name}: {numbers.in_words(shown)}."]


def _order(pools: Sequence[PoolColumn]) -> list[str]:
    """Return whether the encoders that are on all pools come in the same order on each."""
    shared = [name for name in pools[0].ordered if all(name in pool.ordered for pool in pools)]
    if len(shared) < 2:
        return []
    orders = [[name for name in pool.ordered if name in shared] for pool in pools]
    if all(order == orders[0] for order in orders):
        where = "both pools" if len(pools) == 2 else f"all {len(pools)} pools"
        return [f"The order of the {len(shared)} encoders is the same on {where}."]
    shown = "; ".join(
        f"on {pool.name} {', '.join(order[:5])}{' …' if len(order) > 5 else ''}"
        for pool, order in zip(pools, orders, strict=True)
    )
    return [f"The order of the encoders differs between the pools: {shown}."]
