"""The lists of image–sentence ranking: the images of each sentence, and the sentences of each image."""

from __future__ import annotations

from collections.abc import Iterator

from xlingual.data.manifest import Manifest
from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice, both_ways
from xlingual.evaluation.rankings import Ranking, images_of, texts_of
from xlingual.ranking import UnitVectors


def rankings_of(
    encoder: str,
    language: str,
    manifest: Manifest,
    one: Slice,
    shown: ShownImages,
    texts: TextVectors,
    images: ImageIndex,
) -> Iterator[Ranking]:
    """Yield the lists of a system both ways for one language."""
    vectors = images.pool.vectors
    sentence_vectors = UnitVectors(texts.vectors, texts.position[one.texts])
    image_vectors = UnitVectors(vectors.raw, vectors.rows[images.points[one.images]])
    sentences = texts_of(manifest, one.texts)
    members = images_of(manifest, shown.first_row[one.images])
    to_image, to_sentence = both_ways(language)
    yield Ranking(
        *(encoder, *to_image.pair, to_image.seed, sentences, members, (one.text, one.image)),
        *(sentence_vectors, image_vectors),
    )
    yield Ranking(
        *(encoder, *to_sentence.pair, to_sentence.seed, members, sentences, (one.image, one.text)),
        *(image_vectors, sentence_vectors),
    )
