"""The order in which forms are tested: before any is looked at, and from most to least that is kept."""

import numpy as np
import pytest

from xlingual.evaluation.compression.forms import Wanted, order_of_tests
from xlingual.stats.corrections import in_sequence


def order(**wanted):
    return order_of_tests(Wanted(fitted=True, **wanted).forms(64, 64))


def test_all_dimensions_come_first_and_then_three_lines():
    after = order(dims=(64, 32, 16))
    assert [name for name, before in after.items() if before is None] == ["f16 64"]
    assert after["int8 64"] == "f16 64"
    followers = [name for name, before in after.items() if before == "int8 64"]
    assert sorted(followers) == ["binary 64 rescored", "f32 32", "f32 32 pca"]
    assert [after[name] for name in ("f16 32", "int8 32", "f32 16", "f16 16")] == [
        "f32 32", "f16 32", "int8 32", "f32 16"
    ]  # fmt: skip
    assert after["f32 16 pca"] == "int8 32 pca"
    assert after["binary 64"] == "binary 64 rescored"
    assert after["binary 32 rescored"] == after["binary 32 pca rescored"] == "binary 64"
    assert after["binary 16 pca rescored"] == "binary 32 pca"


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"dims": (32, 16)},
        {"dims": (64,), "dtypes": ("binary",)},
        {"dtypes": ("binary",), "dims": (32, 16), "rescore": 0},
        {"dtypes": ("f32",), "reductions": ("pca",)},
        {"dtypes": ("int8", "binary"), "dims": (64, 8)},
    ],
)
def test_every_form_is_tested_once_and_after_one_that_keeps_more(wanted):
    forms = {form.name: form for form in Wanted(fitted=True, **wanted).forms(64, 64)}
    after = order(**wanted)
    assert set(after) == set(forms)
    names = list(after)
    places = [None if after[name] is None else names.index(after[name]) for name in names]
    in_sequence(np.full(len(names), 0.5), places)  # without a circle
    for name, before in after.items():
        if before is not None:
            one, other = forms[name], forms[before]
            rank = ("f32", "f16", "int8", "binary").index
            assert one.dim < other.dim or (rank(one.dtype), -one.rescored) > (
                rank(other.dtype),
                -other.rescored,
            )


def test_what_the_forms_are_asked_for_in_changes_nothing():
    one, other = order(dims=(64, 32, 16)), order(dims=(16, 64, 32), dtypes=("binary", "int8", "f16", "f32"))
    assert one == other
