"""How files of vectors may number the rows of a manifest."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.reading.textrows import TextRows
from xlingual.records import Numbering


def numberings(rows: TextRows, note: str = "") -> tuple[Numbering, ...]:
    """Return the numberings of all text rows: by text of the language, by item, by row.

    Where a file has as many lines as there are texts of a language and as there are items, the texts win: a
    file made for one language was made from its texts, in their order.

    `note` is put behind the unit, for numberings of the whole manifest when a part of it was chosen.
    """
    n_languages = len(rows.languages)
    counts = np.bincount(rows.language, minlength=n_languages)
    sizes: dict[str | None, int] = dict(zip(rows.languages, counts.tolist(), strict=True))
    return (
        Numbering(f"texts of the language{note}", position_in_group(rows.language), sizes),
        Numbering(f"items{note}", rows.item, dict.fromkeys([None, *sizes], rows.n_items)),
        Numbering(f"rows{note}", np.arange(len(rows), dtype=np.int64), {None: len(rows)}),
    )


def position_in_group(group: Ints) -> Ints:
    """Return how many earlier rows are of the same group (a code from 0), int64 [n]."""
    counts = np.bincount(group)
    order = np.argsort(group, kind="stable")
    starts = np.cumsum(counts) - counts
    position = np.empty(len(group), dtype=np.int64)
    position[order] = np.arange(len(group)) - starts[group[order]]
    return position
