import doctest

import pytest
from msgspec.structs import replace

from xlingual.report import axis, colours, numbers


@pytest.mark.parametrize("module", [numbers])
def test_examples_in_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(
    ("value", "measure", "text"),
    [
        (0.3125, "R@10", "0.312"),
        (-0.0421, "CORR", "−0.042"),
        (-0.0004, "SIM", "0.000"),
        (float("nan"), "R@10", "–"),
        (float("inf"), "MedR", "–"),
        (1234.56, "MedR", "1234.6"),
    ],
)
def test_number(value, measure, text):
    assert numbers.number(value, measure) == text


def test_intervals(made):
    assert numbers.with_interval(0.3, made.ci(0.3), "R@10") == "0.300 [0.270, 0.330]"
    assert numbers.with_interval(0.3, None) == "0.300"
    assert numbers.interval(replace(made.ci(0.0), low=-0.5), "CORR") == "[−0.500, 0.030]"


def test_spans_and_lists():
    assert numbers.span([365, 1400, 365]) == "365–1,400"
    assert numbers.span([]) == "–"
    assert numbers.percent(-0.001) == "0 %"
    assert numbers.in_words([]) == ""
    assert numbers.in_words(["a"]) == "a"


def test_axis_has_round_ends_and_holds_all():
    found = axis.axis_for([0.027, 0.31, 0.76])
    assert (found.low, found.high) == (0.0, 0.8)
    assert found.labels() == [(0.0, "0.0"), (25.0, "0.2"), (50.0, "0.4"), (75.0, "0.6"), (100.0, "0.8")]
    assert found.at(0.2) == 25.0
    assert found.at(-1) == 0.0 and found.at(2) == 100.0


def test_axis_floor_keeps_intervals_of_shares_above_zero():
    assert axis.axis_for([-0.003, 0.5], floor=0.0).low == 0.0
    assert axis.axis_for([-0.3, 0.5], floor=-1.0).low < -0.3 + 1e-9


@pytest.mark.parametrize("values", [[], [None], [0.0], [0.5, 0.5], [1e-9], [1000.0, 3.0], [0.9981, 0.9982]])
def test_axis_of_odd_values(values):
    found = axis.axis_for(values, floor=0.0)
    assert found.low < found.high and len(found.ticks) >= 2
    assert all(found.low <= value <= found.high for value in values if value is not None)
    places, texts = zip(*found.labels(), strict=True)
    assert list(places) == sorted(places)
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("anchors", [colours.LIGHT, colours.DARK])
def test_heat_map_text_stands_out_and_scale_is_steady(anchors):
    steps = [colours.colour(anchors, i / 20) for i in range(21)]
    assert all(colours.contrast(step, colours.ink(step)) >= 4.2 for step in steps)
    light = [colours.contrast(step, (0, 0, 0)) for step in steps]
    assert light in (sorted(light), sorted(light, reverse=True))
