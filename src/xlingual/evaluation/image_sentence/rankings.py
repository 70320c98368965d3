"""The lists of image–sentence ranking: the images of each sentence, and the sentences of each image."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.embed import ImageIndex, TextVectors
from xlingual.evaluation.image_sentence.banks import Repairs, both_adjustments
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice, both_ways
from xlingual.evaluation.rankings import Ranking, images_of, texts_of
from xlingual.ranking import Adjustment, Cosine, Pool, Ranker, UnitVectors


def rankings_of(
    encoder: str,
    language: str,
    manifest: Manifest,
    one: Slice,
    shown: ShownImages,
    texts: TextVectors,
    images: ImageIndex,
    repairs: Repairs,
    ranker: Ranker,
) -> Iterator[Ranking]:
    """Yield the lists of a system both ways for one language."""
    vectors = images.pool.vectors
    sentence_vectors = UnitVectors(texts.vectors, texts.position[one.texts])
    image_vectors = UnitVectors(vectors.raw, vectors.rows[images.points[one.images]])
    sentences = texts_of(manifest, one.texts)
    members = images_of(manifest, shown.first_row[one.images])
    adjustment, back = _adjustments(sentence_vectors, image_vectors, repairs, ranker)
    to_image, to_sentence = both_ways(language)
    yield Ranking(
        *(encoder, *to_image.pair, to_image.seed, sentences, members, (one.text, one.image)),
        *(sentence_vectors, image_vectors, adjustment),
    )
    yield Ranking(
        *(encoder, *to_sentence.pair, to_sentence.seed, members, sentences, (one.image, one.text)),
        *(image_vectors, sentence_vectors, back),
    )


def _adjustments(
    sentences: UnitVectors, images: UnitVectors, repairs: Repairs, ranker: Ranker
) -> tuple[Adjustment | None, Adjustment | None]:
    """Return the adjustments of sentences and images by the repairs of hubs, if there are some, both ways."""
    if repairs[0] is None:
        return None, None
    sides = Pool.of(sentences.raw, sentences.rows), Pool.of(images.raw, images.rows)
    counts = [np.bincount(side.code, minlength=len(side.vectors)).astype(np.int64) for side in sides]
    similarity = Cosine(sides[0].vectors, sides[1].vectors)
    to_image, to_sentence = both_adjustments(similarity, (counts[0], counts[1]), repairs, ranker)
    assert to_image is not None
    assert to_sentence is not None
    codes = sides[0].code, sides[1].code
    return to_image.take(*codes), to_sentence.take(*codes[::-1])
