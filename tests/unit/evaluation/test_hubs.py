"""The hubs of every ranking task equal a plain count over the whole score matrix, and raise an alarm."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew, t

from xlingual import Manifest, backretrieval, crosslingual_retrieval, image_sentence, retrieval
from xlingual.data.pools.pool import Candidates, Questions, build_pool
from xlingual.data.pools.pool import Rows as PoolRows
from xlingual.report import page_of, verdict
from xlingual.report.render import html

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
PAIR = {"pairs": "en-de", "store": None}


class Given:
    """Gives each text the row of its number, by language."""

    def __init__(self, **sides):
        self.sides, self.identity = sides, "given"

    def encode(self, batch):
        rows = zip(batch.language, batch.ids, strict=True)
        return np.array([self.sides[tag][int(own[1:])] for tag, own in rows], dtype=np.float32)


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
def test_cross_lingual_retrieval(n, seed):
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
def test_backretrieval(n, seed):
    """A first place is wrong as far as its image does not lead back among the first K."""
    rng = np.random.default_rng(seed)
    en, de, images = vectors(rng, n), vectors(rng, n), rng.standard_normal((n, 3))
    manifest = manifest_of(n)
    encoder, K = Given(en=en, de=de), 3
    results = backretrieval(
        manifest, encoder, image_encoder=Pictures(images), measures=f"R@{K}", cluster="declared", **PAIR
    )
    rows = results.per_query.to_pylist()
    source = np.array([int(row["query"].split("/")[0][1:]) for row in rows if row["measure"] == f"R@{K}"])
    target = np.setdiff1d(np.arange(n), source)
    target = target[: results.entries[0].n_target]
    way = keys_of(images[target], images[source])  # [m, n]
    above = (way[:, None, :] > way[:, :, None]).sum(axis=2).T
    tied = (way[:, None, :] == way[:, :, None]).sum(axis=2).T
    wrong = 1 - np.clip((K - above) / tied, 0, 1)
    expected = plain(keys_of(en[source], de[target]), 1, wrong, source)
    assert_plain(hubs(results), expected)


class Pictures:
    """Gives each image the row of its number."""

    def __init__(self, images):
        self.images, self.identity = images, "pictures"

    def encode(self, batch):
        return self.images[[int(own.split(":")[-1][1:]) for own in batch.ids]].astype(np.float32)


@settings(max_examples=15, deadline=None)
@given(st.integers(12, 20), st.integers(0, 10**6))
def test_image_sentence_ranking_both_ways(tmp_path_factory, n, seed):
    rng = np.random.default_rng(seed)
    texts = vectors(rng, n)
    images = (vectors(rng, n) + rng.standard_normal((n, 3)) * 1e-3).astype(np.float32)
    path = tmp_path_factory.mktemp("images") / "images.npy"
    np.save(path, images)
    found = image_sentence(
        Manifest.of([{"id": f"r{i}", "lang": "en", "text": f"en {i}"} for i in range(n)]),
        Given(en=texts),
        image_encoders=str(path),
        store=None,
    )
    keys, wrong = keys_of(texts, images.astype(np.float64)), 1 - np.eye(n)
    cluster = np.arange(n)
    assert_plain(hubs(found, target="image"), plain(keys, 10, wrong, cluster))
    assert_plain(hubs(found, source="image"), plain(keys.T, 10, wrong, cluster))


def pool_of(right, tags, asked):
    n, m = right.shape
    known = tuple(dict.fromkeys([*tags, *asked]))
    questions = Questions(
        ids=[f"q{i}" for i in range(n)],
        language=np.array([known.index(tag) for tag in asked]),
        text=[f"query {i}" for i in range(n)],
        key=[f"q{i}" for i in range(n)],
        cluster=np.arange(n),
    )
    candidates = Candidates(
        ids=[f"d{j}" for j in range(m)],
        language=np.array([known.index(tag) for tag in tags]),
        text=[f"document {j}" for j in range(m)],
        context=[""] * m,
        keys=[tuple(f"q{i}" for i in np.flatnonzero(right[:, j])) for j in range(m)],
        cluster=np.arange(n, n + m),
    )
    return build_pool("made", PoolRows(known, questions, candidates))


class Rows:
    """Gives queries and candidates the rows of their numbers."""

    identity = "rows"

    def __init__(self, queries, candidates):
        self.sides = {"q": queries, "d": candidates}

    def encode(self, batch):
        return np.array([self.sides[own[0]][int(own[1:])] for own in batch.ids], dtype=np.float32)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 9), st.integers(12, 40), st.integers(0, 10**6))
def test_retrieval_by_judgements(n, m, seed):
    rng = np.random.default_rng(seed)
    right = rng.random((n, m)) < 0.2
    right[np.arange(n), rng.integers(0, m, n)] = True
    tags, asked = rng.choice(["en", "de"], m).tolist(), rng.choice(["en", "de"], n).tolist()
    tags[0], asked[0] = "en", "de"
    queries, candidates = vectors(rng, n), vectors(rng, m)
    pool = pool_of(right, tags, asked)
    found = hubs(retrieval(pool, Rows(queries, candidates), store=None))
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
    ranked = {f"q{i}": {f"d{j}": -float((keys[i] > keys[i, j]).sum()) for j in range(m)} for i in range(n)}
    listed = hubs(retrieval(pool, runs={"run": ranked}, store=None))
    assert_plain(listed, plain(keys, 10, 1 - right, np.arange(n)))


def with_a_hub(n=200, seed=0, hub=True):
    """Return sides that match, and one text of the second that lies near to most of the first."""
    rng = np.random.default_rng(seed)
    en = rng.standard_normal((n, 12))
    de = en + 1.2 * rng.standard_normal((n, 12))
    if hub:  # what the first side has in common, one text of the second has alone
        en[:, 0], de[:, 0] = 2.6, 0.0
        de[0] = np.eye(12)[0]
    return en, de


def test_without_a_hub_there_is_no_alarm_and_the_page_folds_it():
    en, de = with_a_hub(hub=False)
    results = crosslingual_retrieval(manifest_of(200), Given(en=en, de=de), measures="R@1", **PAIR)
    assert hubs(results).alarm is False
    assert not any("Hub alarm" in sentence for sentence in verdict(results))
    assert "no alarm" in html.render(page_of(results))


def test_without_examples_no_text_is_kept():
    en, de = with_a_hub()
    results = crosslingual_retrieval(
        manifest_of(200), Given(en=en, de=de), measures="R@1", examples=False, **PAIR
    )
    assert hubs(results).alarm and "hubs" not in results.tables


def test_only_the_first_sample_of_a_pair_is_looked_at():
    en, de = with_a_hub()
    manifest, encoder = manifest_of(200), Given(en=en, de=de)
    options = {"measures": "R@1", "pairs": "en-de,de-en", "sample": 120, "store": None}
    several = crosslingual_retrieval(manifest, encoder, seeds=3, **options)
    known = [(one.source, one.seed) for one in several.entries if one.views is not None]
    assert sorted(known) == [("de", 0), ("en", 0)]
    alone = crosslingual_retrieval(manifest, encoder, **options)
    assert hubs(several, source="en") == hubs(alone, source="en")


def test_a_constant_encoder_has_no_hubs():
    same = np.ones((40, 3))
    results = crosslingual_retrieval(manifest_of(40), Given(en=same, de=same), **PAIR)
    found = hubs(results)
    assert (found.n, found.skewness, found.never, found.alarm) == (0, 0.0, 0.0, False)
    assert found.largest == pytest.approx(found.expected) and "hubs" not in results.tables


def test_languages_that_find_a_hub_are_named():
    n = 40
    en, de = with_a_hub(n)
    right = np.eye(n, dtype=bool)
    pool = pool_of(right, ["de"] * n, ["en"] * (n // 2) + ["fr"] * (n // 2))
    results = retrieval(pool, Rows(en, de), store=None)
    row = results.tables["hubs"].to_pylist()[0]
    by = json.loads(row["found_by"])
    assert row["id"] == "d0" and set(by) == {"en", "fr"} and sum(by.values()) == pytest.approx(row["count"])
    assert hubs(results).other_language == 1.0
