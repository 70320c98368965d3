"""The lists of image–sentence ranking: the images of each sentence, and the sentences of each image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from xlingual.embed import embed_texts
from xlingual.errors import InputError
from xlingual.evaluation.image_sentence.numbers import both_ways
from xlingual.evaluation.passes import offsets_of
from xlingual.evaluation.rankings import Ranking, images_of, texts_of
from xlingual.ranking import Cosine, Offsets, Pool, UnitVectors

if TYPE_CHECKING:
    from xlingual.evaluation.image_sentence.evaluate import ImageSentence


def rankings(run: ImageSentence, encoder: str) -> Iterator[Ranking]:
    """Yield the lists of a system both ways for each language; raise InputError for slices."""
    if run.fold is not None:
        raise InputError("lists are of one ranking, and --fold makes several: leave --fold out")
    system = next(one for one in run.systems if one.name == encoder)
    images, shown = run.images_of(system)
    texts = embed_texts(run.manifest, encoder, system.texts, run.rows_of(system), **run.embedding())
    pictures = images.pool.vectors
    for language, rows in run.captions.items():
        if language not in system.languages:
            continue
        (one,) = shown.slices(run.manifest, rows, None, language)
        sentence_vectors = texts.unit(one.texts)
        image_vectors = UnitVectors(pictures.raw, pictures.rows[images.points[one.images]])
        sentences = texts_of(run.manifest, one.texts)
        members = images_of(run.manifest, shown.first_row[one.images])
        offsets = _offsets(run, sentence_vectors, image_vectors)
        back = None if offsets is None else Offsets(offsets.scale, offsets.candidates, offsets.queries)
        to_image, to_sentence = both_ways(language)
        yield Ranking(
            *(encoder, *to_image.pair, to_image.seed, sentences, members, (one.text, one.image)),
            *(sentence_vectors, image_vectors, offsets),
        )
        yield Ranking(
            *(encoder, *to_sentence.pair, to_sentence.seed, members, sentences, (one.image, one.text)),
            *(image_vectors, sentence_vectors, back),
        )
    run.forget_images()


def _offsets(run: ImageSentence, sentences: UnitVectors, images: UnitVectors) -> Offsets | None:
    """Return the offsets of sentences and images by the repair of hubs, if there is one."""
    if run.options.repair is None:
        return None
    sides = Pool.of(sentences.raw, sentences.rows), Pool.of(images.raw, images.rows)
    counts = [np.bincount(side.code, minlength=len(side.vectors)).astype(np.int64) for side in sides]
    similarity = Cosine(sides[0].vectors, sides[1].vectors)
    (found,) = offsets_of(similarity, [(counts[0], counts[1])], run.options.repair, run.options.ranker)
    return Offsets(found.scale, found.queries[sides[0].code], found.candidates[sides[1].code])
