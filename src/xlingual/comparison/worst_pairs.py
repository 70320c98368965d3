"""The language pairs that a model is worst at, chosen by other queries than those they are judged on.

Pairs chosen because they came out low come out higher on other data (regression to the mean): any other
model would seem to improve them. So pairs are chosen on one half of the queries and judged on the other,
both ways round; and where a model was trained several times, each training is judged on pairs that the other
trainings are worst at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.comparison.queries import Queries
from xlingual.comparison.trainings import Share
from xlingual.results.case_study import Worst, WorstPair
from xlingual.streams import stream

_HALVES = (0, 1)


@dataclass(frozen=True)
class JudgedPairs:
    """Language pairs (codes) that a training is judged on, on the queries at `rows`."""

    training: int
    pairs: Ints
    rows: Ints


def choices(queries: Queries, triplet: Sequence[str], number: int, seed: int) -> list[JudgedPairs] | str:
    """Return the choices of `number` pairs for each training and half, or why there is none, in words."""
    pair = queries.labels["pair"].code
    known = np.unique(pair)
    if len(known) < 2:
        return "there is one language pair only, so none can be called the worst"
    half = _halves(queries, seed)
    for part in _HALVES:
        if len(np.unique(pair[half == part])) < len(known):
            return "some language pair has too few queries to divide them into two halves"
    found = []
    for training, own in enumerate(triplet):
        others = [name for name in triplet if name != own] or [own]
        for part in _HALVES:
            chosen = worst_of(queries, others, np.flatnonzero(half != part), number)
            rows = np.flatnonzero((half == part) & np.isin(pair, chosen))
            found.append(JudgedPairs(training, chosen, rows))
    return found


def worst_of(queries: Queries, encoders: Sequence[str], rows: Ints, number: int) -> Ints:
    """Return the codes of the pairs with the lowest mean over encoders, on the queries at `rows`."""
    weight = queries.take(rows).weight
    mean = np.mean([queries.values[queries.row_of(name)][rows] for name in encoders], axis=0)
    codes, place = np.unique(queries.labels["pair"].code[rows], return_inverse=True)
    values = np.bincount(place, weight * mean) / np.bincount(place, weight)
    return codes[np.argsort(values, kind="stable")[:number]]


def shares(found: Sequence[JudgedPairs], first: Sequence[str], second: Sequence[str]) -> list[list[Share]]:
    """Return, for each training, the queries that its choices name."""
    return [
        [Share(one, other, choice.rows) for choice in found if choice.training == training]
        for training, (one, other) in enumerate(zip(first, second, strict=True))
    ]


def described(
    queries: Queries, found: Sequence[JudgedPairs], triplet: Sequence[str], xl: Sequence[str], number: int
) -> Worst:
    """Return how the pairs were chosen, and the gain that a choice by the judged queries would have shown."""
    everything = np.arange(len(queries))
    shown = worst_of(queries, triplet, everything, number)
    named, counts = np.unique(np.concatenate([choice.pairs for choice in found]), return_counts=True)
    share = dict(zip(named.tolist(), (counts / len(found)).tolist(), strict=True))
    also = sorted((code for code in share if code not in shown), key=lambda code: (-share[code], code))
    own = [worst_of(queries, [name], everything, number) for name in triplet]
    return Worst(
        number=number,
        shown=[_pair(queries, code, share) for code in shown.tolist()],
        also_chosen=[_pair(queries, code, share) for code in also],
        other_trainings=len(triplet) > 1,
        same_data=_mean_gain(queries, own, [[name] for name in xl], triplet) if xl else None,
        retrained=_mean_gain(queries, own, [[o for o in triplet if o != name] for name in triplet], triplet)
        if len(triplet) > 1
        else None,
    )


def _mean_gain(
    queries: Queries, pairs: Sequence[Ints], first: Sequence[Sequence[str]], second: Sequence[str]
) -> float:
    """Return the mean over trainings of what `first` gains over `second` on the pairs of each."""
    code = queries.labels["pair"].code
    gains = []
    for chosen, ahead, behind in zip(pairs, first, second, strict=True):
        rows = np.flatnonzero(np.isin(code, chosen))
        weight = queries.take(rows).weight
        mean = {name: float(weight @ queries.values[queries.row_of(name)][rows]) for name in (*ahead, behind)}
        gains += [mean[name] - mean[behind] for name in ahead]
    return float(np.mean(gains))


def _halves(queries: Queries, seed: int) -> Ints:
    """Return the half [n] of each query; those of one cluster are in one half, over all pairs."""
    owners, place = np.unique(queries.own, return_inverse=True)
    half: Ints = stream(seed, "case study: halves").permutation(len(owners))[place] % 2
    return half


def _pair(queries: Queries, code: int, share: dict[int, float]) -> WorstPair:
    rows = np.flatnonzero(queries.labels["pair"].code == code)
    return WorstPair(*queries.take(rows).direction, share.get(code, 0.0))
