"""MLMME's recipe: its batches and their loss. VSE is the same with one language and β = 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError, listed, warn
from xlingual.models.configs import MlmmeConfig
from xlingual.models.mlmme import Mlmme
from xlingual.models.texts import Vocabulary
from xlingual.training.corpus import Corpus, PackedImages, PackedTexts
from xlingual.training.losses import BatchView, mlmme_loss
from xlingual.training.options import of_the_model
from xlingual.training.precision import in_batches
from xlingual.training.recipe import Loss
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.samplers import IMAGES, BatchDraw, BatchSampler


@dataclass(frozen=True)
class ViewBatch:
    """One view of a batch: u distinct members, each encoded once, and where they are used.

    `inputs`: words [u, t] and lengths [u], or image vectors [u, d]. `anchor` [b] is the member of each
    instance, -1 where there is none; `contrast` [c] those that are contrastive, `groups` [c] their groups.
    `owner` [c] is the only instance that each is contrastive to; None where all share them.
    """

    inputs: tuple[Tensor, ...]
    anchor: Tensor
    contrast: Tensor
    groups: Tensor
    owner: Tensor | None = None


@dataclass(frozen=True)
class MlmmeBatch:
    """The b instances of a batch: their items, the groups these belong to [b], and what each view gives."""

    items: Ints
    groups: Tensor
    views: Mapping[str, ViewBatch]


class MlmmeRecipe:
    """A model, its batches and its loss, for the fit loop.

    One DataWarning counts the items that give no instance since they have nothing to compare. Raises
    InputError where nothing, or nothing of a language, can be compared.
    """

    def __init__(self, model: Mlmme, corpus: Corpus, options: MlmmeOptions) -> None:
        self.model, self.corpus, self.options = model, corpus, options
        self._members: dict[str, PackedTexts | PackedImages] = dict(corpus.texts)
        if options.beta > 0:
            if corpus.images is None:
                raise InputError(
                    f"beta is {options.beta:g}, so images count, but there is no image encoder: give one, "
                    "or beta 0"
                )
            self._members[IMAGES] = corpus.images
        self._sampler = BatchSampler(
            {view: members.first for view, members in self._members.items()},
            _compared(options),
            options.batch,
            options.seed,
            options.contrastive if options.contrast == "random" else 0,
            options.redraw,
        )
        self._check()

    def steps(self, epoch: int) -> int:
        """Return how many batches an epoch has."""
        return self._sampler.steps()

    def batches(self, epoch: int) -> Iterator[MlmmeBatch]:
        """Yield the batches of an epoch: a pure function of the seed and the epoch."""
        for drawing in self._sampler.batches(epoch):
            views = {view: self._view(view, drawing) for view in self._members}
            yield MlmmeBatch(drawing.items, torch.from_numpy(self.corpus.groups[drawing.items]), views)

    def loss(self, batch: MlmmeBatch, /) -> Loss:
        """Return the loss of a batch, summed over its positives; each member is encoded once."""
        device = next(self.model.parameters()).device
        views = {name: self._embedded(name, view, device) for name, view in batch.views.items()}
        images = views.pop(IMAGES, None)
        options = self.options
        with torch.autocast(device.type, enabled=False):  # a margin of .2 needs more than 8 bits
            found = mlmme_loss(
                images,
                views,
                batch.groups.to(device),
                beta=options.beta,
                margin=options.margin,
                hardest=options.hardest,
                pairs=options.pairs,
            )
        parts = {"image": float(found.image.detach()), "sentence": float(found.sentence.detach())}
        return Loss(found.value, found.image_positives + found.sentence_positives, parts)

    def rows(self, batch: MlmmeBatch, /) -> Sequence[str]:
        """Return the ids of the items of a batch."""
        return [str(name) for name in self.corpus.ids[batch.items]]

    def _view(self, view: str, drawing: BatchDraw) -> ViewBatch:
        members = self._members[view]
        anchor = drawing.anchor[view]
        contrast = drawing.contrast.get(view)
        if contrast is None:  # the batch's own
            contrast = anchor[anchor >= 0]
        distinct = np.unique(np.concatenate([anchor[anchor >= 0], contrast]))
        inputs = members.padded(distinct) if isinstance(members, PackedTexts) else (members.of(distinct),)
        return ViewBatch(
            tuple(torch.from_numpy(part) for part in inputs),
            torch.from_numpy(np.where(anchor >= 0, np.searchsorted(distinct, anchor), -1)),
            torch.from_numpy(np.searchsorted(distinct, contrast)),
            torch.from_numpy(self.corpus.groups[members.owners(contrast)]),
            torch.arange(len(anchor)).repeat_interleave(len(contrast) // len(anchor))
            if drawing.owned
            else None,
        )

    def _embedded(self, name: str, view: ViewBatch, device: torch.device) -> BatchView:
        inputs = [part.to(device) for part in view.inputs]
        vectors = self.model.images(*inputs) if name == IMAGES else self.model.texts(name, *inputs)
        anchor = view.anchor.to(device)
        return BatchView(
            vectors[anchor.clamp_min(0)],
            anchor >= 0,
            vectors[view.contrast.to(device)],
            view.groups.to(device),
            None if view.owner is None else view.owner.to(device),
        )

    def _check(self) -> None:
        sampler, corpus = self._sampler, self.corpus
        used = np.diff(sampler.starts) > 0
        for tag, texts in corpus.texts.items():
            if not (used & (np.diff(texts.first) > 0)).any():
                pairs = [pair for pair in _compared(self.options) if tag in pair]
                others = listed(dict.fromkeys(view for pair in pairs for view in pair if view != tag))
                raise InputError(
                    f"no item has a text in {tag!r} together with one of the views that it "
                    f"is compared with ({others}): leave the language out"
                )
        if len(np.unique(corpus.groups[used])) < 2:
            raise InputError(
                f"all {used.sum()} items that could be trained on are one item or show the same image: "
                "there is nothing to contrast"
            )
        if sampler.left_out:
            warn(
                f"{sampler.left_out} of {len(corpus)} items are not trained on: they have nothing that is "
                "compared (a text and an image, or texts in two languages)"
            )


def build_model(options: MlmmeOptions, vocabularies: Mapping[str, Vocabulary], corpus: Corpus) -> Mlmme:
    """Return the untrained model; it has a map of images where images count (beta above 0)."""
    config = MlmmeConfig(
        vocabulary_sizes={tag: len(vocabularies[tag]) for tag in options.languages},
        picture_dim=corpus.picture_dim if options.beta > 0 else None,
        **of_the_model(options, MlmmeConfig),
    )
    model = Mlmme(config, options.seed)
    if config.picture_dim is not None and config.standardize_pictures and corpus.images is not None:
        model.standardize(*(torch.from_numpy(part).float() for part in corpus.images.moments()))
    return model


def _compared(options: MlmmeOptions) -> tuple[tuple[str, str], ...]:
    """Return the pairs of views whose weight is not 0."""
    images = [(IMAGES, tag) for tag in options.languages] if options.beta > 0 else []
    return (*images, *(combinations(options.languages, 2) if options.beta < 1 else ()))


@dataclass(frozen=True)
class Placed:
    """Vectors [n, d] and the group of each, [n]: equal groups belong together."""

    vectors: Vectors
    group: Ints


def corpus_vectors(model: Mlmme, corpus: Corpus, batch: int = 512) -> dict[str, Placed]:
    """Return the vectors of all texts, by language, and last those of all distinct images (`IMAGES`).

    Each is encoded once, without dropout.
    """
    found = {tag: _texts(model, corpus, tag, batch) for tag in corpus.texts}
    if corpus.images is not None and model.picture is not None:
        found[IMAGES] = _images(model, corpus, corpus.images, batch)
    return found


def _texts(model: Mlmme, corpus: Corpus, tag: str, batch: int) -> Placed:
    packed = corpus.texts[tag]
    device = next(model.parameters()).device
    by_length = np.argsort(np.diff(packed.offsets), kind="stable")

    def encode(texts: Ints) -> Tensor:
        return model.texts(tag, *(torch.from_numpy(part).to(device) for part in packed.padded(texts)))

    vectors = in_batches(model, by_length, model.config.joint_dim, batch, encode)
    return Placed(vectors, corpus.groups[packed.owners(np.arange(len(packed)))])


def _images(model: Mlmme, corpus: Corpus, packed: PackedImages, batch: int) -> Placed:
    device = next(model.parameters()).device
    shown, member = np.unique(packed.shown, return_index=True)

    def encode(rows: Ints) -> Tensor:
        return model.images(torch.from_numpy(packed.vectors[shown[rows]]).to(device))

    vectors = in_batches(model, np.arange(len(shown)), model.config.joint_dim, batch, encode)
    return Placed(vectors, corpus.groups[packed.owners(member)])
