"""The sides of image–sentence ranking: systems of two encoders, captions, images, and the slices of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import fit_texts_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import InputError, listed, parameter, warn
from xlingual.evaluation.run import EncoderSpecs
from xlingual.ragged import components, members
from xlingual.records import RankCounts


@dataclass(frozen=True)
class EncoderPair:
    """A text encoder and an image encoder whose vectors are compared, and the languages it is for."""

    name: str  # of the text encoder
    texts: Encoder
    image_name: str
    images: Encoder
    languages: tuple[str, ...]

    def __post_init__(self) -> None:
        spaces = (self.texts.space, self.images.space)
        if None not in spaces and spaces[0] != spaces[1]:
            raise InputError(
                f"text encoder {self.name!r} and image encoder {self.image_name!r} are of different models "
                f"({spaces[0]:.12} and {spaces[1]:.12}), so their vectors cannot be compared: pair each text "
                "encoder with the image encoder of the same model, in the same order"
            )


def encoder_pairs(
    manifest: Manifest,
    text_specs: EncoderSpecs,
    image_specs: Sequence[EncoderLike] | EncoderLike,
    languages: Sequence[str],
) -> list[EncoderPair]:
    """Return text and image encoders paired in order, or with one image encoder for all.

    Each pair is evaluated on those of the languages that its text encoder has. Raises InputError where the
    numbers of encoders differ, or where two encoders are of different models.
    """
    texts = encoders.text_encoders(text_specs, languages=languages, fit_texts=fit_texts_for(manifest))
    specs = image_specs if isinstance(image_specs, list | tuple) else [cast("EncoderLike", image_specs)]
    if not specs:
        raise InputError(
            f"text encoder {next(iter(texts))!r} needs the image encoder of its space: give one "
            f"({parameter('image_encoders', 'model:DIR')})"
        )
    if len(specs) not in (1, len(texts)):
        raise InputError(
            f"{len(specs)} image encoders for {len(texts)} text encoder{'s' if len(texts) > 1 else ''} "
            f"({listed(texts, 8)}): give one for all, or one for each text encoder in the same order"
        )
    images = [encoders.image_encoder(spec, languages=languages) for spec in specs]
    images *= 1 if len(images) == len(texts) else len(texts)
    return [
        EncoderPair(name, encoder, *image, _languages_of(name, encoder, languages))
        for (name, encoder), image in zip(texts.items(), images, strict=True)
    ]


def _languages_of(name: str, encoder: Encoder, languages: Sequence[str]) -> tuple[str, ...]:
    """Return the languages that an encoder has; an encoder that names none has all."""
    if encoder.languages is None:
        return tuple(languages)
    common = tuple(language for language in languages if language in encoder.languages)
    if not common:
        raise InputError(
            f"text encoder {name!r} is for {listed(map(str, encoder.languages), 12)}, none of the languages "
            f"evaluated ({listed(languages, 12)}): leave it out, or choose other languages "
            f"({parameter('languages')})"
        )
    return common


@dataclass(frozen=True)
class Side:
    """One direction in a slice: n queries, m candidates, all rows of the manifest, and the right pairs.

    An image's row is the first that shows it.
    """

    rows: Ints  # [n]
    candidates: Ints  # [m]
    clusters: Ints  # [n]
    candidate_clusters: Ints  # [m]
    query: Ints  # [p] place among the queries
    candidate: Ints  # [p]

    @property
    def turned(self) -> Side:
        """The other direction."""
        clusters = self.candidate_clusters, self.clusters
        return Side(self.candidates, self.rows, *clusters, self.candidate, self.query)

    @property
    def by_chance(self) -> RankCounts:
        """The counts of an encoder to which all candidates are equal."""
        pool = np.full(len(self.rows), len(self.candidates))
        relevant = np.bincount(self.query, minlength=len(self.rows))
        return RankCounts(np.zeros_like(pool), pool, relevant, pool)


@dataclass(frozen=True)
class ShownImages:
    """The distinct images of a manifest, by the items that show them."""

    item: Ints  # [p] with `image`: each pair of an item and an image that one of its rows shows
    image: Ints  # [p]
    first_row: Ints  # [images] the first row that shows each
    image_cluster: Ints  # [images] cluster ids: images and captions of one are dependent
    row_cluster: Ints  # [rows of the manifest]

    @classmethod
    def of(cls, manifest: Manifest, code_of: Ints) -> ShownImages:
        """Return the images of a manifest's rows: `code_of` [rows] is the number of each, −1 for none.

        The texts of a cluster, the texts of an item, and an item and its images are in one cluster.
        """
        rows = np.flatnonzero(code_of >= 0)
        code = code_of[rows]
        item, image = np.unique(np.stack([manifest.item[rows], code]), axis=1)
        first = rows[np.unique(code, return_index=True)[1]]
        n_clusters = int(manifest.cluster.max()) + 1
        images_from = n_clusters + manifest.n_items
        left = np.concatenate([manifest.cluster, n_clusters + item])
        right = np.concatenate([n_clusters + manifest.item, images_from + image])
        cluster = components(images_from + len(first), left, right)
        return cls(item, image, first, cluster[images_from:], cluster[manifest.cluster])

    def slices(self, manifest: Manifest, rows: Ints, size: int | None, language: str) -> list[Side]:
        """Return the captions `rows` with their images: one slice, or consecutive ones of `size` images.

        Every text takes part in the slices that hold an image of its item. An incomplete last slice is left
        out with a warning. Raises InputError where there are fewer images than `size`.
        """
        text, at = members(self.item, manifest.item[rows])
        image = self.image[at]
        chosen = np.unique(image)
        chosen = chosen[np.argsort(self.first_row[chosen], kind="stable")]
        size = len(chosen) if size is None else size
        whole, left = divmod(len(chosen), size)
        if whole == 0:
            raise InputError(
                f"{parameter('fold')}: slices of {size} need {size} images with texts in {language!r}, there "
                f"are {len(chosen)}: give a smaller size, or leave it out"
            )
        if left:
            warn(
                f"{parameter('fold')} of {size}: the last {left} of {len(chosen)} images with texts in "
                f"{language!r} make no whole slice and are left out"
            )
        sides = []
        for part in np.split(chosen[: whole * size], whole):
            inside, order = np.isin(image, part), np.argsort(part, kind="stable")
            texts, query = np.unique(text[inside], return_inverse=True)
            candidate = order[np.searchsorted(part[order], image[inside])]
            clusters = self.row_cluster[rows[texts]], self.image_cluster[part]
            sides.append(Side(rows[texts], self.first_row[part], *clusters, query, candidate))
        return sides


def rows_with_images(manifest: Manifest, opens: bool, usable: np.ndarray | None) -> Ints:
    """Return the rows that have an image, or the vector of one.

    `opens`: whether the image encoder opens images. One that reads vectors needs none: without any image in
    the manifest, every row has a vector. Raises InputError where there are no images.
    """
    if not manifest.has_images and not opens:
        return np.arange(len(manifest))
    having = manifest.image >= 0
    if not having.any():
        raise InputError(
            f"{manifest.source} has no images: name their column ({parameter('image_column')}), or give "
            f"their vectors ({parameter('image_encoders', 'vectors:PATH')})"
        )
    return np.flatnonzero(having if usable is None else having & usable)


def captions(manifest: Manifest, rows: Ints, languages: Sequence[str], named: bool) -> dict[str, Ints]:
    """Return the rows of each language whose item shows an image of the rows `rows`.

    Other texts are counted in one warning. A language without any is refused if the languages were `named`,
    and else left out, with a warning.
    """
    with_image = np.isin(manifest.item, manifest.item[rows])
    every = {language: manifest.rows_of(language) for language in languages}
    shown = {language: texts[with_image[texts]] for language, texts in every.items()}
    for language in [language for language, texts in shown.items() if not len(texts)]:
        problem = f"no text in {language!r} belongs to an item with an image"
        if named or len(languages) == 1:
            raise InputError(
                f"{manifest.source}: {problem}: choose other languages ({parameter('languages')})"
            )
        warn(f"{problem}: the language is left out")
        del shown[language]
    if not shown:
        raise InputError(f"{manifest.source}: no text belongs to an item with an image")
    n_texts = sum(len(every[language]) for language in shown)
    without = n_texts - sum(map(len, shown.values()))
    if without:
        warn(f"{without} of {n_texts} texts take no part: their item has no image")
    return shown
