"""Languages of a pool: identification, the picture, and languages that only questions have."""

from itertools import combinations
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import PCA

from xlingual import multilingual_pool
from xlingual.results.document import plain
from xlingual.streams import stream

made = SimpleNamespace(**run_path(str(Path(__file__).with_name("drawn.py"))))
DIM = 12


def a_space(n=300, bias=0.12, seed=0, clusters=30):
    """Return a pool of parallel questions and candidates, and vectors with a code of the language."""
    rng = np.random.default_rng(seed)
    key = [f"k{i}" for i in rng.integers(0, clusters, n)]
    asked_in, language = rng.integers(0, 3, n), rng.integers(0, 3, n)
    pool = made.a_pool(asked_in, key, language, [[name] for name in key])
    codes = bias * rng.standard_normal((3, DIM)) * np.sqrt(DIM)
    sides = [rng.standard_normal((n, DIM)) + codes[tags] for tags in (asked_in, language)]
    return pool, *(side.astype(np.float32) for side in sides)


def evaluated(pool, *vectors, **options):
    return multilingual_pool(pool, {"e": made.Given(*vectors)}, store=None, **options)


def stacked(pool, *vectors):
    """Return unit vectors, languages and clusters of questions, then of candidates."""
    unit = np.concatenate(vectors).astype(np.float64)
    sides = pool.questions, pool.candidates
    columns = (np.concatenate([getattr(side, name) for side in sides]) for name in ("language", "cluster"))
    return unit / np.linalg.norm(unit, axis=1, keepdims=True), *columns


@pytest.mark.parametrize("seed", range(3))
def test_accuracy_equals_plain_least_squares(seed):
    drawn = a_space(seed=seed)
    unit, language, cluster = stacked(*drawn)
    clusters = np.unique(cluster)
    tested = stream(0, "language identification").permutation(clusters)[: len(clusters) // 3]
    held = np.isin(cluster, tested)
    views = evaluated(*drawn).entries[0].views
    for codes in [(0, 1, 2), *combinations(range(3), 2)]:
        name = "all" if len(codes) == 3 else "-".join(made.LANGUAGES[code] for code in codes)
        inside = np.isin(language, codes)
        train, test = (np.c_[unit[rows], np.ones(rows.sum())] for rows in (inside & ~held, inside & held))
        target = (language[inside & ~held][:, None] == codes).astype(float)
        scores = test @ np.linalg.lstsq(train, target, rcond=None)[0]
        truth = language[inside & held]
        right = (np.asarray(codes)[scores.argmax(axis=1)] == truth).mean()
        assert views.language_id_accuracy[name] == pytest.approx(right, abs=1e-12)
        assert views.language_id_chance[name] == pytest.approx(np.bincount(truth).max() / len(truth))
        ci = views.ci.language_id_accuracy[name]
        assert 0 < ci.low < right < ci.high <= 1 and ci.high - ci.low < 0.4


def test_rotation_and_length_change_no_accuracy():
    pool, *vectors = a_space()
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((DIM, DIM)))[0]
    lengths = np.random.default_rng(4).uniform(0.1, 10, (len(vectors[0]), 1))
    changes = (lambda x: x, lambda x: x @ turn, lambda x: x * lengths)
    entries = [
        evaluated(pool, *(change(side).astype(np.float32) for side in vectors)).entries[0]
        for change in changes
    ]
    plain, *others = (entry.views.language_id_accuracy for entry in entries)
    assert others == [plain, plain]


def test_a_constant_encoder_is_at_chance_and_few_clusters_have_a_note():
    pool, *vectors = a_space()
    ones = [np.ones_like(side) for side in vectors]
    views = evaluated(pool, *ones).entries[0].views
    assert views.language_id_accuracy["ar-de"] <= views.language_id_chance["ar-de"]
    assert views.picture.explained == [0.0, 0.0]
    notes = evaluated(*a_space(clusters=2)).entries[0].views.language_id_notes
    assert list(notes) == ["all"]


def test_the_picture_equals_that_of_scikit_learn():
    drawn = a_space()
    pool, unit, language = drawn[0], *stacked(*drawn)[:2]
    results = evaluated(*drawn, picture=("de", "en"))
    rows = np.flatnonzero(np.isin(language, [1, 2]))
    pca = PCA(n_components=2, svd_solver="full").fit(unit[rows])
    place = {f"q{i}": i for i in range(len(pool.questions))}
    place |= {f"c{i}": len(place) + i for i in range(len(pool.candidates))}
    points = results.tables["points"].to_pylist()
    lines = [place[row["text_id"]] for row in points]
    assert sorted(lines) == rows.tolist()
    for axis, expected in zip("xy", pca.transform(unit[lines]).T, strict=True):
        at = np.array([row[axis] for row in points])
        assert np.abs(at) == pytest.approx(np.abs(expected), abs=2e-5)
        second = np.array([row["language"] == "en" for row in points])
        assert at[second].mean() > at[~second].mean()
    assert results.entries[0].views.picture.explained == pytest.approx(
        pca.explained_variance_ratio_, abs=1e-5
    )


def test_languages_that_only_questions_have_move_nothing_else():
    """Thai asks, English asks and answers, German answers; then without the Thai questions."""
    key, n = [f"k{i}" for i in range(9)], 9
    rng = np.random.default_rng(0)
    questions, candidates = (rng.standard_normal((size, 4)).astype(np.float32) for size in (2 * n, 4 * n))
    keys = [[name] for name in key * 2] + [[]] * 2 * n
    language = [0] * n + [1] * n + [0, 1] * n
    pool = made.a_pool([0] * n + [2] * n, key * 2, language, keys, languages=("en", "de", "th"))
    alone = made.a_pool([0] * n, key, language, keys, languages=("en", "de"))
    found = plain(evaluated(pool, questions, candidates, subsets=["th,de", "th"]).entries[0].views)
    without = plain(evaluated(alone, questions[:n], candidates).entries[0].views)
    every = {"en->en", "en->de", "th->en", "th->de"}
    for view in ("one_target", "loss", "language_share_top100"):
        assert found[view].keys() == every
        assert {pair: found[view][pair] for pair in ("en->en", "en->de")} == without[view]
    for view in ("one_target_summary", "remove_one", "monolingual_pool", "monolingual_pool_questions"):
        assert found[view] == without[view]
    assert found["remove_one"]["n_questions"] == n  # Thai questions have no own language to remove
    assert found["subsets"].keys() == {"de,th", "en,th", "en,de"}
    assert found["subsets"]["en,de"] == pytest.approx(without["macro"])
    assert found["picture"]["languages"] == ["en", "de"]
