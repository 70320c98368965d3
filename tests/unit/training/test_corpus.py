"""The corpus on disk has what the manifest has; images are encoded once and stay in bounded memory."""

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.encoders import adopt
from xlingual.errors import DataWarning
from xlingual.models.words import tokens
from xlingual.store import Store
from xlingual.training import corpus as corpora
from xlingual.training.corpus import Source, TextReading


def sentences(corpus, vocabularies, tag):
    """Return (id of the item, its words) of every text, read back from the numbers."""
    texts = corpus.texts[tag]
    words, lengths = texts.padded(np.arange(len(texts)))
    known = ("", "?", *vocabularies[tag].words)
    owners = corpus.ids[texts.owners(np.arange(len(texts)))]
    return [
        (str(owner), [known[number] for number in row[:length]])
        for owner, row, length in zip(owners, words, lengths, strict=True)
    ]


def test_all_texts_come_back(made, tmp_path):
    manifest = made.paired(7, texts=3)
    corpus, vocabularies = made.packed(tmp_path, manifest)
    for tag in ("en", "de"):
        expected = [
            (manifest.item_ids[manifest.item[row]], tokens(manifest.text[row], tag))
            for row in manifest.rows_of(tag)
        ]
        assert sorted(sentences(corpus, vocabularies, tag)) == sorted(expected)
    assert len(corpus) == 7 and tuple(corpus.texts) == ("en", "de") and corpus.images is None


def test_images_are_mapped_not_read(made, tmp_path):
    corpus, _ = made.packed(tmp_path, made.paired(7), images=Source("given", adopt(made.given(np.eye(7)))))
    assert isinstance(corpus.images.vectors.base, np.memmap)


def test_items_with_few_languages_and_without_images(made, tmp_path):
    rows = [
        {"id": "1", "lang": "en", "text": "a b", "item": "x", "image": b"0"},
        {"id": "2", "lang": "de", "text": "c", "item": "y", "image": b"1"},
        {"id": "3", "lang": "en", "text": "a", "item": "z"},
        {"id": "4", "lang": "fr", "text": "d", "item": "w", "image": b"2"},
        {"id": "5", "lang": "fr", "text": "e", "item": "z", "image": b"1"},  # shows z in another language
    ]
    encoder = made.given(np.eye(3))
    corpus, _ = made.packed(tmp_path, Manifest.of(rows), images=Source("given", adopt(encoder)))
    assert corpus.ids.tolist() == ["x", "y", "z"]  # w has no text in the languages
    assert np.diff(corpus.texts["en"].first).tolist() == [1, 0, 1]
    assert np.diff(corpus.texts["de"].first).tolist() == [0, 1, 0]
    assert corpus.images.of(np.arange(3)).tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert corpus.groups[1] == corpus.groups[2] != corpus.groups[0]  # y and z show one image
    assert encoder.asked == 2


def test_images_are_encoded_in_chunks_each_once(made, tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "CHUNK", 4)
    rng = np.random.default_rng(0)
    vectors, encoder = rng.standard_normal((10, 3)), made.given(rng.standard_normal((10, 3)))
    encoder.vectors = vectors.astype(np.float32)
    reports = []
    store = Store(tmp_path / "store")
    source = Source("given", adopt(encoder), store, lambda what, done, of: reports.append((done, of)))
    corpus, _ = made.packed(tmp_path / "one", made.paired(10, texts=2), images=source)
    items = corpus.ids.astype(int)
    assert np.array_equal(corpus.images.of(np.arange(10)), encoder.vectors[items])
    assert encoder.asked == 10 and corpus.images.vectors.shape == (10, 3)
    assert reports[-1] == (10, 10) and {of for _, of in reports} == {10}
    made.packed(tmp_path / "two", made.paired(10, texts=2), images=source)
    assert encoder.asked == 10  # the store had all of them


def test_moments_of_the_images(made, tmp_path):
    table = 1e3 + np.random.default_rng(0).standard_normal((10, 3))
    corpus, _ = made.packed(tmp_path, made.paired(10), images=Source("given", adopt(made.given(table))))
    mean, sd = corpus.images.moments(chunk=4)
    stored = table.astype(np.float32).astype(np.float64)
    assert np.allclose(mean, stored.mean(0), rtol=1e-12) and np.allclose(sd, stored.std(0), rtol=1e-9)


def test_vectors_without_images(made, tmp_path):
    """A manifest without images, and one vector for each item, as with features made elsewhere."""
    features = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)

    class ByItem:
        identity = "by item"

        def encode(self, batch):
            (way,) = [way for way in batch.numberings if way.sizes.get(None) == 6]
            return features[way.index]

    rows = [
        {"id": f"{item}{tag}{n}", "lang": tag, "text": f"w{item}", "item": str(item)}
        for item in range(6)
        for tag in ("en", "de")
        for n in range(2)
    ]
    corpus, _ = made.packed(tmp_path, Manifest.of(rows), images=Source("f", adopt(ByItem())))
    assert np.diff(corpus.images.first).tolist() == [1] * 6
    assert np.array_equal(corpus.images.of(np.arange(6)), features[corpus.ids.astype(int)])


def test_items_that_share_images_by_way_of_others_are_one_group(made, tmp_path):
    shown_by = {"a": (b"0",), "b": (b"0", b"1"), "c": (b"1",), "d": (b"2",)}
    rows = [
        {"id": f"{item}{n}", "lang": "en", "text": f"{item} {n}", "item": item, "image": image}
        for item, shown in shown_by.items()
        for n, image in enumerate(shown)
    ]
    for source in (None, Source("given", adopt(made.given(np.eye(3))))):
        corpus, _ = made.packed(tmp_path, Manifest.of(rows), ("en",), source)
        groups = dict(zip(corpus.ids.tolist(), corpus.groups.tolist(), strict=True))
        assert groups["a"] == groups["b"] == groups["c"] != groups["d"]


def test_texts_that_are_long_or_have_no_words(made, tmp_path):
    rows = [
        {"id": "1", "lang": "en", "text": "a b c d", "item": "x"},
        {"id": "2", "lang": "en", "text": "...", "item": "y"},
        {"id": "3", "lang": "de", "text": "e f", "item": "x"},
        {"id": "4", "lang": "de", "text": "e", "item": "y"},
    ]
    with pytest.warns(DataWarning):
        corpus, vocabularies = made.packed(tmp_path, Manifest.of(rows), reading=TextReading(max_length=2))
    assert sentences(corpus, vocabularies, "en") == [("x", ["a", "b"])]
