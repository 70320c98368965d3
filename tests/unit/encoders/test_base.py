"""The base class of encoders, adapters that stand on another one, and the door for users' own objects."""

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xlingual
from xlingual.encoders.base import ABILITIES, Adapter, Encoder, Stacked, Wrapped, WrappedStacked, adopt
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

SOME = Texts(["a", "longer"], ["en", "de"], ["1", "2"])
SOURCE = Path(xlingual.__file__).parent
DOORS = {"base.py", "objects.py", "python_function.py", "own_similarity.py", "registry.py"}


class Lengths(Encoder):
    """States nothing but what it must."""

    identity = "lengths"

    def encode(self, batch, /):
        return np.array([[len(text)] for text in batch.text], dtype=np.float32)


class Cut(Encoder):
    """Says what it cuts, and so needs no `encode`; it has every ability."""

    identity = "cut"
    content = ("text",)
    depends_on_batch = is_service = trained_on_images = by_number = True
    has_own_identity = opens_images = False
    fitted_on, languages, piece, space = frozenset({b"x"}), ("en",), 7, "joint"
    compares_by = "dot"

    def encode_noting(self, batch, /):
        return Encoded(np.ones((len(batch), 2), dtype=np.float32), np.array([False, True]))

    def check_languages(self, tags, /):
        raise InputError("not these")

    def fit_model(self):
        self.fitted = True

    def notes(self):
        return ["noted"]


def test_encode_is_made_of_encode_noting_and_the_other_way_round():
    assert Lengths().encode_noting(SOME).vectors.tolist() == [[1], [6]]
    assert Lengths().encode_noting(SOME).truncated is None
    assert Cut().encode(SOME).tolist() == [[1, 1], [1, 1]]


def test_most_abilities_may_be_left_as_they_are():
    plain = Lengths()
    plain.check_languages(["xx"])
    plain.fit_model()
    said = (plain.content, plain.languages, plain.piece, plain.space, plain.trained_on_images)
    assert said == (None,) * 5
    assert (plain.notes(), plain.fitted_on) == ([], frozenset())
    assert plain.has_own_identity and plain.opens_images and not plain.depends_on_batch


def test_an_adapter_says_what_its_base_says():
    class Renamed(Adapter):
        identity = "renamed"

        def encode(self, batch, /):
            return 2 * self.base.encode(batch)

    made, below = Renamed(Cut()), Cut()
    for name in ABILITIES - {"encode_noting", "by_number"}:
        own, other = getattr(made, name), getattr(below, name)
        assert callable(own) if callable(other) else own == other
    with pytest.raises(InputError, match="not these"):
        made.check_languages(["de"])
    assert made.notes() == ["noted"]
    assert made.encode_noting(SOME).vectors.tolist() == [[2, 2], [2, 2]]
    assert not made.by_number  # it hands over a batch


def test_a_stacked_one_states_how_it_applies():
    class Halved(Stacked):
        identity = "halved"

        def apply(self, *vectors):
            return vectors[0] / 2

    made = Halved(Cut())
    assert made.encode(SOME).tolist() == [[0.5, 0.5]] * 2
    assert (made.content, made.space, made.notes()) == ((), None, [])
    assert made.fitted_on == {b"x"} and made.depends_on_batch


def test_an_object_offers_what_it_has_by_name():
    class Own:
        identity, content, fitted_on = "own", ("text",), frozenset({b"y"})
        languages, notes, workers = ["en"], "of a conference", 9

        def encode(self, batch):
            return np.ones((len(batch), 1))

    made = adopt(Own())
    assert type(made) is Wrapped and adopt(made) is made
    assert (made.identity, made.content, made.fitted_on) == ("own", ("text",), {b"y"})
    assert made.languages == ("en",)
    assert made.notes() == []  # a text is no method
    assert made.workers == 1  # not for users to say
    assert adopt(SimpleNamespace(encode=len, languages={"en": 0})).languages is None
    assert adopt(SimpleNamespace(encode=len, space=np.eye(2))).space is None


def test_an_object_on_a_base_is_stacked():
    own = SimpleNamespace(identity="o", encode=len, inputs=lambda batch: [batch], apply=lambda one: one + 1)
    own.base = SimpleNamespace(identity="b", encode=lambda batch: np.zeros((len(batch), 1)), fitted_on={b"z"})
    made = adopt(own)
    assert type(made) is WrappedStacked and isinstance(made, Stacked)
    assert isinstance(made.base, Wrapped) and made.fitted_on == {b"z"}
    assert made.apply(*(made.base.encode(part) for part in made.inputs(SOME))).tolist() == [[1], [1]]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (Lengths, "Lengths is a class: make an object of it"),
        (7, "found a value of the type int"),
        (SimpleNamespace(encode="no method"), "an object with a method encode"),
        (SimpleNamespace(encode=len, identity=7), "must be a non-empty str, found 7"),
    ],
)
def test_other_things_are_refused_at_the_door(entry, says):
    with pytest.raises(InputError, match=says):
        adopt(entry)


def test_nobody_but_the_doors_asks_whether_an_ability_is_there():
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
                asks = node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant)
                if asks and node.args[1].value in {*ABILITIES, "encode", "identity", "base", "workers"}:
                    found.append(path.relative_to(SOURCE).as_posix())
    assert {path for path in found if Path(path).name not in DOORS} == set()
