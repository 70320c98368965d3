"""The neighbours that results keep are those of the whole score matrix, and change no number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.evaluation.neighbours import KEPT
from xlingual.results import Results

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
PAIR = {"pairs": "en-de", "store": None}


class Given:
    """Gives each text the row of its number, by language."""

    def __init__(self, **sides):
        self.sides, self.identity = sides, "given"

    def encode(self, batch):
        rows = zip(batch.language, batch.ids, strict=True)
        return np.array([self.sides[tag][number(own)] for tag, own in rows], dtype=np.float32)


class Pictures(Given):
    def encode(self, batch):
        return self.sides["images"][[number(own.split(":")[-1]) for own in batch.ids]].astype(np.float32)


def number(own):
    return int(own.split("/")[0][1:])


def data(n):
    return Manifest.of([{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(n)])


def vectors(rng, n):
    """Return vectors of which some are equal, and some zero."""
    found = rng.integers(-2, 3, (n, 3)).astype(float)
    return np.where(rng.random((n, 1)) < 0.5, found, found + rng.standard_normal((n, 3)))


def assert_nearest(rows, en, de, targets):
    """Each query has its KEPT best candidates, in order, with their counts and cosines."""
    unit = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-30) for side in (en, de)]
    scores = np.rint(unit[0] @ unit[1].T * 1e9)
    by_query = {}
    for row in rows:
        by_query.setdefault(number(row["query"]), []).append(row)
    for query, lines in by_query.items():
        own = scores[query, targets]
        assert len(lines) == min(KEPT, len(targets))
        assert len({line["neighbour"] for line in lines}) == len(lines)
        for line, best in zip(lines, sorted(own, reverse=True), strict=False):
            score = scores[query, number(line["neighbour"])]
            assert number(line["neighbour"]) in targets
            assert score == best
            assert (line["above"], line["tied"]) == ((own > score).sum(), (own == score).sum())
            assert line["score"] == pytest.approx(score * 1e-9, abs=2e-5)
    return set(by_query)


@settings(max_examples=25, deadline=None)
@given(st.integers(11, 30), st.integers(0, 10**6))
def test_cross_lingual_retrieval(n, seed):
    rng = np.random.default_rng(seed)
    en, de = (vectors(rng, n).astype(np.float32).astype(float) for _ in range(2))
    encoder = {"a": Given(en=en, de=de)}
    found = crosslingual_retrieval(data(n), encoder, measures="R@3", **PAIR)
    rows = found.tables["neighbours"].to_pylist()
    assert assert_nearest(rows, en, de, np.arange(n)) == set(range(n))
    without = crosslingual_retrieval(data(n), encoder, measures="R@3", neighbours=False, **PAIR)
    assert "neighbours" not in without.tables
    assert without.entries == found.entries


@settings(max_examples=25, deadline=None)
@given(st.integers(30, 60), st.integers(0, 10**6))
def test_backretrieval_of_the_first_seed(n, seed):
    rng = np.random.default_rng(seed)
    en, de = (vectors(rng, n).astype(np.float32).astype(float) for _ in range(2))
    images = Pictures(images=rng.standard_normal((n, 3)))
    options = {**PAIR, "image_encoder": images, "measures": "R@3", "seeds": 2, "sample": 12}
    options["cluster"] = "declared"
    found = backretrieval(data(n), {"a": Given(en=en, de=de)}, **options)
    rows = found.tables["neighbours"].to_pylist()
    per_query = [row for row in found.per_query.to_pylist() if row["seed"] == 0 and row["measure"] == "R@3"]
    assert {row["seed"] for row in rows} == {0}
    targets = np.unique([number(row["neighbour"]) for row in rows])
    sources = {number(row["query"]) for row in per_query}
    whole = np.setdiff1d(np.arange(n), list(sources))
    assert set(targets) <= set(whole)
    first = {row["query"]: row["neighbour"] for row in rows if row["above"] == 0 and row["tied"] == 1}
    assert first == {row["query"]: row["retrieved"] for row in per_query if row["retrieved"]}
    without = backretrieval(data(n), {"a": Given(en=en, de=de)}, neighbours=False, **options)
    assert without.entries == found.entries
    assert without.per_query.equals(found.per_query)


def test_many_equal_targets_fill_the_list_once():
    """Where all targets are equal each query lists ten of them, and counts them all."""
    n = 40
    encoder = {"constant": Given(en=np.ones((n, 2)), de=np.ones((n, 2)))}
    rows = crosslingual_retrieval(data(n), encoder, measures="R@3", **PAIR).tables["neighbours"].to_pylist()
    assert len(rows) == n * KEPT
    assert {(row["above"], row["tied"], row["score"]) for row in rows} == {(0, n, 1.0)}


def test_they_are_read_back_and_may_be_missing(tmp_path):
    rng = np.random.default_rng(0)
    found = crosslingual_retrieval(data(20), {"a": Given(en=vectors(rng, 20), de=vectors(rng, 20))}, **PAIR)
    found.write(tmp_path)
    assert Results.read(tmp_path).tables["neighbours"].equals(found.tables["neighbours"])
    (tmp_path / "neighbours.parquet").unlink()
    assert "neighbours" not in Results.read(tmp_path).tables


def test_a_search_system_lists_what_it_found():
    run = {f"r{i}": {f"r{(i + d) % 20}": 3.0 - d for d in range(3)} for i in range(20)}
    found = crosslingual_retrieval(data(20), runs={"engine": run}, measures="R@3", **PAIR)
    rows = found.tables["neighbours"].to_pylist()
    assert [(number(row["neighbour"]) - number(row["query"])) % 20 for row in rows[:3]] == [0, 1, 2]
    assert [row["score"] for row in rows[:3]] == [3.0, 2.0, 1.0]
