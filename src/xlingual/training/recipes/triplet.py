"""The recipe of Triplet and TripletXL: batches of frozen vectors of titles and bodies, and their loss.

TripletXL's neighbours of a text r are the K titles of each language in the batch that are nearest to r's
body, those of r's item left out. The gradient goes through the body and through its neighbours' titles, not
through the choice of neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from xlingual.arrays import Ints, Vectors
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import embed_batch
from xlingual.errors import InputError, listed, warn
from xlingual.models.configs import TripletConfig
from xlingual.models.texts import two_views
from xlingual.models.triplet import Triplet
from xlingual.models.unit import unit
from xlingual.records import Texts
from xlingual.streams import stream
from xlingual.training.corpus import Source
from xlingual.training.losses import nearest_of_languages, neighbour_term, triplet_loss
from xlingual.training.options import of_the_model
from xlingual.training.recipe import Loss
from xlingual.training.recipes.triplet_options import TripletOptions
from xlingual.training.samplers import batches_in

CHUNK = 32_768  # rows whose vectors are made at a time: all that is in memory of them
_BATCH = 4096  # texts that are mapped at a time


@dataclass(frozen=True)
class TextPairs:
    """n texts with the vectors of their titles and of their bodies.

    `language` [n] is an index into `languages`; texts of equal `item` [n] are about the same thing. Memory is
    that of the numbers alone: the vectors [n, d] are mapped files.
    """

    title: Vectors
    body: Vectors
    languages: tuple[str, ...]
    language: Ints
    item: Ints
    ids: np.ndarray  # str [n], for messages

    def __len__(self) -> int:
        return len(self.language)

    @property
    def dim(self) -> int:
        """The dimensions of the vectors."""
        return int(self.title.shape[1])

    def counts(self) -> dict[str, int]:
        """Return language → texts."""
        return {tag: int((self.language == code).sum()) for code, tag in enumerate(self.languages)}


def pack_pairs(folder: Path, manifest: Manifest, options: TripletOptions, source: Source) -> TextPairs:
    """Write the vectors of a manifest's titles and bodies; return them, mapped into memory.

    Texts without a title or a body (or that cannot be split) are left out, with a DataWarning.
    Raises InputError where the data have no such columns, or a language has no text with both.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = manifest.texts(np.arange(len(manifest)))
    views = two_views(texts, options.title, options.body, options.split, "the training")
    kept = np.flatnonzero(~np.asarray(views.lacking, dtype=bool))
    _check_left_out(manifest, kept, options)
    title, body = (
        _written(folder / f"{name}.npy", part.take(kept), source)
        for name, part in (("title", views.title), ("body", views.body))
    )
    if title.shape[1] != body.shape[1]:
        raise InputError(
            f"text encoder {source.name!r} gives titles {title.shape[1]} and bodies {body.shape[1]} "
            "dimensions: both must lie in one space"
        )
    ids = np.array([manifest.ids[row][:80] for row in kept.tolist()])
    return TextPairs(title, body, manifest.languages, manifest.language[kept], manifest.item[kept], ids)


def _written(path: Path, texts: Texts, source: Source) -> Vectors:
    """Write the vectors of texts, a chunk at a time, and map them into memory."""
    out: np.memmap | None = None
    for start in range(0, len(texts), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(texts)))
        found = embed_batch(
            texts.take(rows), source.name, source.encoder, store=source.store, progress=source.progress
        ).vectors
        if out is None:
            shape = (len(texts), found.shape[1])
            out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        if found.shape[1] != out.shape[1]:
            raise InputError(
                f"text encoder {source.name!r} gives some texts {out.shape[1]} and others {found.shape[1]} "
                "dimensions: all must lie in one space"
            )
        out[rows] = found
    assert out is not None
    out.flush()
    return np.asarray(np.lib.format.open_memmap(path, mode="r"))


def _check_left_out(manifest: Manifest, kept: Ints, options: TripletOptions) -> None:
    """Warn of texts that lack one of the two views; raise InputError where a language has no others."""
    if len(kept) == len(manifest):
        return
    what = f"a {options.title} and a {options.body}" if options.split is None else "two parts"
    kept_languages = {manifest.languages[code] for code in np.unique(manifest.language[kept])}
    if tag := next((tag for tag in manifest.languages if tag not in kept_languages), None):
        first = manifest.ids[int(manifest.rows_of(tag)[0])]
        raise InputError(
            f"{manifest.source}: no text in {tag!r} has {what} (the first is {first!r}): name other columns "
            "with --title and --body, or leave the language out"
        )
    out = np.setdiff1d(np.arange(len(manifest)), kept)
    each = Counter(manifest.languages[code] for code in manifest.language[out].tolist())
    warn(
        f"{len(out):,} of {len(manifest):,} texts are left out, since they do not have {what}: "
        f"{listed((f'{tag} {count:,}' for tag, count in sorted(each.items())), 20)}; the first is "
        f"{manifest.ids[int(out[0])]!r}"
    )


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


