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
        self.sampler = BatchSampler(
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
        return self.sampler.steps()

    def batches(self, epoch: int) -> Iterator[BatchDraw]:
        """Yield the batches of an epoch: a pure function of the seed and the epoch."""
        return self.sampler.batches(epoch)

    def loss(self, batch: BatchDraw, /) -> Loss:
        """Return the loss of a batch, summed over its positives; each member is encoded once."""
        device, options = next(self.model.parameters()).device, self.options
        views = {name: self._embedded(name, batch, device) for name in self._members}
        images = views.pop(IMAGES, None)
        groups = torch.from_numpy(self.corpus.groups[batch.items]).to(device)
        with torch.autocast(device.type, enabled=False):  # a margin of .2 needs more than 8 bits
            value = mlmme_loss(
                images,
                views,
                groups,
                beta=options.beta,
                margin=options.margin,
                hardest=options.hardest,
                pairs=options.pairs,
            )
        parts = {"image": float(value.image.detach()), "sentence": float(value.sentence.detach())}
        return Loss(value.value, value.image_positives + value.sentence_positives, parts)

    def rows(self, batch: BatchDraw, /) -> Sequence[str]:
        """Return the ids of the items of a batch."""
        return [str(name) for name in self.corpus.ids[batch.items]]

    def _embedded(self, name: str, batch: BatchDraw, device: torch.device) -> BatchView:
        """Return the vectors of the anchors and contrastive items of a view."""
        members, anchor = self._members[name], batch.anchor[name]
        present = anchor >= 0
        contrast = batch.contrast.get(name, anchor[present])  # where nothing is drawn, the batch's
        distinct = np.unique(np.concatenate([anchor[present], contrast]))
        inputs = members.padded(distinct) if isinstance(members, PackedTexts) else (members.of(distinct),)
        tensors = [torch.from_numpy(part).to(device) for part in inputs]
        vectors = self.model.images(*tensors) if name == IMAGES else self.model.texts(name, *tensors)
        places = np.where(present, np.searchsorted(distinct, anchor), 0)
        groups = torch.from_numpy(self.corpus.groups[members.owners(contrast)]).to(device)
        owner = None
        if batch.owned:
            owner = torch.arange(len(anchor), device=device).repeat_interleave(len(contrast) // len(anchor))
        return BatchView(
            vectors[torch.from_numpy(places).to(device)],
            torch.from_numpy(present).to(device),
            vectors[torch.from_numpy(np.searchsorted(distinct, contrast)).to(device)],
            groups,
            owner,
        )

    def _check(self) -> None:
        sampler, corpus = self.sampler, self.corpus
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
class GroupedVectors:
    """Vectors [n, d] and the group of each, [n]: equal groups belong together."""

    vectors: Vectors
    group: Ints


def corpus_vectors(model: Mlmme, corpus: Corpus, batch: int = 512) -> dict[str, GroupedVectors]:
    """Return the vectors of all texts, by language, and last those of all distinct images (`IMAGES`).

    Each is encoded once, without dropout.
    """
    device = next(model.parameters()).device
    grouped = {}
    for tag, packed in corpus.texts.items():

        def texts(rows: Ints, tag: str = tag, packed: PackedTexts = packed) -> Tensor:
            return model.texts(tag, *(torch.from_numpy(part).to(device) for part in packed.padded(rows)))

        by_length = np.argsort(np.diff(packed.offsets), kind="stable")
        vectors = in_batches(model, by_length, model.config.joint_dim, batch, texts)
        grouped[tag] = GroupedVectors(vectors, corpus.groups[packed.owners(np.arange(len(packed)))])
    if corpus.images is not None and model.picture is not None:
        images = corpus.images
        shown, member = np.unique(images.shown, return_index=True)

        def pictures(rows: Ints) -> Tensor:
            return model.images(torch.from_numpy(images.vectors[shown[rows]]).to(device))

        vectors = in_batches(model, np.arange(len(shown)), model.config.joint_dim, batch, pictures)
        grouped[IMAGES] = GroupedVectors(vectors, corpus.groups[images.owners(member)])
    return grouped
