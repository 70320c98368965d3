"""Which vectors are at hand: read from files, or kept in the store."""

from __future__ import annotations

import numpy as np

from xlingual.embed.encoding import is_kept, row_keys
from xlingual.encoders import Encoder, Stacked
from xlingual.records import Images, Texts
from xlingual.store import Store


def kept_rows(encoder: Encoder, batch: Texts | Images, store: Store | None) -> np.ndarray:
    """Return of which rows `encode` gives the vectors without a model's work, bool [n].

    Of an encoder on top of another it is the vectors of that one which count.
    """
    if isinstance(encoder, Stacked):
        parts = [kept_rows(encoder.base, part, store) for part in encoder.inputs(batch)]
        both: np.ndarray = np.logical_and.reduce(parts)
        return both
    if encoder.depends_on_batch:  # it would give the texts other vectors among other texts
        return np.zeros(len(batch), dtype=bool)
    if encoder.by_number:
        return np.ones(len(batch), dtype=bool)
    keys = row_keys(encoder, batch)
    if keys is None or store is None or not is_kept(encoder):
        return np.zeros(len(batch), dtype=bool)
    found: np.ndarray = store.collection(encoder.identity).find(keys) >= 0
    return found
