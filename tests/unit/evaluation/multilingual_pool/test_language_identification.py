"""Language identification: against float64 least squares, in known cases, and what must not matter."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.evaluation.multilingual_pool import space as space_module
from xlingual.evaluation.multilingual_pool.language_identification import RIDGE, language_identification
from xlingual.stats import mean_interval

spaces = SimpleNamespace(**run_path(str(Path(__file__).with_name("spaces.py"))))


@pytest.mark.parametrize("seed", range(5))
def test_equals_plain_least_squares(seed):
    pool = spaces.made(n=300, m=400, bias=0.25, seed=seed)
    space = pool.statistics(seed)
    found = language_identification(space)
    oracle = spaces.plain_accuracy(pool, space, spaces.least_squares)
    assert list(found.accuracy) == ["all", "ar-de", "ar-en", "ar-zh", "de-en", "de-zh", "en-zh"]
    assert found.accuracy == pytest.approx({name: value for name, (value, _) in oracle.items()}, abs=1e-12)
    assert found.chance == pytest.approx({name: chance for name, (_, chance) in oracle.items()}, abs=1e-12)
    assert found.n_train + found.n_held_out == 700
    assert not found.notes


@pytest.mark.parametrize(("n", "dim"), [(30, 40), (60, 400), (100, 60)])
def test_equals_ridge_where_there_are_few_vectors(n, dim):
    """More dimensions than vectors, or than training vectors of a pair: only the penalty makes it unique."""
    pool = spaces.made(n=n, m=n, dim=dim, bias=0.2)
    space = pool.statistics()
    found = language_identification(space)
    oracle = spaces.plain_accuracy(pool, space, spaces.ridge(RIDGE))
    assert found.accuracy == pytest.approx({name: value for name, (value, _) in oracle.items()}, abs=1e-12)
    assert found.dimensions == min(dim, 2 * n)


def test_equals_ridge_where_dimensions_depend_on_each_other():
    pool = spaces.made(n=300, m=300)
    spread = np.random.default_rng(1).standard_normal((12, 90)).astype(np.float32)
    wide = pool.mapped(lambda x: x @ spread)
    space = wide.statistics()
    oracle = spaces.plain_accuracy(wide, space, spaces.ridge(RIDGE))
    found = language_identification(space).accuracy
    assert found == pytest.approx({name: value for name, (value, _) in oracle.items()}, abs=1e-12)


def test_a_large_common_part_costs_no_digits():
    """All vectors point nearly the same way, as those of many models do."""
    pool = spaces.made(n=400, m=400, bias=0.3).mapped(lambda x: x + 100.0)
    space = pool.statistics()
    oracle = spaces.plain_accuracy(pool, space, spaces.ridge(RIDGE))
    found = language_identification(space).accuracy
    assert found == pytest.approx({name: value for name, (value, _) in oracle.items()}, abs=1e-12)


def test_an_encoder_that_writes_the_language_down_is_always_found_out():
    pool = spaces.made(bias=0.0)
    marked = replace(
        pool,
        questions=np.c_[pool.questions, np.eye(4)[pool.question_language]],
        candidates=np.c_[pool.candidates, np.eye(4)[pool.candidate_language]],
    )
    found = language_identification(marked.statistics())
    assert set(found.accuracy.values()) == {1.0}
    assert all(ci.low < 1.0 and ci.high == pytest.approx(1.0) for ci in found.ci.values())


def test_an_encoder_that_knows_no_language_is_at_chance():
    found = language_identification(spaces.made(n=3000, m=3000, bias=0.0).statistics())
    assert found.accuracy["all"] == pytest.approx(0.25, abs=0.03)
    for name in found.accuracy:
        assert found.ci[name].low < found.chance[name] + 0.02
        assert found.accuracy[name] == pytest.approx(found.chance[name], abs=0.06)


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_equal_vectors_say_nothing(value):
    """Each model falls back on the commonest language of its training part; equally common ones share."""
    pool = spaces.made().mapped(lambda x: np.full_like(x, value))
    space = pool.statistics()
    language, _, held = spaces.labels(space)
    found = language_identification(space)
    commonest = np.bincount(language[~held]).argmax()
    assert found.accuracy["all"] == pytest.approx(np.mean(language[held] == commonest))
    balanced = replace(
        pool,
        question_language=np.arange(120) % 4,
        candidate_language=np.arange(150) // 4 % 4,
        question_cluster=np.arange(120) // 4,
        candidate_cluster=np.arange(150) // 16,
    )
    balanced = replace(balanced, candidates=balanced.candidates[:144])
    balanced = replace(balanced, candidate_language=balanced.candidate_language[:144])
    balanced = replace(balanced, candidate_cluster=balanced.candidate_cluster[:144])
    found = language_identification(balanced.statistics())
    assert found.accuracy["all"] == pytest.approx(0.25)
    assert found.accuracy["ar-de"] == found.chance["ar-de"] == pytest.approx(0.5)


def test_two_languages_are_one_pair():
    found = language_identification(spaces.made(n=300, m=300, languages=("en", "zh")).statistics())
    assert list(found.accuracy) == ["all", "en-zh"]
    assert found.accuracy["all"] == found.accuracy["en-zh"]
    assert found.ci["all"] == found.ci["en-zh"]


def test_rotation_length_and_order_do_not_matter():
    pool = spaces.made(n=300, m=300, bias=0.25)
    plain = language_identification(pool.statistics())
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    assert language_identification(pool.mapped(lambda x: x @ turn).statistics()).accuracy == plain.accuracy
    stretched = pool.mapped(lambda x: x * rng.uniform(0.1, 10, (len(x), 1)))
    assert language_identification(stretched.statistics()).accuracy == plain.accuracy
    order = rng.permutation(300)
    shuffled = replace(
        pool,
        candidates=pool.candidates[order],
        candidate_language=pool.candidate_language[order],
        candidate_cluster=pool.candidate_cluster[order],
    )
    assert language_identification(shuffled.statistics()) == plain


def test_a_third_of_whole_clusters_is_held_out():
    pool = spaces.made(n=400, m=400)
    _, cluster, held = spaces.labels(pool.statistics())
    tested, trained = set(cluster[held]), set(cluster[~held])
    assert len(tested) == 10 and len(trained) == 20 and not tested & trained
    _, _, other = spaces.labels(pool.statistics(seed=1))
    assert (held != other).any()


def test_held_out_vectors_are_not_learnt_from():
    """Moved to where another language is, they are all taken for it."""
    pool = spaces.made(n=300, m=300, bias=3.0)
    space = pool.statistics()
    means = [pool.questions[(pool.question_language == code)].mean(axis=0) for code in range(4)]
    questions, candidates = pool.questions.copy(), pool.candidates.copy()
    for side, vectors in zip(space.sides, (questions, candidates), strict=True):
        rows = np.flatnonzero(side.held_out)
        vectors[rows] = np.array(means)[(side.language[rows] + 1) % 4]
    found = language_identification(replace(pool, questions=questions, candidates=candidates).statistics())
    assert found.accuracy["all"] == 0.0


def test_intervals_know_that_a_paragraph_is_one_draw():
    """Each vector four times over, in the same cluster, is no more evidence."""
    pool = spaces.made(n=200, m=200, bias=0.25)
    again = replace(pool, **{name: np.repeat(getattr(pool, name), 4, axis=0) for name in COLUMNS})
    once, often = (language_identification(p.statistics()) for p in (pool, again))
    assert often.accuracy["all"] == pytest.approx(once.accuracy["all"], abs=1e-12)
    assert often.ci["all"].low == pytest.approx(once.ci["all"].low, abs=1e-9)
    naive = mean_interval(np.arange(often.n_held_out) < often.accuracy["all"] * often.n_held_out)
    assert often.ci["all"].high - often.ci["all"].low > 1.3 * (naive.high - naive.low)


COLUMNS = (
    "questions",
    "candidates",
    "question_language",
    "candidate_language",
    "question_cluster",
    "candidate_cluster",
)


def test_one_language_and_few_clusters_have_a_note():
    found = language_identification(spaces.made(languages=("en",)).statistics())
    assert found.accuracy == found.chance == found.ci == {}
    assert found.notes == {"all": "there are training vectors of fewer than two languages"}
    found = language_identification(spaces.made(clusters=2).statistics())
    assert found.notes == {"all": "too few clusters to hold out a third: 2, at least 3 are needed"}
    assert found.accuracy == {}


def test_a_language_in_one_part_only_has_a_note():
    pool = spaces.made()
    space = pool.statistics()
    trained = np.setdiff1d(space.sides[0].cluster, space.sides[0].cluster[space.sides[0].held_out])
    moved = {}
    for side in ("question", "candidate"):
        cluster = getattr(pool, f"{side}_cluster").copy()
        cluster[getattr(pool, f"{side}_language") == 3] = trained[0]
        moved[f"{side}_cluster"] = cluster
    found = language_identification(replace(pool, **moved).statistics())
    assert sorted(found.accuracy) == ["all", "ar-de", "ar-en", "de-en"]


def test_very_many_languages_leave_pairs_out(monkeypatch):
    pool = spaces.made(n=300, m=300)
    all_of = language_identification(pool.statistics())
    monkeypatch.setattr(space_module, "MOST_LANGUAGES", 3)
    found = language_identification(pool.statistics())
    assert list(found.accuracy) == ["all"] and list(found.notes) == ["pairs"]
    assert found.accuracy["all"] == all_of.accuracy["all"]


def test_many_dimensions_are_projected(monkeypatch):
    """What has most of the variance and tells languages apart survives the projection."""
    pool = spaces.made(n=900, m=900, dim=300, bias=0.15)
    exact = language_identification(pool.statistics())
    monkeypatch.setattr(space_module, "MOST_DIMENSIONS", 200)
    found = language_identification(pool.statistics())
    assert (exact.dimensions, found.dimensions) == (300, 200)
    assert found.accuracy["all"] == pytest.approx(exact.accuracy["all"], abs=0.05)


def test_other_types_and_sizes_of_numbers():
    pool = spaces.made(n=300, m=300, bias=0.3)
    plain = language_identification(pool.statistics()).accuracy
    for factor in (1e30, 1e-30):
        scaled = pool.mapped(lambda x, factor=factor: x.astype(np.float64) * factor)
        assert language_identification(scaled.statistics()).accuracy == pytest.approx(plain, abs=0.01)
    halved = pool.mapped(lambda x: x.astype(np.float16))
    assert language_identification(halved.statistics()).accuracy == pytest.approx(plain, abs=0.05)
