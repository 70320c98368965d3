"""The base class of encoders, and adapters that stand on another one."""

from pathlib import Path

import numpy as np

import xlingual
from xlingual.encoders import Adapter, Encoder, Stacked
from xlingual.records import Encoded, Texts

SOME = Texts(["a", "longer"], ["en", "de"], ["1", "2"])
SOURCE = Path(xlingual.__file__).parent


class Cut(Encoder):
    identity = "cut"
    content, fitted_on, space, compares_by = ("text",), frozenset({b"x"}), "joint", "dot"
    depends_on_batch = by_number = True

    def encode_noting(self, batch, /):
        return Encoded(np.ones((len(batch), 2), dtype=np.float32), np.array([False, True]))

    def notes(self):
        return ["noted"]


def test_an_adapter_says_what_its_base_says_unless_it_defines_it():
    class Doubled(Adapter):
        identity, origin = "doubled", "fitted"

        def encode(self, batch, /):
            return 2 * self.base.encode(batch)

    made, below = Doubled(Cut()), Cut()
    assert below.encode(SOME).tolist() == [[1, 1]] * 2
    assert made.encode_noting(SOME).vectors.tolist() == [[2, 2]] * 2
    for name in ("content", "fitted_on", "space", "compares_by", "depends_on_batch", "opens_images"):
        assert getattr(made, name) == getattr(below, name)
    assert made.notes() == ["noted"] and made.origin == "fitted" and not made.by_number
    assert made.over(SOME) is made


def test_vectors_of_a_stacked_one_are_made_of_those_below():
    class Halved(Stacked):
        identity = "halved"

        def apply(self, *vectors):
            return vectors[0] / 2

    made = Halved(Cut())
    assert made.encode(SOME).tolist() == [[0.5, 0.5]] * 2
    assert (made.content, made.space, made.notes(), made.fitted_on) == ((), None, [], {b"x"})
