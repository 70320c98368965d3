"""The recipe of Triplet and TripletXL: batches of frozen vectors of titles and bodies, and their loss.

TripletXL's neighbours of a text r are the K nearest texts of each language, r's own item left out; near is,
by the cosine, the title of n to the body of r (`body-title`), or title and body of n to those of r, side by
side as in the representation (`concatenated`):

- `batch`, `current`: within the batch, by the vectors x_t and x_b, as the weights are at this step
- `batch`, `base`: within the batch, by the frozen vectors of titles and bodies
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
from xlingual.errors import InputError, listed, warn
from xlingual.models.triplet import Triplet, TripletConfig
from xlingual.models.unit import side_by_side, unit
from xlingual.streams import stream
from xlingual.training.losses import nearest_of_languages, neighbour_term, triplet_loss
from xlingual.training.options import of_the_model
from xlingual.training.recipe import Loss
from xlingual.training.recipes.neighbour_index import NeighbourIndex
from xlingual.training.recipes.text_pairs import TextPairs
from xlingual.training.recipes.triplet_options import TripletOptions
from xlingual.training.samplers import batches_in


@dataclass(frozen=True)
class TripletBatches:
    """Draws the batches of every epoch, a pure function of (seed, epoch).

    `item` [n] is the item that each text is about. The texts of an epoch come in random order, each once. The
    negative of a text is drawn uniformly among the others of its batch that are about another item.
    """

    item: Ints
    batch: int
    seed: int

    def steps(self) -> int:
        """Return how many batches an epoch has; a last batch of a single text is left out."""
        return batches_in(len(self.item), self.batch)

    def batches(self, epoch: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield (rows [b], negative [b]): `negative` are positions in the batch, -1 where there is none."""
        order = stream(self.seed, f"order of epoch {epoch}").permutation(len(self.item))
        draws = stream(self.seed, f"negatives of epoch {epoch}")
        for step in range(self.steps()):
            rows = order[step * self.batch : (step + 1) * self.batch]
            yield rows, _negatives(self.item[rows], draws)


def _negatives(item: Ints, draws: np.random.Generator) -> Ints:
    """Return for each of b texts the position of one about another item, -1 where all are about its own."""
    lots = draws.random((len(item), len(item)))
    lots[item[:, None] == item] = -1
    drawn = lots.argmax(axis=1)
    return np.where(lots[np.arange(len(item)), drawn] < 0, -1, drawn)


@dataclass(frozen=True)
class TripletBatch:
    """b texts: their frozen vectors, and the negative of each.

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
    """A model, its training texts and options; the loop's `Recipe`.

    The loss is averaged over the texts of a batch. `folder` is where an index is kept, so that a training
    that was interrupted goes on with the same index. Raises InputError where the data are too few.
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
        raw_title, raw_body = self.model.title(given_title), self.model.body(given_body)
        title, body = unit(raw_title), unit(raw_body)
        negative = batch.negative.to(device)
        with torch.autocast(device.type, enabled=False):  # a margin of .1 needs more than 8 bits
            rows = torch.nonzero(negative >= 0).flatten()
            each = triplet_loss(body[rows], title[rows], title[negative[rows]], self.options.margin)
            value = each.sum() / len(title)
            parts = {"triplet": float(value.detach()), "active": float((each > 0).sum()) / len(title)}
            if self.options.beta > 0:
                by_base = self.options.neighbours_by == "base"
                compared = (given_title, given_body) if by_base else (raw_title, raw_body)
                term, counted = self._neighbours(batch, body, title, *compared)
                mean = term.mean()
                parts |= {"neighbours": float(mean.detach()), "languages": float(counted.float().mean())}
                value = value + self.options.beta * mean
        return Loss(value, 1, parts)

    def rows(self, batch: TripletBatch, /) -> Sequence[str]:
        """Return the ids of the texts of a batch."""
        return [str(name) for name in self.pairs.ids[batch.rows]]

    def _neighbours(
        self, batch: TripletBatch, body: Tensor, title: Tensor, near_title: Tensor, near_body: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the neighbour term [b], and how many languages are in it [b].

        `near_title`, `near_body`: the vectors [b, ·] that say which texts are near.
        """
        language, item = batch.language.to(body.device), batch.item.to(body.device)
        if batch.neighbours is not None and batch.near is not None:
            near = unit(self.model.title(batch.near.to(body.device)))
            return neighbour_term(body, near, batch.neighbours.to(body.device), language)
        found, compared = near_title.detach(), near_body.detach()
        if self.options.neighbours_in == "concatenated":
            found = compared = side_by_side(found, compared, self.options.scaling)
        closeness = unit(compared) @ unit(found).T
        others, languages = item[:, None] != item, len(self.pairs.languages)
        nearest = nearest_of_languages(closeness, language, others, languages, self.options.neighbours)
        return neighbour_term(body, title, nearest, language)


def build_model(options: TripletOptions, base_dim: int, recipe: str) -> Triplet:
    """Return the untrained model."""
    if base_dim < 1:
        raise InputError("the vectors of the encoder have no dimensions")
    config = TripletConfig(base_dim, recipe=recipe, **of_the_model(options, TripletConfig))
    return Triplet(config, options.seed)


def check_pairs(pairs: TextPairs, options: TripletOptions) -> None:
    """Raise InputError where nothing can be contrasted, or there are too few neighbours."""
    if len(np.unique(pairs.item)) < 2:
        what = "the one text to train on is" if len(pairs) == 1 else f"all {len(pairs)} texts to train on are"
        raise InputError(f"{what} about one item: there is no other title to contrast with")
    if options.beta > 0:
        _check_neighbours(pairs, options)


def _check_neighbours(pairs: TextPairs, options: TripletOptions) -> None:
    k, languages = options.neighbours, pairs.languages
    if len(languages) < 2:
        raise InputError(
            "triplet-xl compares neighbours across languages, and all texts to train on are in "
            f"{languages[0]}: train triplet, or give texts in more languages"
        )
    items = {tag: len(np.unique(pairs.item[pairs.language == code])) for code, tag in enumerate(languages)}
    few = [tag for tag, count in items.items() if count <= k]
    if few:
        raise InputError(
            f"{few[0]!r} has {items[few[0]]} items to train on, too few for {k} neighbours beside an item's "
            f"own: give more than {k}, or fewer --neighbours, or leave the language out"
        )
    if options.neighbours_from != "batch":
        return
    size = min(options.batch, len(pairs))
    rare = {tag: size * count / len(pairs) for tag, count in pairs.counts().items()}
    rare = {tag: mean for tag, mean in rare.items() if mean <= k}
    if rare:
        each = listed((f"{tag} {mean:.1f}" for tag, mean in rare.items()), 20)
        warn(
            f"a batch of {size} has on average fewer texts of some languages ({each}) than {k} neighbours "
            "beside an item's own: they are often left out of the neighbour term; choose a larger --batch, "
            "fewer --neighbours, or --neighbours-from index"
        )
