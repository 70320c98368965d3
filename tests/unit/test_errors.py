import pytest

from xlingual.errors import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("fr", ["ar", "en"], None),
        ("pic", ["split", "id"], None),
        ("imag", ["split", "image", "images"], "image"),
        ("EN", ["de", "en"], "en"),
        ("dee", ["en", "de"], "de"),
        ("dmi", ["dim", "seed"], "dim"),
        ("txt", ["id", "text"], "text"),
        ("tset", ["train", "test"], "test"),
        ("nope.jsonl", ["products.jsonl"], None),
        ("Images", ["id", "image"], "image"),
        ("", ["en"], None),
        ("x", ["xlr"], None),
    ],
)
def test_nearest(word, known, near):
    assert nearest(word, known) == near
    assert did_you_mean(word, known) == ("" if near is None else f" Did you mean {near!r}?")
