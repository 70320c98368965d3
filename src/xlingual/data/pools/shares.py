"""What a user asks of a mix: languages, shares and numbers, checked."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError, did_you_mean, listed


def shares_of(mix: Mapping[str, float] | None, manifest: Manifest) -> Floats | None:
    """Return the share of each of the manifest's languages, float64 [languages] of sum 1; None for no mix."""
    if mix is None:
        return None
    shares = np.zeros(len(manifest.languages))
    for tag, share in mix.items():
        if not math.isfinite(share) or share < 0:
            raise InputError(f"the mix gives {tag!r} the share {share}: a share is a number from 0 up")
        shares[_code(tag, manifest, "the mix names")] = share
    if np.count_nonzero(shares) < 2:
        raise InputError(
            f"the mix {told(mix) or 'is empty and'} leaves fewer than two languages: give at least two a "
            f"share; {manifest.source} has {listed(manifest.languages, 40)}"
        )
    shares /= shares.max()  # so that no sum overflows
    normalised: Floats = shares / shares.sum()
    return normalised


def asking_languages(
    named: Sequence[str] | None, shares: Floats | None, manifest: Manifest
) -> Collection[int]:
    """Return the codes of the question languages; by default those of the mix, else all."""
    if named is not None:
        if isinstance(named, str) or not named:
            raise InputError("question_languages: expected a list of at least one language, such as ['en']")
        return sorted({_code(tag, manifest, "the question languages name") for tag in named})
    if shares is None:
        return range(len(manifest.languages))
    return [int(code) for code in np.flatnonzero(shares)]


def check_count(what: str, count: int | None) -> None:
    """Raise InputError where a number of things to draw is none."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise InputError(f"{what}: expected a whole number from 1 up, found {count!r}")


def told(numbers: Mapping[str, object]) -> str:
    """Return "en 3, de 1"."""
    return listed((f"{tag} {number}" for tag, number in numbers.items()), 40)


def _code(tag: str, manifest: Manifest, who: str) -> int:
    if tag not in manifest.languages:
        raise InputError(
            f"{who} {tag!r}, but {manifest.source} has no texts in it."
            f"{did_you_mean(tag, manifest.languages)} Its languages: {listed(manifest.languages, 40)}"
        )
    return manifest.languages.index(tag)
