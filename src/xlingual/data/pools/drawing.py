"""Drawing the candidates of a mixed pool so that the languages have their shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.data.pools.quotas import (
    Options,
    draw_languages,
    largest_remainder,
    most_possible,
    supply_of,
)
from xlingual.data.pools.roles import ItemRoles
from xlingual.data.pools.shares import told
from xlingual.errors import InputError


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
            f"{manifest.source}: no text in {tag!r} can be a candidate (possible candidates: {told(have)}): "
            "an item's first text in a question language is its question; choose other question languages, "
            "or leave it out of the mix"
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
    wanted = told({tag: f"{shares[code]:.1%}" for code, tag in enumerate(manifest.languages) if shares[code]})
    possible = f"possible candidates: {told(_have(manifest, supply, shares))}"
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
