"""Similarities of hypotheses to their source and to an image, as features of n-best lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from xlingual import encoders
from xlingual.arrays import Floats, Ints
from xlingual.data.languages import tag_problem
from xlingual.data.manifest import Manifest, read_reference
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import embed_batch, image_vectors, joined, load_fit_texts, refuse_fitted_rows
from xlingual.encoders import EncoderLike
from xlingual.encoders.base import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, listed
from xlingual.nbest.lists import NBestLists, check_new_labels, read_nbest, read_texts, write_nbest
from xlingual.ranking import Cosine, UnitVectors, pairs
from xlingual.records import Texts
from xlingual.store import StoreLike, open_store

UNKNOWN = "und"  # a language that nobody named
Encoders: TypeAlias = "Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike"


def add_features(
    nbest: str | Path,
    out: str | Path,
    text_encoders: Encoders,
    *,
    source: str | Path | None = None,
    images: str | Path | Manifest | None = None,
    image_encoders: Sequence[EncoderLike] | EncoderLike = (),
    source_language: str = UNKNOWN,
    target_language: str = UNKNOWN,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> NBestLists:
    """Write the n-best list of `nbest` to `out` with further features behind its own; return it.

    Args:
        nbest: file of the list, plain or gzip; it may be `out` too.
        out: file that is written, atomically; gzip where its name ends in .gz.
        text_encoders: one spec or encoder, several, or a mapping of names to them.
        source: file with the sentence of each list, one a line; each text encoder then adds the cosine of
            source and hypothesis, named as the encoder.
        images: manifest whose row (or item) i has the image of sentence i, or its path; each image encoder
            then adds the cosine of image and hypothesis, named as the encoder (with "-image" where a text
            encoder is called the same).
        image_encoders: one for all text encoders, or one for each in the same order.
        source_language: of the sources.
        target_language: of the hypotheses.
        store: where vectors are kept and found again; None keeps none.
        progress: is called with (what, done, total).

    """
    lists = read_nbest(nbest)
    manifest = images if images is None or isinstance(images, Manifest) else read_reference(str(images))
    columns = similarities(
        lists,
        text_encoders,
        source=None if source is None else read_texts(source),
        images=manifest,
        image_encoders=image_encoders,
        languages=(source_language, target_language),
        store=store,
        progress=progress,
    )
    lists = lists.with_features(columns)
    write_nbest(lists, out)
    return lists


def similarities(
    lists: NBestLists,
    text_encoders: Encoders,
    *,
    source: Sequence[str] | None,
    images: Manifest | None,
    image_encoders: Sequence[EncoderLike] | EncoderLike = (),
    languages: tuple[str, str],
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> dict[str, Floats]:
    """Return the features [n] of all encoders by name; every different text is encoded once.

    `source` has a text for each list, `languages` are those of sources and hypotheses. An empty text is
    similar to nothing: 0.
    """
    if (images is None) == (not isinstance(image_encoders, list | tuple) or bool(image_encoders)):
        raise InputError("--images and --image-encoder belong together: give both or none")
    if source is None and images is None:
        raise InputError("nothing to compare the hypotheses with: give --source, or --images, or both")
    if source is not None and len(source) != len(lists):
        raise InputError(f"{len(source):,} sources for {len(lists):,} lists: give one for each, in order")
    for option, tag in zip(("--source-language", "--target-language"), languages, strict=True):
        if problem := tag_problem(tag):
            raise InputError(f"{option}: {problem}")
    tags = languages if source is not None else languages[1:]
    systems = _systems(text_encoders, image_encoders, list(dict.fromkeys(tags)))
    labels = [label for system in systems for label in _labels(system, source is not None)]
    check_new_labels(labels, [label for label, _ in lists.groups])

    distinct = dict.fromkeys(lists.hypotheses)
    place = {text: number for number, text in enumerate(distinct)}
    hypothesis = np.array([place[text] for text in lists.hypotheses])
    sources = list(source or ())
    batch = joined(_texts(sources, languages[0], "source"), _texts(distinct, languages[1], "hypothesis"))
    shown = None if images is None else (images, rows_of_sentences(images, len(lists)))
    try:
        refuse_fitted_rows({name: encoder for name, encoder, _ in systems}, batch)
    except InputError as error:
        if UNKNOWN not in batch.language:
            raise
        raise InputError(f"{error}; are --source-language and --target-language needed?") from error

    nonempty = np.array([bool(text.strip()) for text in batch.text])
    line = np.cumsum(nonempty) - 1
    there, sentence = len(sources) + hypothesis, lists.sentence
    encoded = batch.take(np.flatnonzero(nonempty))
    kept: dict[str, Any] = {"store": open_store(store), "progress": progress}
    columns: list[Floats] = []
    for name, encoder, of_images in systems:
        vectors = embed_batch(encoded, name, encoder, **kept).vectors
        if source is not None:
            both = nonempty[sentence] & nonempty[there]
            columns.append(_cosines(vectors, line[sentence], vectors, line[there], both))
        if shown is not None and of_images is not None:
            image = image_vectors(shown[0], *of_images, shown[1], **kept)
            if image.shape[1] != vectors.shape[1]:
                raise InputError(
                    f"text encoder {name!r} gives {vectors.shape[1]} dimensions and image encoder "
                    f"{of_images[0]!r} gives {image.shape[1]}: both must be of one model"
                )
            columns.append(_cosines(image, sentence, vectors, line[there], nonempty[there]))
    return dict(zip(labels, columns, strict=True))


_System: TypeAlias = tuple[str, Encoder, tuple[str, Encoder] | None]  # name, of texts, of images


def _systems(
    text_specs: Encoders, image_specs: Sequence[EncoderLike] | EncoderLike, languages: Sequence[str]
) -> list[_System]:
    """Return text and image encoders, paired in order, or one image encoder for all; none without specs."""
    texts = encoders.text_encoders(text_specs, languages=languages, fit_texts=load_fit_texts)
    for name, encoder in texts.items():
        if isinstance(encoder, VectorsEncoder):
            raise InputError(
                f"text encoder {name!r}: vectors: files have one row for each text of a manifest, which an "
                "n-best list is not: name a model, or a function with python:"
            )
    specs = list(image_specs) if isinstance(image_specs, list | tuple) else [cast("EncoderLike", image_specs)]
    if not specs:
        return [(name, encoder, None) for name, encoder in texts.items()]
    if len(specs) not in (1, len(texts)):
        raise InputError(
            f"{len(specs)} image encoders for {len(texts)} text encoder{'s' if len(texts) > 1 else ''} "
            f"({listed(texts)}): give one for all, or one for each text encoder in the same order"
        )
    images = [encoders.image_encoder(spec, languages=languages) for spec in specs]
    images *= 1 if len(images) == len(texts) else len(texts)
    for (name, encoder), (image_name, image) in zip(texts.items(), images, strict=True):
        if None not in (encoder.space, image.space) and encoder.space != image.space:
            raise InputError(
                f"text encoder {name!r} and image encoder {image_name!r} are of different models, so their "
                "vectors cannot be compared: pair each text encoder with the image encoder of its own model"
            )
    return [(name, encoder, image) for (name, encoder), image in zip(texts.items(), images, strict=True)]


def _labels(system: _System, with_source: bool) -> list[str]:
    """Return the names of a system's features; an image encoder that is called as its texts gets -image."""
    name, _, images = system
    labels = [name] if with_source else []
    if images is not None:
        labels.append(f"{name}-image" if images[0] == name else images[0])
    return labels


def _texts(texts: Sequence[str] | Mapping[str, None], language: str, what: str) -> Texts:
    ids = [f"{what} {number}" for number in range(len(texts))]
    return Texts(text=list(texts), language=[language] * len(texts), ids=ids)


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


def _cosines(left: np.ndarray, i: Ints, right: np.ndarray, j: Ints, defined: np.ndarray) -> Floats:
    """Return the cosines of rows left[i] and right[j] where they are defined, and 0 elsewhere."""
    cosines = np.zeros(len(defined))
    if defined.any():
        cosines[defined] = pairs(Cosine(UnitVectors(left), UnitVectors(right)), i[defined], j[defined])
    return cosines
