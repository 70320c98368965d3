"""The rows of a manifest as nodes: which take part, what is held out, and the vectors of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.align.nodes import Nodes
from xlingual.arrays import Ints, Vectors
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import joined_units, without_chains
from xlingual.data.pools.rows import joined
from xlingual.data.samples import dependent
from xlingual.embed.sides import ImageIndex, embed_images, embed_roles
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.near_duplicates import declared_units, image_links
from xlingual.evaluation.pair_run import usable_rows
from xlingual.evaluation.run import Storing
from xlingual.ragged import components
from xlingual.streams import stream

FEWEST = 30  # items of a language


@dataclass(frozen=True)
class Parts:
    """The rows with a text and an image: to fit on, and held out. They share no item, image or family."""

    fit: Ints
    held_out: Ints
    group: Ints  # [rows of the manifest]: rows that are never divided have the same
    near_duplicates: int = 0  # items with near-equal texts or images in others


def parts_of(
    data: Manifest, rows: Ints, share: float, seed: int, most: int, images: ImageIndex | None = None
) -> Parts:
    """Divide rows; of those to fit on at most `most` items of each language are drawn.

    With `images`, rows with near-equal images are never divided.
    """
    group = dependent(data)
    group = joined(
        group, [(code, text.strip()) for code, text in zip(data.language.tolist(), data.text, strict=True)]
    )[group]
    if images is not None:
        links = image_links(images, rows)[0].between(group)
        links = without_chains(len(group), links)[0]
        group = components(len(group), links.first, links.second)[group]
    names, place = np.unique(group[rows], return_inverse=True)
    order = stream(seed, "pivot parts").permutation(len(names))
    held = np.isin(place, order[: round(share * len(names))])
    fit = rows[~held]
    drawn = [_drawn(data, fit[data.language[fit] == code], most, seed) for code in range(len(data.languages))]
    n_near = joined_units(declared_units(data)[rows], np.unique(group[rows], return_inverse=True)[1])
    return Parts(np.sort(np.concatenate(drawn)), rows[held], group, n_near)


def _drawn(data: Manifest, rows: Ints, most: int, seed: int) -> Ints:
    """Return the rows of at most so many items, drawn so that languages draw the same items first."""
    items = np.unique(data.item[rows])
    if len(items) <= most:
        return rows
    order = stream(seed, "pivot items").permutation(data.n_items)
    chosen = items[np.argsort(order[items])[:most]]
    return rows[np.isin(data.item[rows], chosen)]


def rows_to_use(data: Manifest, languages: Sequence[str] | None, image_encoder: Encoder, skip: bool) -> Ints:
    """Return the rows with a text in one of the languages and an image; InputError where there are none."""
    tags = list(data.languages) if languages is None else list(languages)
    if len(set(tags)) < 2:
        raise InputError(
            f"{data.source} has texts in {tags[0]!r} only: the image pivot brings languages together, so "
            "give texts in two at least"
            if languages is None
            else f"{parameter('languages', ','.join(tags))}: name two languages at least"
        )
    usable = np.zeros(len(data), dtype=bool)
    for tag in tags:
        usable[data.rows_of(tag)] = True
    usable &= np.fromiter((bool(text.strip()) for text in data.text), bool, len(data))
    if data.has_images or image_encoder.opens_images:
        having = data.image >= 0
        if not having.any():
            raise InputError(
                f"{data.source} has no images, and pairs are found by images: name their column "
                f"({parameter('image_column')}), or give their vectors "
                f"({parameter('image_encoder', 'vectors:PATH')})"
            )
        if missing := int((usable & ~having).sum()):
            warn(f"{missing:,} of {int(usable.sum()):,} texts have no image, and take no part")
        usable &= having
    if skip and image_encoder.opens_images:
        usable &= usable_rows(data, tags)
    rows = np.flatnonzero(usable)
    for tag in tags:
        items = len(np.unique(data.item[rows[data.language[rows] == data.languages.index(tag)]]))
        if items < FEWEST:
            raise InputError(
                f"{data.source}: {items} items have an image and a text in {tag!r}, at least {FEWEST} are "
                "needed to find pairs, and some hundreds to gain by them: give more, or leave the language "
                f"out ({parameter('languages')})"
            )
    return rows


@dataclass(frozen=True)
class Embedded:
    """Vectors of rows: of texts as candidates, and as queries where these have others; and of images."""

    data: Manifest
    rows: Ints
    text: Sequence[Vectors]  # each [r, d]
    image: Vectors  # [r, e]
    item: Ints  # [r]: rows of one item or one image have the same
    group: Ints  # [r]

    @classmethod
    def of(
        cls,
        data: Manifest,
        text: tuple[str, Encoder] | None,
        image: tuple[str, Encoder],
        parts: Parts,
        storing: Storing,
        seen: ImageIndex | None = None,
    ) -> Embedded:
        """Embed all rows of both parts, each text and image once; images not if they were `seen` before."""
        rows = np.sort(np.concatenate([parts.fit, parts.held_out]))
        texts = [np.ones((len(rows), 1), dtype=np.float32)]  # where texts do not matter
        if text is not None:
            sides = embed_roles(data, *text, rows, rows, **storing)
            texts = [np.asarray(sides.candidates.vectors)]
            if text[1].by_role:
                texts.append(np.asarray(sides.queries.vectors))
        images = seen or embed_images(data, *image, rows, shown=False, **storing)
        code = images.code[rows]
        vectors = np.asarray(images.pool.vectors.raw[images.pool.vectors.rows[images.pool.code]])
        _, item = np.unique(joined(data.item[rows], code.tolist())[data.item[rows]], return_inverse=True)
        return cls(data, rows, texts, vectors[code], item, parts.group[rows])

    def nodes(self, rows: Ints) -> Nodes:
        """Return the nodes of some of the rows; InputError where those of a language have no vectors."""
        at = np.searchsorted(self.rows, rows)
        many = len(self.text)
        found = Nodes.of_rows(
            np.concatenate([side[at] for side in self.text]),
            np.concatenate([self.image[at]] * many),
            np.tile(self.data.language[rows], many),
            self.data.languages,
            np.tile(self.item[at], many),
            np.tile(self.group[at], many),
        )
        for code in np.setdiff1d(self.data.language[rows], found.language).tolist():
            raise InputError(
                f"{self.data.source}: no item has an image and a text in {self.data.languages[code]!r} whose "
                "vectors are other than zero: other encoders are needed, or other files of vectors"
            )
        return found
