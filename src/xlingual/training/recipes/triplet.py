"""The recipe of Triplet and TripletXL: batches of frozen vectors of titles and bodies, and their loss.

TripletXL's neighbours of a text r are the K nearest titles of each language, r's own item left out:

- `batch`, `current`: within the batch, by the cosine of x_b of r and x_t, as the weights are at this step
- `batch`, `base`: within the batch, by the cosine of the frozen vectors of r's body and of the titles
- `index`, `current`: among all training texts, as the weights were when the index was made, at the beginning
  of an epoch, anew every `refresh` epochs
- `index`, `base`: among all training texts, by the frozen vectors: made once

Whichever they are, their distances are those of the current weights, and the gradient goes through the body
and through its neighbours' titles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from xlingual.arrays import Ints
from xlingual.errors import InputError
from xlingual.models.triplet import Triplet, TripletConfig
from xlingual.models.unit import unit
from xlingual.training.loop import Loss
from xlingual.training.recipes.neighbour_index import NeighbourIndex
from xlingual.training.recipes.text_pairs import TextPairs
from xlingual.training.recipes.triplet_checks import check_pairs
from xlingual.training.recipes.triplet_options import TripletOptions
from xlingual.training.triplet_batches import TripletBatches
from xlingual.training.triplet_loss import nearest_of_languages, neighbour_term, triplet_loss


@dataclass(frozen=True)
class TripletBatch:
    """b texts: their frozen vectors, and which of them is the negative of which.

    `neighbours` are numbers of titles of `near` [m, d], where an index gave them.
    """

    rows: Ints  # [b]
    title: Tensor  # float [b, d]
    body: Tensor  # float [b, d]
    negative: Tensor  # int64 [b], -1: none
    item: Tensor  # int64 [b]
    language: Tensor  # int64 [b]
    near: Tensor | None = None
    neighbours: Tensor | None = None  # int64 [b, languages, k], -1: none


class TripletRecipe:
    """A model, what it is trained on, and how; the loop's `Recipe`.

    The loss is averaged over the texts of a batch. `folder` is where an index is kept, so that a training
    that was interrupted goes on with the one it had. Raises InputError where the data are too few.
    """

    def __init__(
        self, model: Triplet, pairs: TextPairs, options: TripletOptions, folder: Path | None = None
    ) -> None:
        check_pairs(pairs, options)
        self.model, self.pairs, self.options = model, pairs, options
        self._sampler = TripletBatches(pairs.item, options.batch, options.seed)
        self._index = None
        if options.beta > 0 and options.neighbours_from == "index":
            if folder is None:
                raise ValueError("an index of neighbours needs a folder")
            self._index = NeighbourIndex(pairs, options, folder)

    def steps(self, epoch: int) -> int:
        """Return how many batches an epoch has."""
        return self._sampler.steps()

    def batches(self, epoch: int) -> Iterator[TripletBatch]:
        """Yield the batches of an epoch: a pure function of the seed and the epoch, and of the index."""
        neighbours = None if self._index is None else self._index.of_epoch(epoch, self.model)
        pairs = self.pairs
        for rows, negative in self._sampler.batches(epoch):
            near = place = None
            if neighbours is not None:
                chosen = neighbours[rows]
                distinct = np.unique(chosen[chosen >= 0])
                place = np.where(chosen >= 0, np.searchsorted(distinct, chosen), -1)
                near = torch.from_numpy(pairs.title[distinct])
            yield TripletBatch(
                rows,
                title=torch.from_numpy(pairs.title[rows]),
                body=torch.from_numpy(pairs.body[rows]),
                negative=torch.from_numpy(negative),
                item=torch.from_numpy(pairs.item[rows]),
                language=torch.from_numpy(pairs.language[rows].astype(np.int64)),
                near=near,
                neighbours=None if place is None else torch.from_numpy(place),
            )

    def loss(self, batch: TripletBatch, /) -> Loss:
        """Return the mean loss of a batch; `active` is the share of texts within the margin."""
        device = next(self.model.parameters()).device
        given_title, given_body = batch.title.to(device), batch.body.to(device)
        title, body = unit(self.model.title(given_title)), unit(self.model.body(given_body))
        negative = batch.negative.to(device)
        with torch.autocast(device.type, enabled=False):  # a margin of .1 needs more than 8 bits
            rows = torch.nonzero(negative >= 0).flatten()
            each = triplet_loss(body[rows], title[rows], title[negative[rows]], self.options.margin)
            value = each.sum() / len(title)
            parts = {"triplet": float(value.detach()), "active": float((each > 0).sum()) / len(title)}
            if self.options.beta > 0:
                term, counted = self._neighbours(batch, body, title, given_body, given_title)
                mean = term.mean()
                parts |= {"neighbours": float(mean.detach()), "languages": float(counted.float().mean())}
                value = value + self.options.beta * mean
        return Loss(value, 1, parts)

    def rows(self, batch: TripletBatch, /) -> Sequence[str]:
        """Return the ids of the texts of a batch."""
        return [str(name) for name in self.pairs.ids[batch.rows]]

    def _neighbours(
        self, batch: TripletBatch, body: Tensor, title: Tensor, given_body: Tensor, given_title: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the neighbour term [b], and how many languages are in it [b]."""
        language, item = batch.language.to(body.device), batch.item.to(body.device)
        if batch.neighbours is not None and batch.near is not None:
            near = unit(self.model.title(batch.near.to(body.device)))
            return neighbour_term(body, near, batch.neighbours.to(body.device), language)
        if self.options.neighbours_by == "base":
            closeness = unit(given_body) @ unit(given_title).T
        else:
            closeness = (body @ title.T).detach()
        nearest = nearest_of_languages(
            closeness,
            language,
            item[:, None] != item,
            len(self.pairs.languages),
            self.options.neighbours,
        )
        return neighbour_term(body, title, nearest, language)


def build_model(options: TripletOptions, base_dim: int, recipe: str) -> Triplet:
    """Return the untrained model."""
    if base_dim < 1:
        raise InputError("the vectors of the encoder have no dimensions")
    names = ("hidden_dim", "out_dim", "separate_towers", "scaling", "title", "body", "split")
    given = {name: getattr(options, name) for name in names}
    return Triplet(TripletConfig(base_dim, recipe=recipe, **given), options.seed)
