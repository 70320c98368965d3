"""Quality beside cost: what is kept, the table, and the frontier."""

import itertools
import time

import numpy as np
import pytest

from xlingual import Manifest, crosslingual_retrieval
from xlingual.embed.spent import Spent
from xlingual.encoders.bm25 import Bm25Encoder
from xlingual.encoders.bm25_terms import TermReader
from xlingual.records import Texts
from xlingual.report.figures.cost import Placed, frontier

N = 40


@pytest.fixture(scope="module")
def manifest():
    return Manifest.of([{"id": f"p{i}", "text_en": f"a {i}", "text_de": f"b {i}"} for i in range(N)])


def xlr(manifest, **more):
    return crosslingual_retrieval(manifest, **{"pairs": "en-de", "measures": "R@1", "store": None} | more)


def test_the_first_piece_counts_where_it_is_alone():
    spent = Spent()
    assert spent.per_second is None
    spent.add(32, 8.0)
    assert spent.per_second == 4
    spent.add(100, 1.0)
    spent.add(300, 1.0)
    assert spent.per_second == 200


def test_reading_the_candidates_is_part_of_encoding_and_fitting_is_not(manifest, monkeypatch):
    spent = Spent()
    with spent.preparing():
        time.sleep(0.02)
    spent.add(30, 1.0)
    spent.add(10, 0.01)
    assert 40 / 1.2 < spent.per_second <= 40 / 1.03
    read = Bm25Encoder._collected
    calls = []

    def slow(self, texts):
        calls.append(len(texts))
        time.sleep(0.1)
        return read(self, texts)

    monkeypatch.setattr(Bm25Encoder, "_collected", slow)
    cost = xlr(manifest, text_encoders="bm25").costs["bm25"]
    assert cost["texts_per_second"] < 2 * N / 0.1
    assert calls == [N], "read once"

    order = []
    monkeypatch.setattr(TermReader, "read", lambda self, texts: order.append(texts.language[0]) or texts.text)
    fitted = Bm25Encoder(index="all", fit=lambda: Texts(["c 1"], ["fr"], ["x"]))
    xlr(manifest, text_encoders={"mine": fitted})
    assert order.index("fr") == 0 and order.count("fr") == 1, "fitted before, apart"


@pytest.mark.parametrize("lower", [False, True])
def test_the_frontier_is_what_nothing_dominates(lower):
    rng = np.random.default_rng(1)
    sign = -1 if lower else 1
    for size, _ in itertools.product((1, 2, 5, 9), range(30)):
        placed = [Placed(str(i), *map(float, rng.integers(0, 4, 2))) for i in range(size)]

        def dominated(one, placed=placed):
            return any(
                other.cost <= one.cost
                and sign * other.value >= sign * one.value
                and (other.cost, other.value) != (one.cost, one.value)
                for other in placed
            )

        assert {one.name for one in frontier(placed, lower=lower)} == {
            one.name for one in placed if not dominated(one)
        }
