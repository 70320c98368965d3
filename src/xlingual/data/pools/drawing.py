"""Drawing the candidates of a mixed pool so that the languages have their shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.data.pools.roles import ItemRoles
from xlingual.errors import InputError, listed


def draw_all(
    manifest: Manifest,
    items: Sequence[ItemRoles],
    shares: Floats | None,
    total: int | None,
    rng: np.random.Generator,
) -> Ints:
    """Return the rows [m] that are candidates, where an item may have any number of them."""
    rows = np.array([row for item in items for own in item.answers.values() for row in own], dtype=np.int64)
    language = manifest.language[rows]
    if len(rows) == 0 or (shares is None and total is None):
        return rows
    supply = supply_of([(code,) for code in language.tolist()])
    if shares is None:  # the shares they have; a rare language may then lose all its candidates
        natural = np.bincount(language, minlength=len(manifest.languages)) / len(rows)
        quotas = _rounded(manifest, supply, natural, total)
    else:
        quotas = _quotas(manifest, supply, shares, total)
    rows = rng.permutation(np.sort(rows))
    language = manifest.language[rows]
    return np.concatenate([rows[language == code][:quota] for code, quota in enumerate(quotas.tolist())])


def draw_one(
    manifest: Manifest,
    items: Sequence[ItemRoles],
    shares: Floats | None,
    total: int | None,
    rng: np.random.Generator,
) -> Ints:
    """Return the rows [m] that are candidates, at most one for each item."""
    wanted = range(len(manifest.languages)) if shares is None else np.flatnonzero(shares).tolist()
    options: list[Options] = [tuple(code for code in wanted if code in item.answers) for item in items]
    if shares is None:
        possible = sum(1 for own in options if own)
        if total is not None and total > possible:
            raise InputError(
                f"{manifest.source}: {total} candidates are wanted, but only {possible} items have texts for "
                "one: ask for fewer candidates"
            )
        language = np.array([rng.choice(own) if own else -1 for own in options], dtype=np.int64)
        kept = rng.permutation(np.flatnonzero(language >= 0))[:total]
        language[np.setdiff1d(np.arange(len(items)), kept)] = -1
    else:
        quotas = _quotas(manifest, supply_of(options), shares, total)
        language = draw_languages(options, quotas, rng)
    chosen = [item.answers[code] for item, code in zip(items, language.tolist(), strict=True) if code >= 0]
    return np.array([own[int(rng.integers(len(own)))] for own in chosen], dtype=np.int64)


def _quotas(manifest: Manifest, supply: Mapping[Options, int], shares: Floats, total: int | None) -> Ints:
    """Return how many candidates [languages] to draw of each language, at least one of each wanted one."""
    have = _have(manifest, supply, shares)
    for tag in (tag for tag, count in have.items() if count == 0):
        raise InputError(
            f"{manifest.source}: no text in {tag!r} can be a candidate "
            f"(possible candidates: {numbers_listed(have)}): an item's first text in a question language is "
            "its question; choose other question languages, or leave it out of the mix"
        )
    quotas = _rounded(manifest, supply, shares, total)
    for code in np.flatnonzero((quotas == 0) & (shares > 0)).tolist():
        raise InputError(
            f"{manifest.source}: of {quotas.sum()} candidates the share of {manifest.languages[code]!r} "
            f"({shares[code]:.2%}) is less than one: raise its share or leave it out, or draw more candidates"
        )
    return quotas


def _rounded(manifest: Manifest, supply: Mapping[Options, int], shares: Floats, total: int | None) -> Ints:
    """Return `total` candidates (None: as many as there can be) in these shares."""
    most = most_possible(supply, shares, total)
    if most > 0 and (total is None or most == total):
        return largest_remainder(shares, most)
    wanted = numbers_listed(
        {tag: f"{shares[code]:.1%}" for code, tag in enumerate(manifest.languages) if shares[code]}
    )
    possible = f"possible candidates: {numbers_listed(_have(manifest, supply, shares))}"
    if total is None or most == 0:
        raise InputError(
            f"{manifest.source}: no number of candidates has the shares {wanted} ({possible}): change them"
        )
    raise InputError(
        f"{manifest.source}: {total} candidates cannot be drawn as {wanted}, only {most} can ({possible}): "
        "ask for fewer candidates or change the shares"
    )


def _have(manifest: Manifest, supply: Mapping[Options, int], shares: Floats) -> dict[str, int]:
    """Return how many things can serve as a candidate in each wanted language."""
    return {
        tag: sum(count for options, count in supply.items() if code in options)
        for code, tag in enumerate(manifest.languages)
        if shares[code] > 0
    }


Options: TypeAlias = tuple[int, ...]  # the languages, ascending, in one of which a thing may serve


def largest_remainder(shares: Floats, total: int) -> Ints:
    """Return `total` things divided by shares [g] (sum 1): rounded down, the rest to the largest remainders.

    Of equal remainders the earlier language wins.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    exact = np.round(shares * total, 9)  # 0.1 · 30 is 3, not 3.0000000000000004
    quotas = np.floor(exact).astype(np.int64)
    order = np.argsort(-np.round(exact - quotas, 9), kind="stable")
    quotas[order[: total - quotas.sum()]] += 1
    return quotas


