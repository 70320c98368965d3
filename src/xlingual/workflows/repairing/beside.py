"""Backretrieval and SIM beside a repair: shown with a warning, since they are no judges of one."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from xlingual.comparison.compare import compare
from xlingual.data.manifest import Manifest
from xlingual.encoders import Encoder, ImageModelLike
from xlingual.encoders.mapped import MappedTexts
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.records import HubCorrection
from xlingual.results.repair import Beside
from xlingual.store import StoreLike
from xlingual.transforms.affine import Affine

BEFORE, AFTER = "before", "after"


def beside(
    data: Manifest,
    items: Collection[str],
    encoder: Encoder,
    map: Affine | None,
    correction: HubCorrection | None,
    image_encoder: ImageModelLike,
    store: StoreLike,
    seed: int,
) -> list[Beside]:
    """Return BkR and SIM of the encoder as it is and repaired, on some items of the data.

    Where there is no map nothing changes, and nothing is evaluated.
    """
    if map is None:
        return []
    tested = np.array([data.item_ids[own] in items for own in data.item])
    part = data.part(np.unique(data.table_row[tested]))
    found = backretrieval(
        part,
        {BEFORE: encoder, AFTER: MappedTexts(encoder, map, correction)},
        image_encoder=image_encoder,
        examples=False,
        neighbours=False,
        store=store,
        seed=seed,
    )
    rows = []
    for board in compare(found, baseline=BEFORE).boards:
        if board.source is not None or board.column is not None:
            continue
        by_name = {row.encoder: row for row in board.rows}
        after, before = by_name[AFTER], by_name[BEFORE]
        if after.difference is None:
            raise InputError(f"{board.measure} of too few items: {after.note}")
        rows.append(Beside(board.measure, before.value, after.value, after.difference, after.ci))
    return rows
