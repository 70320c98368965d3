"""Label-free criteria against loops in float64, and what they must not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.repair.label_free import (
    hub_skewness,
    known,
    mutual_neighbours,
    nearest,
    neighbourhoods_kept,
    own_language_share,
    within_languages,
)
from xlingual.workflows.repairing.label_free import Unlabelled

K = 4


def texts(seed=0, n=60, dim=6, apart=1.0):
    rng = np.random.default_rng(seed)
    languages = [("de", "en", "zh")[i] for i in rng.permutation(np.arange(n) % 3)]
    moved = {tag: apart * rng.normal(size=dim) for tag in ("de", "en", "zh")}
    rows = [rng.normal(size=dim) + moved[tag] for tag in languages]
    return np.array(rows, dtype=np.float32), languages


def cosines(vectors):
    x = vectors.astype(np.float64)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    found = np.round(x @ x.T, 12)
    np.fill_diagonal(found, -np.inf)
    return found


def chances(vectors, k=K):
    """Return [n, n]: the chance of each other text to be among the k nearest."""
    scores = cosines(vectors)
    found = np.zeros(scores.shape)
    for i, row in enumerate(scores):
        for j, score in enumerate(row):
            if i != j:
                above = sum(other > score for other in row)
                tied = sum(other == score for other in row)
                found[i, j] = min(max(k - above, 0), tied) / tied
    return found


def naive_own_share(vectors, languages):
    found, n = chances(vectors), len(languages)
    means = []
    for tag in sorted(set(languages)):
        own = [i for i in range(n) if languages[i] == tag]
        shares = [sum(found[i, j] for j in own) / K for i in own]
        means.append(np.mean(shares) / ((len(own) - 1) / (n - 1)))
    return np.mean(means)


def naive_kept(before, after, languages):
    means = []
    for tag in sorted(set(languages)):
        own = [i for i, other in enumerate(languages) if other == tag]
        one, other = chances(before[own]), chances(after[own])
        means.append(np.mean([np.minimum(a, b).sum() / K for a, b in zip(one, other, strict=True)]))
    return np.mean(means)


def naive_mutual(vectors, languages):
    scores, shares = cosines(vectors), []
    tags = sorted(set(languages))
    for a in tags:
        for b in tags:
            if a != b:
                here, there = (np.array([tag == one for tag in languages]) for one in (a, b))
                hits = []
                for i in np.flatnonzero(here):
                    best = [j for j in np.flatnonzero(there) if scores[i, j] == scores[i, there].max()]
                    back = [
                        [x for x in np.flatnonzero(here) if scores[j, x] == scores[j, here].max()]
                        for j in best
                    ]
                    hits.append(np.mean([(i in own) / len(own) for own in back]))
                shares.append(np.mean(hits))
    return np.mean(shares)


def found_of(vectors, languages, plain):
    near = nearest(vectors, K)
    kept = neighbourhoods_kept(within_languages(plain, languages, K), within_languages(vectors, languages, K))
    return np.array(
        [
            hub_skewness(near),
            own_language_share(near, languages),
            kept,
            mutual_neighbours(vectors, languages),
        ]
    )


def tied(vectors):
    """Return the vectors with some of them equal, and some equal but for their length."""
    found = vectors.copy()
    found[1:6] = found[0]
    found[20:24] = 2 * found[19]
    return found


@pytest.mark.parametrize("made", [lambda x: x, tied])
def test_all_are_what_loops_in_float64_give(made):
    vectors, languages = texts()
    vectors = made(vectors)
    moved = (vectors @ np.diag([3, 1, 1, 1, 0.3, 0.1]).astype(np.float32)).astype(np.float32)
    counts = chances(moved).sum(axis=0)
    skewness = np.mean((counts - counts.mean()) ** 3) / counts.std() ** 3
    wanted = [
        skewness,
        naive_own_share(moved, languages),
        naive_kept(vectors, moved, languages),
        naive_mutual(moved, languages),
    ]
    assert found_of(moved, languages, vectors) == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_a_rotation_a_scale_and_the_order_change_nothing(seed):
    vectors, languages = texts(seed)
    rng = np.random.default_rng(seed)
    whole = found_of(vectors, languages, vectors)
    turned = (2.5 * vectors @ np.linalg.qr(rng.normal(size=(6, 6)))[0]).astype(np.float32)
    assert found_of(turned, languages, vectors) == pytest.approx(whole, abs=1e-6)
    order = rng.permutation(len(vectors))
    mixed = [languages[row] for row in order]
    assert found_of(vectors[order], mixed, vectors[order]) == pytest.approx(whole, abs=1e-9)
    assert whole[2] == pytest.approx(1.0)


def test_languages_that_say_nothing_are_as_many_as_chance_has_it():
    vectors, languages = texts(n=900, apart=0.0)
    assert own_language_share(nearest(vectors), languages) == pytest.approx(1.0, abs=0.05)
    apart, languages = texts(n=900, apart=20.0)
    assert own_language_share(nearest(apart), languages) == pytest.approx(899 / 299, abs=1e-6)


def test_texts_that_are_all_equal_have_expected_neighbours():
    vectors = np.ones((30, 4), dtype=np.float32)
    languages = ["de", "en", "zh"] * 10
    near = nearest(vectors, K)
    assert own_language_share(near, languages) == pytest.approx(1.0)
    assert hub_skewness(near) == 0
    assert mutual_neighbours(vectors, languages) == pytest.approx(1 / 10)


def test_zero_vectors_are_left_out():
    vectors, languages = texts()
    vectors[[3, 40]] = 0
    clusters = np.arange(len(languages))
    rows = known(vectors)
    assert sorted(set(range(60)) - set(rows.tolist())) == [3, 40]
    whole = Unlabelled.of_known(vectors, languages, clusters).criteria(None)
    rest = Unlabelled.of_known(vectors[rows], [languages[r] for r in rows], clusters[rows]).criteria(None)
    assert whole == rest


def test_the_language_is_found_where_languages_lie_apart_and_not_where_they_are_mixed():
    vectors, languages = texts(n=300, apart=5.0)
    apart = Unlabelled.of_known(vectors, languages, np.arange(300)).criteria(None)
    vectors, languages = texts(n=300, apart=0.0)
    mixed = Unlabelled.of_known(vectors, languages, np.arange(300)).criteria(None)
    assert apart.language_id > 0.95
    assert mixed.language_id == pytest.approx(1 / 3, abs=0.12)
    assert mixed.language_id_chance < 0.5
    assert apart.neighbourhoods_kept == mixed.neighbourhoods_kept == 1
    assert mixed.value > apart.value
