"""Weak and strong alignment from vectors to results: definitions, chance, and what changes nothing."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.evaluation.multilingual_pool.views import ALIGNMENT
from xlingual.results.document import plain as as_json

pools = SimpleNamespace(**run_path(str(Path(__file__).with_name("test_multilingual_pool.py"))))
plain, LANGUAGES = pools.plain, pools.LANGUAGES
MEASURES = [measure.name for measure in ALIGNMENT.values()]
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


def found_in(pool, vectors, measures=("AP", *MEASURES), **more):
    return pools.results_of(pool, *vectors, measures=measures, **more)


def views_of(results):
    return as_json(pools.entries(results)["AP"].views)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 9]))
def test_measures_per_question_are_what_the_views_are_means_of(seed, levels):
    pool, *vectors = pools.drawn(np.random.default_rng(seed), 9, 40, levels=levels)
    expected = plain.Plain(pool, *vectors).alignment()["alignment"]
    known = [name for view, name in zip(ALIGNMENT, MEASURES, strict=True) if view in expected]
    results = found_in(pool, vectors, known)
    table = results.per_query.to_pylist()
    for name, measure in ALIGNMENT.items():
        if name not in expected:
            with pytest.raises(InputError, match="which no question has"):
                found_in(pool, vectors, measure.name)
            continue
        entry = pools.entries(results)[measure.name]
        values = [row["value"] for row in table if row["measure"] == measure.name]
        assert entry.value == pytest.approx(np.mean(values)) == pytest.approx(expected[name], abs=1e-9)
        assert entry.n_source == len(values) and entry.chance is not None


def test_any_rotation_changes_nothing():
    pool = pools.parallel_pool()
    vectors = pools.parallel_vectors(pool)
    turn, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))
    turned = found_in(pool, [(rows @ turn).astype(np.float32) for rows in vectors])
    views, expected = views_of(turned), views_of(found_in(pool, vectors))
    assert views.pop("picture")["explained"] == pytest.approx(expected.pop("picture")["explained"], abs=1e-6)
    assert views == pools.near(expected)


@pytest.mark.parametrize("vector", [[1.0, 2.0], [0.0, 0.0]])
def test_a_constant_encoder_has_chance(vector):
    pool = pools.parallel_pool(items=20, fillers=10)
    rows = np.tile(np.float32(vector), (90, 1))
    results = found_in(pool, (rows[:60], rows))
    views = views_of(results)
    assert set(views["strong_alignment"].values()) == {0.5}
    assert list(views["weak_alignment"].values()) == pytest.approx([1 / 30] * 9)
    assert views["alignment"] == pools.near(views["alignment_chance"])
    for entry in results.entries:
        assert entry.value == pytest.approx(entry.chance, abs=1e-12)
    crucial = pools.entries(results)["StrongAlignment/strict-own"]
    assert crucial.value == pytest.approx(
        1 / (31 * 30 / 2)
    )  # 2 answers in other languages, 29 wrong of its own


def test_a_code_of_the_language_keeps_weak_alignment_and_undoes_strong():
    pool = pools.parallel_pool(items=30, fillers=40)
    vectors = pools.parallel_vectors(pool, noise=0.6)
    weak, strong = [], []
    for strength in (0, 0.5, 4):
        views = views_of(found_in(pool, pools.biased(pool, vectors, strength)))
        weak.append(views["weak_alignment"])
        strong.append(views["alignment"]["strong"])
    assert weak[0] == weak[1] == weak[2] and min(weak[0].values()) > 0.3
    assert strong[0] > 0.9 and strong == sorted(strong, reverse=True) and strong[-1] < 0.05


def test_what_cannot_be_measured_is_refused_before_any_work():
    only_own = pools.a_pool([0, 1], ["a", "b"], [0, 0, 1, 1], [["a"], [], ["b"], []])
    for name in ("WeakAlignment", "StrongAlignment", "StrongAlignment/strict-own"):
        with pytest.raises(InputError, match=f"{name} compares answers in another language .*: leave it out"):
            pools.multilingual_pool(only_own, text_encoders="random", measures=name)
    abroad = pools.a_pool([0, 0], ["a", "b"], [1, 1, 2], [["a"], ["b"], []])
    with pytest.raises(InputError, match="irrelevant candidates in the question's"):
        pools.multilingual_pool(abroad, text_encoders="random", measures="strong")
    rows = np.eye(3, dtype=np.float32)
    views = views_of(found_in(abroad, (rows[:2], rows), measures=["AP", "weak"]))
    assert views["alignment"] == {"weak": 1.0, "strict": 1.0} and "strong_alignment" not in views
