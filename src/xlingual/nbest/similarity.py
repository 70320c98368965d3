"""Similarities of hypotheses to their source and to an image: encoders in, one number a hypothesis out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from xlingual import encoders
from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import embed_batch, image_vectors, joined, load_fit_texts, refuse_fitted_rows
from xlingual.encoders import EncoderLike
from xlingual.encoders.base import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, listed
from xlingual.nbest.normalize import UNKNOWN_LANGUAGE
from xlingual.ranking import Cosine, UnitVectors, pairs
from xlingual.records import Texts
from xlingual.store import Store


@dataclass(frozen=True)
class SimilaritySystem:
    """A text encoder, and the image encoder of its space where images are asked for."""

    name: str
    texts: Encoder
    images: tuple[str, Encoder] | None = None

    def labels(self, with_source: bool) -> list[str]:
        """Return the names of its features: of the text encoder, compared with the source, and of the other.

        The image encoder gets "-image" where it is called like the text encoder.
        """
        found = [self.name] if with_source else []
        if self.images is not None:
            name = self.images[0]
            found.append(f"{name}-image" if name == self.name else name)
        return found


def make_systems(
    text_specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike,
    image_specs: Sequence[EncoderLike] | EncoderLike,
    languages: Sequence[str],
) -> list[SimilaritySystem]:
    """Return text and image encoders, paired in order, or one image encoder for all; none without specs."""
    texts = encoders.text_encoders(text_specs, languages=languages, fit_texts=load_fit_texts)
    for name, encoder in texts.items():
        if isinstance(encoder, VectorsEncoder):
            raise InputError(
                f"text encoder {name!r}: vectors: files have one row for each text of a manifest, which an "
                "n-best list is not: name a model, or a function with python:"
            )
    several = isinstance(image_specs, list | tuple)
    given = list(cast("Sequence[EncoderLike]", image_specs)) if several else [image_specs]
    if not given:
        return [SimilaritySystem(name, encoder) for name, encoder in texts.items()]
    if len(given) not in (1, len(texts)):
        raise InputError(
            f"{len(given)} image encoders for {len(texts)} text encoder{'s' if len(texts) > 1 else ''} "
            f"({listed(texts)}): give one for all, or one for each text encoder in the same order"
        )
    images = [encoders.image_encoder(cast("EncoderLike", spec), languages=languages) for spec in given]
    images *= 1 if len(images) == len(texts) else len(texts)
    found = [SimilaritySystem(*pair, image) for pair, image in zip(texts.items(), images, strict=True)]
    for system, (name, image) in zip(found, images, strict=True):
        if None not in (system.texts.space, image.space) and system.texts.space != image.space:
            raise InputError(
                f"text encoder {system.name!r} and image encoder {name!r} are of different models, so their "
                "vectors cannot be compared: pair each text encoder with the image encoder of its own model"
            )
    return found


def fit(systems: Sequence[SimilaritySystem], texts: Texts) -> None:
    """Fit encoders that are fitted; raise InputError where one of them lacks a language of the texts."""
    try:
        refuse_fitted_rows({system.name: system.texts for system in systems}, texts)
    except InputError as error:
        if UNKNOWN_LANGUAGE not in texts.language:
            raise
        raise InputError(
            f"{error}; where it goes by the language, give --source-language and --target-language"
        ) from error


def similarities(
    system: SimilaritySystem,
    source: Texts | None,
    hypotheses: Texts,
    sentence: Ints,
    hypothesis: Ints,
    images: tuple[Manifest, Ints] | None,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
) -> list[Floats]:
    """Return the features of a system, each [n], in the order of its labels.

    Row i compares `hypotheses[hypothesis[i]]` with `source[sentence[i]]` and with the image that row
    `rows[sentence[i]]` of the manifest shows, for images = (manifest, rows). An empty text is similar to
    nothing: 0.
    """
    batch = hypotheses if source is None else joined(source, hypotheses)
    nonempty = np.array([bool(text.strip()) for text in batch.text])
    line = np.cumsum(nonempty) - 1
    vectors = embed_batch(
        batch.take(np.flatnonzero(nonempty)), system.name, system.texts, store=store, progress=progress
    ).vectors
    first = 0 if source is None else len(source)
    found = []
    if source is not None:
        both = nonempty[sentence] & nonempty[first + hypothesis]
        found.append(_cosines(vectors, line[sentence], vectors, line[first + hypothesis], both))
    if images is not None and system.images is not None:
        manifest, rows = images
        images_of_rows = image_vectors(manifest, *system.images, rows, store=store, progress=progress)
        if images_of_rows.shape[1] != vectors.shape[1]:
            raise InputError(
                f"text encoder {system.name!r} gives {vectors.shape[1]} dimensions and image encoder "
                f"{system.images[0]!r} gives {images_of_rows.shape[1]}: both must be of one model"
            )
        found.append(
            _cosines(
                images_of_rows, sentence, vectors, line[first + hypothesis], nonempty[first + hypothesis]
            )
        )
    return found


def rows_of_sentences(manifest: Manifest, sentences: int) -> Ints:
    """Return the text row of a manifest that stands for each sentence, [sentences].

    Sentence i is row i of the manifest's file; where it has another number of rows, its i-th item.
    """
    for number, count in ((manifest.table_row, manifest.n_table_rows), (manifest.item, manifest.n_items)):
        first = np.full(count, -1, dtype=np.int64)
        order = np.lexsort((manifest.image < 0, number))[::-1]  # of the rows with a number, one with an image
        first[number[order]] = order
        if count == sentences and (first >= 0).all():
            return first
    raise InputError(
        f"{manifest.source} has {manifest.n_table_rows:,} rows and {manifest.n_items:,} items, the n-best "
        f"list {sentences:,} sentences: give a manifest whose row i has the image of sentence i (FILE#A:B "
        "takes rows A to B)"
    )


def _cosines(left: np.ndarray, i: Ints, right: np.ndarray, j: Ints, known: np.ndarray) -> Floats:
    """Return the cosines of rows left[i] and right[j] where they are known, and 0 elsewhere."""
    found = np.zeros(len(known))
    if known.any():
        similarity = Cosine(UnitVectors(left), UnitVectors(right))
        found[known] = pairs(similarity, i[known], j[known])
    return found
