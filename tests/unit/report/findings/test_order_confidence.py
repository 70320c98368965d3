"""What is said of an order: a figure, or what limits it."""

from types import SimpleNamespace

import pytest

from xlingual.report.findings.order_confidence import sentences
from xlingual.results import Interval
from xlingual.results.order_confidence import OrderBasis, OrderConfidence, OrderedPair

BASIS = OrderBasis("", "R@10", ["x", "y"], [1.0, 1.0], 9.0, 0.5, 0.4, 50, 1000, 20, [], [])


def pair(ahead, behind, right, *, low=0.9, note=None):
    return OrderedPair(ahead, behind, True, 1.0, 1.0, 0.9, right, Interval(low, 1.0, 0.95, "t"), note)


def said(*pairs, note=None):
    record = OrderConfidence("images", "R@10", 0.2, list(pairs), BASIS, note=note)
    return sentences(SimpleNamespace(order_confidence=record))


def test_a_figure():
    assert said(pair("A", "B", 9)) == [
        "Predicted order by true retrieval: A before B: right in about 9 of 10 such cases."
    ]


def test_what_limits_it():
    (text,) = said(pair("A", "B", None, low=0.45, note="the data sets it was fitted to disagree"))
    assert text == (
        "Predicted order by true retrieval: A before B: not known, such orders were right in 45 to 100 of "
        "100 cases; the data sets it was fitted to disagree."
    )
    refused = OrderedPair("A", "B", True, 1.0, 1.0, note="B was trained on images")
    assert said(refused) == [
        "Predicted order by true retrieval: A before B: not known, B was trained on images."
    ]


def test_the_others_by_their_figure():
    (text,) = said(
        pair("A", "B", 9), pair("A", "C", 9), pair("B", "C", 6), pair("A", "D", None), pair("A", "E", 8)
    )
    assert text.endswith(
        "such cases. Before C: right in about 9 of 10. Before E: right in about 8 of 10. Before D: not known."
    )


@pytest.mark.parametrize("note", ["it was fitted to 50 queries or more, and here are 30"])
def test_a_note_on_the_whole_board(note):
    assert said(pair("A", "B", None), note=note) == [
        f"The probability that this order is that of true retrieval is not known: {note}."
    ]


def test_results_without_it_say_nothing():
    assert sentences(SimpleNamespace(order_confidence=None)) == []
