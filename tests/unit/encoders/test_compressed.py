"""`truncate:D::SPEC` and `quantize:DTYPE::SPEC`."""

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.embed.sides import refuse_fitted_rows
from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.transforms.affine import unit_rows
from xlingual.transforms.compression import Levels, halved, signs
from xlingual.transforms.moments import FitData

TAGS = ("de", "en")
BASE = "random:?dim=12"


def texts(start=0, stop=30):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} text {i}", "item": str(i)}
        for i in range(start, stop)
        for tag in TAGS
    ]
    found = Manifest.of(rows)
    return found.texts(np.arange(len(found)))


def made(spec):
    return text_encoders({"e": spec}, languages=TAGS, fit_texts=lambda _: texts(100, 140))["e"]


def vectors(spec, rows=None):
    return made(spec).encode(rows or texts())


def test_the_first_dimensions_of_unit_vectors():
    np.testing.assert_array_equal(vectors(f"truncate:5::{BASE}"), unit_rows(vectors(BASE))[:, :5])


@pytest.mark.parametrize(("dtype", "function"), [("f16", halved), ("binary", signs)])
def test_numbers_of_fewer_bits(dtype, function):
    np.testing.assert_array_equal(vectors(f"quantize:{dtype}::{BASE}"), function(unit_rows(vectors(BASE))))


@pytest.mark.parametrize("below", [BASE, f"truncate:5::{BASE}", f"pca:4?fit=F::{BASE}"])
def test_levels_of_unit_vectors_whatever_is_below(below):
    fitted = Levels.of(FitData(vectors(below, texts(100, 140)), ["en"] * 80, unit=True))
    expected = fitted.apply(unit_rows(vectors(below)))
    np.testing.assert_array_equal(vectors(f"quantize:int8?fit=F::{below}"), expected)


def test_identities_tell_forms_and_what_they_are_fitted_on():
    specs = ["truncate:5", "truncate:6", "quantize:f16", "quantize:binary", "quantize:int8?fit=F"]
    found = {made(f"{spec}::{BASE}").identity for spec in specs}
    assert len(found) == len(specs)
    other = text_encoders(
        {"e": f"quantize:int8?fit=F::{BASE}"}, languages=TAGS, fit_texts=lambda _: texts(50, 60)
    )
    assert other["e"].identity not in found


def test_texts_that_set_levels_are_not_evaluated():
    encoder = made(f"quantize:int8?fit=F::{BASE}")
    with pytest.raises(InputError, match="was fitted on 20 of the"):
        refuse_fitted_rows({"e": encoder}, texts(130, 150))
    assert made(f"quantize:binary::{BASE}").fitted_on == frozenset()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("truncate:x", "truncate: expected a whole number"),
        ("truncate:0", "truncate: expected a whole number"),
        ("quantize:int4", "quantize: expected f16 or int8 or binary, found 'int4'"),
        ("quantize:int8", "quantize:int8: fit= is missing"),
        ("quantize:binary?fit=F", "quantize:binary is not fitted: leave out fit="),
    ],
)
def test_what_cannot_be_is_refused(spec, words):
    with pytest.raises(InputError, match=words):
        made(f"{spec}::{BASE}")


def test_more_dimensions_than_there_are_are_refused():
    with pytest.raises(InputError, match="truncate:13: 13 dimensions are asked for, and the vectors have 12"):
        vectors(f"truncate:13::{BASE}")
