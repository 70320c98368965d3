"""Similarity features: against cosines worked out by hand, each text encoded once, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.errors import DataWarning, InputError
from xlingual.nbest.features import add_features, rows_of_sentences
from xlingual.nbest.lists import read_nbest
from xlingual.records import Texts

DIM = 6
LISTS = [["ja .", "ja", "ja ."], ["ein haus", "das haus", "ja"]]
SOURCE = ["yes .", "a house"]


def vector(text: str, dim: int = DIM) -> np.ndarray:
    seed = sum(byte * 31**place for place, byte in enumerate(text.encode())) % 2**32
    return np.random.default_rng(seed).standard_normal(dim)


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


class Words:
    """Random vectors, the same for equal texts; counts what it is asked for."""

    content = ("text", "language")

    def __init__(self, name: str = "words", dim: int = DIM, space: str = "one") -> None:
        self.name, self.dim, self.identity, self.space = name, dim, f"test:{name}", space
        self.asked: Counter[tuple[str, str]] = Counter()

    def encode(self, batch: Texts) -> np.ndarray:
        self.asked.update(zip(batch.text, batch.language, strict=True))
        return np.stack([vector(text, self.dim) for text in batch.text]).astype(np.float32)


class Shown:
    """Vectors of images by the id of the row that shows them."""

    opens_images = False
    identity = "test:shown"

    def __init__(self, name: str = "shown", space: str = "one") -> None:
        self.name, self.space = name, space

    def encode(self, batch: Any) -> np.ndarray:
        return np.stack([vector(row) for row in batch.ids]).astype(np.float32)


def write(path: Path, lists: list[list[str]], features: str = "tm= 0.5 -1") -> Path:
    lines = [
        f"{sentence} ||| {text} ||| {features} ||| {-place} ||| 0-0\n"
        for sentence, texts in enumerate(lists)
        for place, text in enumerate(texts)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def nbest(tmp_path: Path) -> Path:
    (tmp_path / "src").write_text("\n".join(SOURCE) + "\n", encoding="utf-8")
    return write(tmp_path / "a.nbest", LISTS)


def add(nbest: Path, *encoders: Any, **more: Any) -> Any:
    given = {
        "source": nbest.with_name("src"),
        "source_language": "en",
        "target_language": "de",
        "store": None,
    }
    found = add_features(nbest, nbest.with_name("b.nbest"), list(encoders), **(given | more))
    again = read_nbest(nbest.with_name("b.nbest"))
    np.testing.assert_array_equal(found.features, again.features)
    return again


def images(count: int = 2) -> Manifest:
    rows = [{"id": f"p{i}", "text_en": f"image {i}", "text_de": f"bild {i}"} for i in range(count)]
    return Manifest.of(rows)


def test_cosines_of_source_and_hypothesis(nbest: Path) -> None:
    encoder, other = Words(), Words("other", 3)
    lists = add(nbest, encoder, other)
    assert lists.names == ("tm[0]", "tm[1]", "words", "other")
    flat = [(SOURCE[i], text) for i, texts in enumerate(LISTS) for text in texts]
    for column, dim in ((2, DIM), (3, 3)):
        expected = [cosine(vector(source, dim), vector(text, dim)) for source, text in flat]
        np.testing.assert_allclose(lists.features[:, column], expected, atol=1e-6)
    assert lists.features[0, 2] == lists.features[2, 2]
    before = read_nbest(nbest)
    np.testing.assert_array_equal(lists.features[:, :2], before.features)
    assert lists.hypotheses == before.hypotheses and list(lists.extra) == [("0-0",)] * 6
    np.testing.assert_array_equal(lists.scores, before.scores)


def test_every_text_is_encoded_once_and_then_kept(nbest: Path, tmp_path: Path) -> None:
    encoder = Words()
    add(nbest, encoder, store=tmp_path / "store")
    assert set(encoder.asked.values()) == {1}
    assert set(encoder.asked) == {(text, "en") for text in SOURCE} | {
        (text, "de") for texts in LISTS for text in texts
    }
    again = Words()
    lists = add(nbest, again, store=tmp_path / "store")
    assert not again.asked and lists.names[-1] == "words"


def test_cosines_of_image_and_hypothesis(nbest: Path) -> None:
    lists = add(nbest, Words(), images=images(), image_encoders=[Shown()])
    assert lists.names[2:] == ("words", "shown")
    first = [images().ids[row] for row in rows_of_sentences(images(), 2)]
    expected = [cosine(vector(first[i]), vector(text)) for i, texts in enumerate(LISTS) for text in texts]
    np.testing.assert_allclose(lists.features[:, 3], expected, atol=1e-6)
    alone = add(nbest, Words(), source=None, images=images(), image_encoders=Shown("words"))
    assert alone.names[2:] == ("words-image",)
    np.testing.assert_array_equal(alone.features[:, 2], lists.features[:, 3])


def test_sentences_are_rows_of_the_manifest_or_items() -> None:
    wide = images(3)
    rows = rows_of_sentences(wide, 3)
    assert wide.table_row[rows].tolist() == [0, 1, 2]
    long = Manifest.of(
        [
            {"id": f"{lang}{i}", "lang": lang, "text": f"{lang} {i}", "item": i}
            for i in range(3)
            for lang in ("en", "de")
        ]
    )
    assert long.item[rows_of_sentences(long, 3)].tolist() == [0, 1, 2]
    assert rows_of_sentences(long, 6).tolist() == list(range(6))
    with pytest.raises(InputError, match="6 rows and 3 items, the n-best list 4 sentences"):
        rows_of_sentences(long, 4)


def test_empty_texts_are_similar_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "src").write_text("yes\n\n", encoding="utf-8")
    nbest = write(tmp_path / "a.nbest", [["ja", ""], ["nein", ""]])
    encoder = Words()
    with pytest.warns(DataWarning, match=r"2 hypotheses are empty") as caught:
        lists = add(nbest, encoder, images=images(), image_encoders=Shown())
    assert len(caught) == 2  # of the list that is read, and here of the one that was written
    assert lists.features[:, 2].tolist()[1:] == [0, 0, 0] and lists.features[0, 2] != 0
    assert (lists.features[:, 3] != 0).tolist() == [True, False, True, False]
    assert "" not in {text for text, _ in encoder.asked}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"source": None}, "nothing to compare the hypotheses with"),
        ({"images": images()}, "--images and --image-encoder belong together"),
        ({"image_encoders": [Shown()]}, "--images and --image-encoder belong together"),
        (
            {"images": images(3), "image_encoders": Shown()},
            "3 rows and 3 items, the n-best list 2 sentences",
        ),
        ({"images": images(), "image_encoders": [Shown(), Shown()]}, "2 image encoders for 1 text encoder"),
        ({"images": images(), "image_encoders": Shown(space="other")}, "are of different models"),
        ({"source_language": "???"}, "--source-language"),
        (
            {"text_encoders": ["vectors:x.{lang}.npy"]},
            "vectors: files have one row for each text of a manifest",
        ),
        ({"text_encoders": {"tm": Words()}}, "a feature 'tm' already"),
        ({"text_encoders": {"a b": Words()}}, "a feature cannot be named 'a b'"),
        (
            {
                "text_encoders": {"a": Words(), "shown": Words("b")},
                "images": images(),
                "image_encoders": Shown("c"),
            },
            "two features are named 'c'",
        ),
    ],
)
def test_what_is_refused(
    nbest: Path, more: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        "source": nbest.with_name("src"),
        "source_language": "en",
        "target_language": "de",
        "store": None,
    }
    given |= {"text_encoders": [Words()]} | more
    np.save(nbest.with_name("x.en.npy"), np.ones((2, 3)))
    np.save(nbest.with_name("x.de.npy"), np.ones((4, 3)))
    monkeypatch.chdir(nbest.parent)
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        add_features(nbest, nbest.with_name("b.nbest"), given.pop("text_encoders"), **given)
    assert not nbest.with_name("b.nbest").exists()
