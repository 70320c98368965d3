"""Encoders that stand on another one: the base's vectors are kept, and theirs are made anew."""

import numpy as np

from xlingual.embed import encoding as module
from xlingual.embed import is_kept
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import Stacked, adopt
from xlingual.records import Encoded, Texts
from xlingual.store import Store


class Lengths:
    identity, content = "lengths:1", ("text",)

    def __init__(self):
        self.asked = []

    def encode_noting(self, batch):
        self.asked += batch.text
        vectors = np.array([[len(text), 1.0] for text in batch.text], dtype=np.float32).reshape(-1, 2)
        return Encoded(vectors, np.array([len(text) > 8 for text in batch.text], dtype=bool))

    def encode(self, batch):
        return self.encode_noting(batch).vectors

    def notes(self):
        return []


class TwoFields:
    """Title and body side by side, as a model of recipes has them."""

    identity = "two:1"

    def __init__(self, base):
        self.base, self.given = base, []

    def inputs(self, batch):
        return tuple(Texts(batch.fields[name], batch.language, batch.ids) for name in ("title", "body"))

    def apply(self, title, body):
        self.given.append(len(title))
        assert title.dtype == body.dtype == np.float32
        return np.hstack([title, 2 * body])

    def encode(self, batch):
        return self.apply(*(self.base.encode(part) for part in self.inputs(batch)))


def batch(count=7):
    titles = [f"t{'x' * (i % 3)}" for i in range(count)]
    bodies = [f"body {'y' * (i % 4)}" for i in range(count)]
    ids = [str(i) for i in range(count)]
    return Texts(titles, ["en"] * count, ids, fields={"title": titles, "body": bodies})


def expected(some):
    pairs = zip(some.fields["title"], some.fields["body"], strict=True)
    return np.array([[len(t), 1, 2 * len(b), 2] for t, b in pairs], dtype=np.float32)


WAY = VectorSource("text encoder 'two'", "encoding")


def test_the_base_encodes_each_content_once_over_two_runs(tmp_path):
    base = Lengths()
    for _ in range(2):
        way = VectorSource("two", "encoding", Store(tmp_path / "s"))
        found = encode(adopt(TwoFields(base)), batch(), way)
        np.testing.assert_array_equal(found.vectors, expected(batch()))
        assert found.truncated.tolist() == [len(body) > 8 for body in batch().fields["body"]]
    assert sorted(base.asked) == sorted({*batch().fields["title"], *batch().fields["body"]})


def test_it_is_given_pieces_of_bounded_size(monkeypatch):
    monkeypatch.setattr(module, "_APPLIED", 3)
    encoder = TwoFields(Lengths())
    found = encode(adopt(encoder), batch(), WAY).vectors
    assert encoder.given == [3, 3, 1]
    np.testing.assert_array_equal(found, expected(batch()))
    np.testing.assert_array_equal(found, encoder.encode(batch()))


def test_an_empty_batch_has_vectors_of_the_same_size():
    assert encode(adopt(TwoFields(Lengths())), batch(0), WAY).vectors.shape == (0, 4)


def test_stacks_may_be_high():
    class Halved:
        identity = "halved:1"

        def __init__(self, base):
            self.base = base

        def inputs(self, some):
            return (some,)

        def apply(self, vectors):
            return vectors / 2

        def encode(self, some):
            return self.apply(self.base.encode(some))

    top = adopt(Halved(Halved(TwoFields(Lengths()))))
    assert isinstance(top, Stacked)
    np.testing.assert_array_equal(encode(top, batch(), WAY).vectors, expected(batch()) / 4)


def test_what_is_kept_is_what_the_base_gives():
    base = Lengths()
    assert is_kept(adopt(TwoFields(base)))
    base.identity = None
    assert not is_kept(adopt(TwoFields(base)))
    base.identity, base.content = "lengths:1", ()
    assert not is_kept(adopt(TwoFields(base)))
