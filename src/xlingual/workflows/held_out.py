"""What a training is validated on: that it shares nothing with what is trained on, and is large enough."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from xlingual.data.holdout import hold_out
from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning, InputError, listed

_SMALL = 10  # items, all of which are among the first ten


def divided(manifest: Manifest, validation: Manifest | float, seed: int) -> tuple[Manifest, Manifest]:
    """Return what is trained on and what is validated on; raise InputError where they share texts."""
    if not isinstance(validation, Manifest):
        return hold_out(manifest, validation, seed)
    both = [part.texts(np.arange(len(part))).row_digests() for part in (manifest, validation)]
    if shared := both[0] & both[1]:
        raise InputError(
            f"{len(shared)} texts are both trained and validated on: choose other rows for --validation, "
            "such as another split"
        )
    if manifest.path is not None and manifest.path == validation.path:
        items = [set(np.unique(part.item_ids).tolist()) for part in (manifest, validation)]
        if both_sides := sorted(items[0] & items[1]):
            raise InputError(
                f"{len(both_sides)} items have texts on both sides of --validation ({listed(both_sides, 3)})"
                ": choose rows that keep each item whole"
            )
    pictures = [_picture_keys(part) for part in (manifest, validation)]
    if same := len(pictures[0] & pictures[1]):
        warnings.warn(
            f"{same} pictures are both trained and validated on, so the validation flatters: choose other "
            "rows for --validation",
            DataWarning,
            stacklevel=3,
        )
    return manifest, validation


def _picture_keys(manifest: Manifest) -> set[Path | bytes]:
    """Return what tells pictures apart without opening any: where a file lies, or a digest of the bytes."""
    return {
        hashlib.sha256(source).digest() if isinstance(source, bytes) else source.resolve()
        for source in manifest.picture_source
    }


def check_size(items: int, candidates: Mapping[str, int] | None = None) -> None:
    """Raise InputError, or warn, where there are too few items to rank: every epoch would be as good.

    `candidates`: language → texts, where each language is ranked by itself.
    """
    if items < 2:
        raise InputError(
            "the validation has one item (items that show one picture count as one), so there is nothing to "
            "rank: give more rows, or a larger share"
        )
    if items <= _SMALL:
        warnings.warn(
            f"the validation has {items} items, so R@10 is 100 whatever the model: give more to compare "
            "epochs by",
            DataWarning,
            stacklevel=5,
        )
    elif few := [f"{tag} {count}" for tag, count in (candidates or {}).items() if 0 < count <= _SMALL]:
        warnings.warn(
            f"the validation has few texts in some languages ({listed(few)}), so R@10 is 100 there whatever "
            "the model: give more to compare epochs by",
            DataWarning,
            stacklevel=5,
        )
