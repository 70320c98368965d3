"""The nearest texts of each language for each text, among all that are trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.models.folder import CHECKPOINT
from xlingual.models.triplet import Triplet
from xlingual.models.unit import side_by_side
from xlingual.ragged import starts
from xlingual.ranking import Cosine, UnitVectors, top
from xlingual.training.recipes.text_pairs import TextPairs
from xlingual.training.recipes.triplet_options import TripletOptions

_BATCH = 4096


class NeighbourIndex:
    """Finds the neighbours; keeps them with the checkpoint of a model for a training that is continued."""

    def __init__(self, pairs: TextPairs, options: TripletOptions, folder: Path) -> None:
        self._pairs, self._options, self._folder = pairs, options, folder / CHECKPOINT
        self._made: tuple[int, Ints] | None = None

    def of_epoch(self, epoch: int, model: Triplet) -> Ints:
        """Return numbers of texts, int64 [n, languages, k], nearest first; -1 where there are too few.

        Made in epoch 1 and anew every `refresh` epochs, by the weights as they are then; by base vectors
        once.
        """
        by_base = self._options.neighbours_by == "base"
        since = 1 if by_base else epoch - (epoch - 1) % self._options.refresh
        if self._made is None or self._made[0] != since:
            if since == epoch or by_base:
                pairs = self._pairs
                title, body = (pairs.title, pairs.body) if by_base else mapped_pairs(model, pairs)
                if self._options.neighbours_in == "concatenated":
                    title = body = _joined(title, body, self._options.scaling)
                self._made = since, nearest(pairs, title, body, self._options.neighbours)
                self._keep(*self._made)
            else:
                self._made = since, self._read(since)
        return self._made[1]

    def _path(self, epoch: int) -> Path:
        return self._folder / f"neighbours.{epoch}.npy"

    def _keep(self, epoch: int, found: Ints) -> None:
        if self._options.refresh == 1 or self._options.neighbours_by == "base":
            return  # it is made again where a training is continued
        make_folder(self._folder)
        with atomic_file(self._path(epoch)) as temporary, temporary.open("wb") as file:
            np.save(file, found)
        for path in self._folder.glob("neighbours.*.npy"):
            if path != self._path(epoch):
                path.unlink()

    def _read(self, epoch: int) -> Ints:
        try:
            found: Ints = np.load(self._path(epoch), allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._path(epoch)}, the neighbours of the training that is continued, cannot be read "
                f"({error}): train again, in another folder"
            ) from None
        return found


def mapped_pairs(model: Triplet, pairs: TextPairs) -> tuple[Vectors, Vectors]:
    """Return x_t and x_b of all texts, float32 [n, out] each."""
    device = next(model.parameters()).device
    title, body = (np.empty((len(pairs), model.config.out_dim), dtype=np.float32) for _ in range(2))
    views = ((title, model.title, pairs.title), (body, model.body, pairs.body))
    with torch.inference_mode():
        for start in range(0, len(pairs), _BATCH):
            part = slice(start, start + _BATCH)
            for out, tower, given in views:
                out[part] = tower(torch.tensor(given[part], device=device)).float().cpu().numpy()
    return title, body


def _joined(title: Vectors, body: Vectors, scaling: str) -> Vectors:
    """Return title and body side by side, float32 [n, 2·d]."""
    joined = np.empty((len(title), 2 * title.shape[1]), dtype=np.float32)
    for start in range(0, len(title), _BATCH):
        part = slice(start, start + _BATCH)
        halves = torch.tensor(title[part]), torch.tensor(body[part])
        joined[part] = side_by_side(*halves, scaling).numpy()
    return joined


def nearest(pairs: TextPairs, title: Vectors, body: Vectors, k: int) -> Ints:
    """Return the k titles nearest to each body by cosine, of each language, int64 [n, languages, k].

    None belongs to the body's own item; of equally near ones any may be taken. -1 where fewer than k.
    """
    n, codes = len(pairs), len(pairs.languages)
    per_item = np.unique(np.stack([pairs.item, pairs.language]), axis=1, return_counts=True)[1]
    most = k + int(per_item.max())  # enough, however many of them belong to its own item
    found = np.full((n, codes, k), -1, dtype=np.int64)
    rankings = top(Cosine(UnitVectors(body), UnitVectors(title)), most, groups=pairs.language)
    for code, ranking in enumerate(rankings):
        other = pairs.item[ranking.query] != pairs.item[ranking.candidate]
        query, candidate = ranking.query[other], ranking.candidate[other]
        first = starts(query, n)
        rank = np.arange(len(query)) - first[query]
        taken = rank < k
        found[query[taken], code, rank[taken]] = candidate[taken]
    found[(found < 0).any(axis=2)] = -1
    return found
