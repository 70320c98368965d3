"""The lists of image–sentence ranking: the images of each sentence, and the sentences of each image."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.embed import ImageIndex, TextVectors
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice, both_ways
from xlingual.evaluation.passes import offsets_of
from xlingual.evaluation.rankings import Ranking, images_of, texts_of
from xlingual.evaluation.run import Options
from xlingual.ranking import Cosine, Offsets, Pool, UnitVectors


def rankings_of(
    encoder: str,
    language: str,
    manifest: Manifest,
    one: Slice,
    shown: ShownImages,
    texts: TextVectors,
    images: ImageIndex,
    options: Options,
) -> Iterator[Ranking]:
    """Yield the lists of a system both ways for one language."""
    vectors = images.pool.vectors
    sentence_vectors = UnitVectors(texts.vectors, texts.position[one.texts])
    image_vectors = UnitVectors(vectors.raw, vectors.rows[images.points[one.images]])
    sentences = texts_of(manifest, one.texts)
    members = images_of(manifest, shown.first_row[one.images])
    offsets = _offsets(options, sentence_vectors, image_vectors)
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


def _offsets(options: Options, sentences: UnitVectors, images: UnitVectors) -> Offsets | None:
    """Return the offsets of sentences and images by the repair of hubs, if there is one."""
    if options.repair is None:
        return None
    sides = Pool.of(sentences.raw, sentences.rows), Pool.of(images.raw, images.rows)
    counts = [np.bincount(side.code, minlength=len(side.vectors)).astype(np.int64) for side in sides]
    similarity = Cosine(sides[0].vectors, sides[1].vectors)
    (found,) = offsets_of(similarity, [(counts[0], counts[1])], options.repair, options.ranker)
    return Offsets(found.scale, found.queries[sides[0].code], found.candidates[sides[1].code])
