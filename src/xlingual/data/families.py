"""Families: units (items, clusters) with near-equal texts, which never stand in two parts of the data.

A map that is fitted on one variant of a product and tested on another has seen the test. Texts are compared
by shingles (`near_texts`), within each language. A chain of more than a twentieth of all units keeps its
nearest links only (`components.without_chains`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import pick
from xlingual.data.components import Links, components, without_chains
from xlingual.data.near_texts import SIMILAR, near_texts


def text_links(
    text: Sequence[str], language: Ints, rows: Ints, queries: Ints | None = None, shingles: int | None = None
) -> Links:
    """Link the rows whose texts are near-equal, within each language.

    Args:
        text: all texts [n].
        language: the code of each text's language [n].
        rows: the rows to compare.
        queries: only links of these rows; all of `rows` if None.
        shingles: about how many shingles of a text to compare; all if None.

    """
    links = []
    for code in distinct_values(language[rows]).tolist():
        spoken = rows[language[rows] == code]
        queried = None if queries is None else np.flatnonzero(np.isin(spoken, queries))
        first, second, similarity = near_texts(pick(text, spoken), queried, shingles=shingles)
        links.append(Links(spoken[first], spoken[second], (1 - similarity) / (1 - SIMILAR)))
    return Links.joined(links)


def families(text: Sequence[str], language: Ints, unit: Ints) -> Ints:
    """Join units with near-equal texts: the code of each text's family [n], equal within a unit."""
    names, code = np.unique(unit, return_inverse=True)
    links = text_links(text, language, np.arange(len(unit))).between(code)
    family: Ints = components(len(names), without_chains(len(names), links)[0])[code]
    return family


def joined_units(unit: Ints, family: Ints) -> int:
    """Count the units that share their family with another unit."""
    of_unit = family[np.unique(unit, return_index=True)[1]]
    sizes = np.bincount(of_unit)
    return int(sizes[sizes > 1].sum())
