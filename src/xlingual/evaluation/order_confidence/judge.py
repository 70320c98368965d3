"""The record of a leaderboard: how sure the order is of the leader and each other encoder, and of neighbours.

No probability is given outside what the model was fitted to: other measures, numbers of queries, searches
that are not exact, repaired similarities, and kinds of encoders that Backretrieval cannot order.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from xlingual.evaluation.estimates import Score
from xlingual.evaluation.numbers import Numbers
from xlingual.evaluation.order_confidence.model import bin_of, fitted, probability
from xlingual.results import Results
from xlingual.results.order_confidence import OrderBasis, OrderConfidence, OrderedPair

SIM = "SIM"
CLOSE = 0.6  # share of orders that are right below which no figure is given
LITTLE = 0.055  # below, the prototype had .31 to .83 of the pairs in order


def order_confidence(
    results: Results, numbers: Numbers, looks: Mapping[str, float | None], repaired: Mapping[str, str]
) -> OrderConfidence | None:
    """Return the order of a leaderboard, pair by pair; None for fewer than two encoders with a value.

    `looks` is the correlation of texts with images of each encoder (None: not known, absent for a search
    system); `repaired` names the encoders whose hubs are repaired, and how.
    """
    basis = fitted()
    overall = [row for row in results.summary if row.source is None and row.measure == basis.measure]
    board = sorted((row for row in overall if row.value is not None), key=lambda row: -(row.value or 0.0))
    if len(board) < 2:
        return None
    names = [row.encoder for row in board]
    leader = board[0]
    best = None if leader.value is None or leader.chance is None else leader.value - leader.chance
    note = _outside(results, basis, len(board)) or (None if best is not None else "chance is not known")
    refused = {name: why for name in names if (why := _kind(name, results, looks, repaired, basis))}
    scores = {
        (name, measure): numbers.mean(name, measure, numbers.subjects)
        for name in names
        for measure in (basis.measure, SIM)
    }
    pairs = []
    for place, name in enumerate(names[1:], start=1):
        for ahead in dict.fromkeys((names[0], names[place - 1])):
            adjacent = ahead == names[place - 1]
            why = note or refused.get(ahead) or refused.get(name)
            z, z_sim = (
                _gap(scores[ahead, measure], scores[name, measure]) for measure in (basis.measure, SIM)
            )
            if why is None and (z is None or z_sim is None):
                why = "no paired difference is known"
            if why is not None or z is None or z_sim is None or best is None:
                pairs.append(OrderedPair(ahead, name, adjacent, z, z_sim, note=why))
            else:
                one = OrderedPair(ahead, name, adjacent, z, z_sim)
                pairs.append(_judged(basis, one, ahead == names[0], best))
    known = {name: round(value, 6) for name, value in looks.items() if value is not None}
    return OrderConfidence(leader.image_encoder, basis.measure, best, pairs, basis, known, note)


def _gap(one: object, other: object) -> float | None:
    """Return a paired difference in standard errors, 0 where there is none; None where it is not known."""
    if not isinstance(one, Score) or not isinstance(other, Score):
        return None
    gap = one.less(other)
    if gap is None:
        return None
    return 0.0 if gap.value == 0 else float(gap.value / max(gap.standard_error(), 1e-9))


def _judged(basis: OrderBasis, pair: OrderedPair, leader: bool, best: float) -> OrderedPair:
    assert pair.z is not None
    assert pair.z_sim is not None
    p = probability(basis, pair.z, pair.z_sim, best)
    found = bin_of(basis, p, leader)
    note = None if found.said is not None else _limit(pair.z_sim, best, found.mean)
    return replace(pair, probability=p, right=found.said, ci=found.ci, note=note)


def _limit(z_sim: float, best: float, mean: float) -> str:
    """Return what keeps the order from being known, the first that holds."""
    if best < LITTLE:
        return f"images tell little (the best BkR is {best:.3f} above chance)"
    if z_sim < 0:
        return "SIM puts them the other way round"
    if mean < CLOSE:
        return "the two are too close"
    return "the data sets it was fitted to disagree"


def _outside(results: Results, basis: OrderBasis, n: int) -> str | None:
    """Return why the model does not hold for a whole run; None where it does."""
    own = [entry for entry in results.entries if entry.measure == basis.measure]
    if n > basis.most_encoders:
        return f"it was fitted to boards of {basis.most_encoders} encoders at the most, and here are {n}"
    sizes = [entry.n_source for entry in own]
    if min(sizes) < basis.fewest_queries:
        return f"it was fitted to {basis.fewest_queries} queries or more, and here are {min(sizes)}"
    if max(sizes) > basis.most_queries:
        return (
            f"it was fitted to {basis.most_queries:,} queries of a language pair at the most, and here are "
            f"{max(sizes):,}: --sample-size {basis.most_queries} draws as many"
        )
    return None


def _kind(
    name: str,
    results: Results,
    looks: Mapping[str, float | None],
    repaired: Mapping[str, str],
    basis: OrderBasis,
) -> str | None:
    """Return why Backretrieval cannot order an encoder; None where nothing speaks against it."""
    kinds = results.encoders.get(name, {})
    if kinds.get("returns_lists"):
        return f"{name} is a search system, of which no vectors are known"
    if kinds.get("trained_on_images"):
        return f"{name} was trained on images"
    if kinds.get("fitted_transform"):
        return f"{name} is a transform of another encoder"
    if name in repaired:
        return f"hubs of {name} are repaired ({repaired[name]})"
    own = looks.get(name)
    if own is not None and own > basis.most_looks:
        return (
            f"texts of {name} lie as their images do (correlation {own:.2f}; no encoder of the fit had more "
            f"than {basis.most_looks:.2f})"
        )
    return None
