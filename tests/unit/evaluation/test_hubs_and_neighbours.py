"""Hubs and neighbours that results keep are those of the whole score matrix, and change no number."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew, t

from xlingual import Manifest, backretrieval, crosslingual_retrieval, retrieval
from xlingual.evaluation.neighbours import KEPT

made = SimpleNamespace(**run_path(str(Path(__file__).parent / "multilingual_pool" / "drawn.py")))
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


def keys_of(left, right):
    """Return cosines [n, m] as whole numbers: equal ones tie; a zero vector has cosine 0 to everything."""
    sides = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-30) for side in (left, right)]
    return np.rint(sides[0] @ sides[1].T * 1e9)


def among_first(keys, k):
    """Return the chance of each candidate to be among the first k of each query, over all orders of ties."""
    above = (keys[:, None, :] > keys[:, :, None]).sum(axis=2)
    tied = (keys[:, None, :] == keys[:, :, None]).sum(axis=2)
    return np.clip(k - above, 0, tied) / tied


def plain(keys, k, wrong, cluster):
    """Return what results say of hubs; `wrong` [n, m]: the chance of each first place to be an error."""
    n, m = keys.shape
    count, errors = among_first(keys, k).sum(axis=0), (among_first(keys, 1) * wrong).sum(axis=0)
    largest, often = -(-m // 100), np.round(count, 9)
    least = sorted(often)[-largest]
    of_largest = errors[often > least].sum()
    of_largest += (largest - (often > least).sum()) * errors[often == least].mean()

    def skewness(counts):
        return skew(counts) if counts.std() > 1e-9 * count.mean() else 0.0

    groups = np.unique(cluster)
    without = np.array([skewness(among_first(keys[cluster != one], k).sum(axis=0)) for one in groups])
    error = np.sqrt((len(groups) - 1) * without.var())
    reach = t.ppf(0.975, len(groups) - 1) * error
    middle = skewness(count)
    return {
        "k": k,
        "skewness": middle,
        "never": np.mean(count == 0),
        "largest": count.max(),
        "expected": n * k / m,
        "n_largest": largest,
        "n_errors": errors.sum(),
        "errors": of_largest / errors.sum() if errors.sum() else None,
        "skewness_ci": (middle - reach, middle + reach),
    }


def assert_plain(hubs, expected):
    for name, value in expected.items():
        own = getattr(hubs, name)
        own = (own.low, own.high) if name == "skewness_ci" else own
        assert own == (None if value is None else pytest.approx(value, abs=1e-9)), name


def hubs(results, **which):
    (found,) = [
        entry.views.hubs
        for entry in results.entries
        if entry.views is not None
        and entry.views.hubs is not None
        and all(getattr(entry, name) == value for name, value in which.items())
    ]
    return found


def vectors(rng, size, levels=2):
    """Return vectors of few whole numbers, so that many cosines tie; none is zero."""
    return np.column_stack([rng.integers(-levels, levels + 1, (size, 2)), np.ones(size)]).astype(np.float64)


def manifest_of(n, cluster=None, images=None):
    rows = [{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(n)]
    for i, row in enumerate(rows):
        row |= {} if cluster is None else {"cluster": str(cluster[i])}
    return Manifest.of(rows)


@settings(max_examples=25, deadline=None)
@given(st.integers(12, 30), st.integers(0, 10**6))
def test_hubs_of_cross_lingual_retrieval(n, seed):
    rng = np.random.default_rng(seed)
    cluster, en, de = rng.integers(0, 5, n), vectors(rng, n), vectors(rng, n)
    cluster[:2] = 0, 1
    found = crosslingual_retrieval(
        manifest_of(n, cluster), Given(en=en, de=de), measures=["R@1", "R@10"], **PAIR
    )
    expected = plain(keys_of(en, de), 10, 1 - np.eye(n), cluster)
    assert_plain(hubs(found, measure="R@1"), expected)
    assert [entry.views is None for entry in found.entries] == [False, True]


@settings(max_examples=25, deadline=None)
@given(st.integers(16, 30), st.integers(0, 10**6))
def test_hubs_of_backretrieval(n, seed):
    """A first place is wrong as far as its image does not lead back among the first K."""
    rng = np.random.default_rng(seed)
    en, de, images = vectors(rng, n), vectors(rng, n), rng.standard_normal((n, 3))
    manifest = manifest_of(n)
    encoder, K = Given(en=en, de=de), 3
    results = backretrieval(
        manifest,
        encoder,
        image_encoder=Pictures(images=images),
        measures=f"R@{K}",
        cluster="declared",
        **PAIR,
    )
    rows = results.per_query.to_pylist()
    source = np.array([number(row["query"]) for row in rows if row["measure"] == f"R@{K}"])
    target = np.setdiff1d(np.arange(n), source)
    target = target[: results.entries[0].n_target]
    way = keys_of(images[target], images[source])  # [m, n]
    above = (way[:, None, :] > way[:, :, None]).sum(axis=2).T
    tied = (way[:, None, :] == way[:, :, None]).sum(axis=2).T
    wrong = 1 - np.clip((K - above) / tied, 0, 1)
    expected = plain(keys_of(en[source], de[target]), 1, wrong, source)
    assert_plain(hubs(results), expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 9), st.integers(12, 40), st.integers(0, 10**6))
def test_hubs_of_retrieval_by_judgements(n, m, seed):
    rng = np.random.default_rng(seed)
    right = rng.random((n, m)) < 0.2
    right[np.arange(n), rng.integers(0, m, n)] = True
    tags, asked = rng.choice(["en", "de"], m).tolist(), rng.choice(["en", "de"], n).tolist()
    tags[0], asked[0] = "en", "de"
    queries, candidates = vectors(rng, n), vectors(rng, m)
    known, key = tuple(dict.fromkeys([*tags, *asked])), [f"q{i}" for i in range(n)]
    number = {tag: code for code, tag in enumerate(known)}
    pool = made.a_pool(
        [number[tag] for tag in asked],
        key,
        [number[tag] for tag in tags],
        [[key[i] for i in np.flatnonzero(right[:, j])] for j in range(m)],
        languages=known,
    )
    sides = (side.astype(np.float32) for side in (queries, candidates))
    found = hubs(retrieval(pool, made.Given(*sides), store=None))
    keys = keys_of(queries, candidates)
    assert_plain(found, plain(keys, 10, 1 - right, np.arange(n)))
    chance = among_first(keys, 10)
    count = chance.sum(axis=0)
    hub = (count > count.mean() + 2 * count.std()) & (count.std() > 1e-9 * count.mean())
    for tag in set(asked):
        rows = np.array(asked) == tag
        own = chance[rows][:, hub].sum() / (rows.sum() * 10)
        assert found.by_query_language[tag] == pytest.approx(own, abs=1e-9)
    foreign = np.array(asked)[:, None] != np.array(tags)
    if hub.any():
        held = (chance * foreign)[:, hub].sum() / chance[:, hub].sum()
        assert found.other_language == pytest.approx(held, abs=1e-9)
    ranked = {f"q{i}": {f"c{j}": -float((keys[i] > keys[i, j]).sum()) for j in range(m)} for i in range(n)}
    listed = hubs(retrieval(pool, runs={"run": ranked}, store=None))
    assert_plain(listed, plain(keys, 10, 1 - right, np.arange(n)))


def test_a_constant_encoder_has_no_hubs():
    same = np.ones((40, 3))
    results = crosslingual_retrieval(manifest_of(40), Given(en=same, de=same), **PAIR)
    found = hubs(results)
    assert (found.n, found.skewness, found.never, found.alarm) == (0, 0.0, 0.0, False)
    assert found.largest == pytest.approx(found.expected) and "hubs" not in results.tables


def some_equal(rng, n):
    """Return vectors of which some are equal, and some zero."""
    found = rng.integers(-2, 3, (n, 3)).astype(float)
    return np.where(rng.random((n, 1)) < 0.5, found, found + rng.standard_normal((n, 3)))


def assert_nearest(rows, en, de, targets):
    """Each query has its KEPT best candidates, in order, with their counts and cosines."""
    scores = keys_of(en, de)
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
def test_neighbours_of_cross_lingual_retrieval(n, seed):
    rng = np.random.default_rng(seed)
    en, de = (some_equal(rng, n).astype(np.float32).astype(float) for _ in range(2))
    encoder = {"a": Given(en=en, de=de)}
    found = crosslingual_retrieval(manifest_of(n), encoder, measures="R@3", **PAIR)
    rows = found.tables["neighbours"].to_pylist()
    assert assert_nearest(rows, en, de, np.arange(n)) == set(range(n))
    without = crosslingual_retrieval(manifest_of(n), encoder, measures="R@3", neighbours=False, **PAIR)
    assert "neighbours" not in without.tables
    assert without.entries == found.entries


@settings(max_examples=25, deadline=None)
@given(st.integers(30, 60), st.integers(0, 10**6))
def test_neighbours_of_backretrieval_are_of_the_first_seed(n, seed):
    rng = np.random.default_rng(seed)
    en, de = (some_equal(rng, n).astype(np.float32).astype(float) for _ in range(2))
    images = Pictures(images=rng.standard_normal((n, 3)))
    options = {**PAIR, "image_encoder": images, "measures": "R@3", "seeds": 2, "sample": 12}
    options["cluster"] = "declared"
    found = backretrieval(manifest_of(n), {"a": Given(en=en, de=de)}, **options)
    rows = found.tables["neighbours"].to_pylist()
    per_query = [row for row in found.per_query.to_pylist() if row["seed"] == 0 and row["measure"] == "R@3"]
    assert {row["seed"] for row in rows} == {0}
    targets = np.unique([number(row["neighbour"]) for row in rows])
    sources = {number(row["query"]) for row in per_query}
    whole = np.setdiff1d(np.arange(n), list(sources))
    assert set(targets) <= set(whole)
    first = {row["query"]: row["neighbour"] for row in rows if row["above"] == 0 and row["tied"] == 1}
    assert first == {row["query"]: row["retrieved"] for row in per_query if row["retrieved"]}
    without = backretrieval(manifest_of(n), {"a": Given(en=en, de=de)}, neighbours=False, **options)
    assert without.entries == found.entries
    assert without.per_query.equals(found.per_query)


def test_a_search_system_lists_what_it_found():
    run = {f"r{i}": {f"r{(i + d) % 20}": 3.0 - d for d in range(3)} for i in range(20)}
    found = crosslingual_retrieval(manifest_of(20), runs={"engine": run}, measures="R@3", **PAIR)
    rows = found.tables["neighbours"].to_pylist()
    assert [(number(row["neighbour"]) - number(row["query"])) % 20 for row in rows[:3]] == [0, 1, 2]
    assert [row["score"] for row in rows[:3]] == [3.0, 2.0, 1.0]
