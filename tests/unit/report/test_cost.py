"""Quality beside cost: what is kept, the table, and the frontier."""

import itertools
import json
import time

import numpy as np
import pytest

from xlingual import Manifest, Results, crosslingual_retrieval
from xlingual.embed.spent import Spent
from xlingual.encoders.bm25 import Bm25Encoder
from xlingual.encoders.bm25_terms import TermReader
from xlingual.records import Texts
from xlingual.report import as_html, page_of
from xlingual.report.figures.cost import Placed, frontier
from xlingual.report.render.text import as_text

N = 40


class Slow:
    """Encodes texts as given numbers, and says who it is."""

    identity = "slow:1"
    content = ("text",)

    def __init__(self, shift=0.0):
        self.calls, self.shift = 0, shift
        self.identity = f"slow:{shift}"

    def encode(self, texts):
        self.calls += 1
        rng = np.random.default_rng(3)
        own = rng.normal(size=(N, 4))
        return np.array([own[int(text.split()[1])] + self.shift * rng.normal(size=4) for text in texts.text])


@pytest.fixture(scope="module")
def manifest():
    return Manifest.from_rows([{"id": f"p{i}", "text_en": f"a {i}", "text_de": f"b {i}"} for i in range(N)])


def xlr(manifest, **more):
    return crosslingual_retrieval(manifest, **{"pairs": "en-de", "measures": "R@1", "store": None} | more)


def lists(latency):
    rows = [
        {"query_id": f"en:p{i}", "candidate_id": f"de:p{j}", "score": -j, "took": latency}
        for i in range(N)
        for j in range(2)
    ]
    return "\n".join(map(json.dumps, rows))


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


def test_results_keep_costs_and_pages_show_them(manifest, tmp_path):
    for name, latency in (("fast", 3), ("slow", 80)):
        (tmp_path / f"{name}.jsonl").write_text(lists(latency), encoding="utf-8")
    runs = {name: tmp_path / f"{name}.jsonl" for name in ("fast", "slow")}
    found = xlr(manifest, text_encoders={"mine": Slow(0.5)}, runs=runs)
    found.write(tmp_path / "out")
    read = Results.read(tmp_path / "out")
    assert read.costs == found.costs and set(read.costs) == {"mine", "fast", "slow"}
    assert read.costs["slow"]["latency_ms"] == 80 and read.only("slow").costs == {"slow": read.costs["slow"]}
    (section,) = [one for one in page_of(read).sections if one.title == "Cost"]
    table = section.blocks[-1]
    heads = [column.head for column in table.columns]
    shown = {row.cells[0].text: dict(zip(heads, row.cells, strict=True)) for row in table.rows}
    assert shown["fast"]["Median latency"].text == "3 ms" and shown["slow"]["95th percentile"].value == 80
    assert shown["mine"]["Dimensions"].text == "4" and shown["mine"]["Median latency"].text == "–"
    assert {name for name, row in shown.items() if row["Encoder"].badges} == {"fast"}
    as_html(read)
    for form in ("markdown", "latex", "csv"):
        assert "Cost beside" in as_text(page_of(read), form)


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