class TripletRecipe:
    """A model, its training texts and options; the loop's `Recipe`.

    The loss is averaged over the texts of a batch: (rows [b], negative [b]). Raises InputError where the data
    are too few.
    """

    def __init__(self, model: Triplet, pairs: TextPairs, options: TripletOptions) -> None:
        check_pairs(pairs, options)
        self.model, self.pairs, self.options = model, pairs, options
        self._sampler = TripletBatches(pairs.item, options.batch, options.seed)

    def steps(self, epoch: int) -> int:
        """Return how many batches an epoch has."""
        return self._sampler.steps()

    def batches(self, epoch: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield the batches of an epoch: a pure function of the seed and the epoch."""
        return self._sampler.batches(epoch)

    def loss(self, batch: tuple[Ints, Ints], /) -> Loss:
        """Return the mean loss of a batch; `active` is the share of texts within the margin."""
        pairs, options, (rows, negatives) = self.pairs, self.options, batch
        device = next(self.model.parameters()).device
        title = unit(self.model.title(torch.from_numpy(pairs.title[rows]).to(device)))
        body = unit(self.model.body(torch.from_numpy(pairs.body[rows]).to(device)))
        negative = torch.from_numpy(negatives).to(device)
        with torch.autocast(device.type, enabled=False):  # a margin of .1 needs more than 8 bits
            texts = torch.nonzero(negative >= 0).flatten()
            each = triplet_loss(body[texts], title[texts], title[negative[texts]], options.margin)
            value = each.sum() / len(title)
            parts = {"triplet": float(value.detach()), "active": float((each > 0).sum()) / len(title)}
            if options.beta > 0:
                language = torch.from_numpy(pairs.language[rows].astype(np.int64)).to(device)
                item = torch.from_numpy(pairs.item[rows]).to(device)
                nearest = nearest_of_languages(
                    body.detach() @ title.detach().T,
                    language,
                    item[:, None] != item,
                    len(pairs.languages),
                    options.neighbours,
                )
                term, counted = neighbour_term(body, title, nearest, language)
                mean = term.mean()
                parts |= {"neighbours": float(mean.detach()), "languages": float(counted.float().mean())}
                value = value + options.beta * mean
        return Loss(value, 1, parts)

    def rows(self, batch: tuple[Ints, Ints], /) -> Sequence[str]:
        """Return the ids of the texts of a batch."""
        return [str(name) for name in self.pairs.ids[batch[0]]]


def mapped_pairs(model: Triplet, pairs: TextPairs) -> tuple[Vectors, Vectors]:
    """Return x_t and x_b of all texts, float32 [n, out] each."""
    device = next(model.parameters()).device
    mapped = []
    with torch.inference_mode():
        for tower, vectors in ((model.title, pairs.title), (model.body, pairs.body)):
            parts = (vectors[start : start + _BATCH] for start in range(0, len(pairs), _BATCH))
            mapped.append(
                torch.cat([tower(torch.tensor(part, device=device)).float().cpu() for part in parts])
            )
    return mapped[0].numpy(), mapped[1].numpy()


def build_model(options: TripletOptions, base_dim: int) -> Triplet:
    """Return the untrained model."""
    if base_dim < 1:
        raise InputError("the vectors of the encoder have no dimensions")
    config = TripletConfig(base_dim, recipe=options.recipe, **of_the_model(options, TripletConfig))
    return Triplet(config, options.seed)


def check_pairs(pairs: TextPairs, options: TripletOptions) -> None:
    """Raise InputError where nothing can be contrasted, or there are too few neighbours."""
    if len(np.unique(pairs.item)) < 2:
        what = "the one text to train on is" if len(pairs) == 1 else f"all {len(pairs)} texts to train on are"
        raise InputError(f"{what} about one item: there is no other title to contrast with")
    if options.beta == 0:
        return
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
    size = min(options.batch, len(pairs))
    rare = {tag: size * count / len(pairs) for tag, count in pairs.counts().items()}
    rare = {tag: mean for tag, mean in rare.items() if mean <= k}
    if rare:
        each = listed((f"{tag} {mean:.1f}" for tag, mean in rare.items()), 20)
        warn(
            f"a batch of {size} has on average fewer texts of some languages ({each}) than {k} neighbours "
            "beside an item's own: they are often left out of the neighbour term; choose a larger --batch "
            "or fewer --neighbours"
        )