def can_meet(supply: Mapping[Options, int], quotas: Ints) -> bool:
    """Return whether a supply meets quotas [g], each thing serving as one of its languages at most once.

    It is a maximum flow from the kinds of things to the languages.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    if all(len(options) == 1 for options in supply):
        return all(supply.get((code,), 0) >= quota for code, quota in enumerate(quotas.tolist()))
    first = 1 + len(supply)  # node 0 is the source, then the kinds, the languages, the sink
    sink = first + len(quotas)
    edges = [(0, 1 + kind, count) for kind, count in enumerate(supply.values())]
    edges += [
        (1 + kind, first + code, count)
        for kind, (options, count) in enumerate(supply.items())
        for code in options
    ]
    edges += [(first + code, sink, quota) for code, quota in enumerate(quotas.tolist())]
    left, right, capacity = zip(*edges, strict=True)
    graph = csr_array((np.array(capacity, dtype=np.int32), (left, right)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value) == int(quotas.sum())


def most_possible(supply: Mapping[Options, int], shares: Floats, most: int | None = None) -> int:
    """Return the largest total (up to `most`) whose rounded shares the supply meets; 0 for none.

    Rounding is not monotone: some total may fail although a larger one can be met. Rounding all shares down
    is, and bounds the search from above.
    """
    high = sum(supply.values()) if most is None else min(most, sum(supply.values()))
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if can_meet(supply, np.floor(np.round(shares * middle, 9)).astype(np.int64)):
            low = middle
        else:
            high = middle - 1
    while low > 0 and not can_meet(supply, largest_remainder(shares, low)):
        low -= 1
    return low


def draw_languages(options: Sequence[Options], quotas: Ints, rng: np.random.Generator) -> Ints:
    """Return a language for each of n things, −1 for one that is left out, so that the quotas [g] are met.

    Things come in a random order and take one of their languages in proportion to what its quota has left;
    where all are full, others move to another of their languages to make room (augmenting paths). As many
    things are placed as any assignment could place.
    """
    left = quotas.tolist()
    language = np.full(len(options), -1, dtype=np.int64)
    holders: dict[int, dict[Options, list[int]]] = {code: {} for code in range(len(left))}
    hopeless: set[Options] = set()
    for thing in rng.permutation(len(options)).tolist():
        own = options[thing]
        if own in hopeless:
            continue
        weights = np.array([left[code] for code in own], dtype=np.float64)
        if weights.sum() > 0:
            code = own[int(rng.choice(len(own), p=weights / weights.sum()))]
        else:
            path = _path(own, left, holders)
            if not path:
                hopeless.add(own)  # languages that are full for it now stay full
                continue
            code = path[0][0]
            for start, kind, end in reversed(path):
                moved = holders[start][kind].pop()
                holders[end].setdefault(kind, []).append(moved)
                language[moved] = end
                left[start], left[end] = left[start] + 1, left[end] - 1
        language[thing] = code
        holders[code].setdefault(own, []).append(thing)
        left[code] -= 1
    return language


def _path(
    own: Options, left: Sequence[int], holders: Mapping[int, Mapping[Options, Sequence[int]]]
) -> list[tuple[int, Options, int]]:
    """Return moves (from, kind, to), first to last, that free a place in an own language; [] for none."""
    came: dict[int, tuple[int, Options] | None] = dict.fromkeys(own)
    queue = list(own)
    for start in queue:
        for kind, held in holders[start].items():
            for end in kind if held else ():
                if end in came:
                    continue
                came[end] = (start, kind)
                if left[end] > 0:
                    return _unwound(came, end)
                queue.append(end)
    return []


def _unwound(came: Mapping[int, tuple[int, Options] | None], end: int) -> list[tuple[int, Options, int]]:
    moves = []
    while (step := came[end]) is not None:
        moves.append((*step, end))
        end = step[0]
    return moves[::-1]


def supply_of(options: Sequence[Options]) -> dict[Options, int]:
    """Return how many things there are of each kind, those without any language left out."""
    counts = Counter(options)
    return {kind: counts[kind] for kind in sorted(counts) if kind}


def numbers_listed(numbers: Mapping[str, object]) -> str:
    """Return "en 3, de 1"."""
    return listed((f"{tag} {number}" for tag, number in numbers.items()), 40)
