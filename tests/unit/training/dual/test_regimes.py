"""Which languages meet in a batch: invariants of every regime, whatever is missing in the data."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.training.recipes.regimes import REGIMES, make_regime

made = run_path(str(Path(__file__).with_name("parallel_data.py")))
full, parallel = made["full"], made["parallel"]


def batches_of_epoch(regime, epoch, steps):
    return map(regime.batch, range((epoch - 1) * steps, epoch * steps))


@st.composite
def gappy(draw):
    """Give questions of which each is asked and answered in some language."""
    size = draw(st.integers(2, 4))
    n = draw(st.integers(2, 12))
    asked, answers = [], []
    for _ in range(n):
        row = draw(st.lists(st.booleans(), min_size=size, max_size=size).filter(any))
        asked.append(row)
        answers.append(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any)))
    asked[0][0] = asked[1][0] = True  # two of one language, so that every regime has a batch
    answers[0][0] = answers[1][0] = 1
    answers[1][1] = 1  # and a second language: some regimes draw languages
    return parallel(asked, answers)


def tags(texts, rows):
    return [texts.language[row] for row in rows.tolist()]


def languages(data, batch):
    return tags(data.questions, batch.asked), tags(data.answers, batch.answered)


def as_lists(batches):
    return [(b.question.tolist(), b.asked.tolist(), b.answered.tolist()) for b in batches]


@given(gappy(), st.sampled_from(REGIMES), st.integers(2, 6), st.integers(0, 3), st.integers(1, 4))
def test_every_batch_has_sound_pairs_and_is_a_pure_function(data, regime, size, seed, epoch):
    one = make_regime(regime, data, size, seed)
    steps = one.batches_of_a_pass
    batches = list(batches_of_epoch(one, epoch, steps))
    again = make_regime(regime, data, size, seed)
    list(batches_of_epoch(again, 7, 2))  # what was asked for before changes nothing
    assert as_lists(batches) == as_lists(batches_of_epoch(again, epoch, steps))
    question, answer = data.right
    pairs = set(zip(question.tolist(), answer.tolist(), strict=True))
    for batch in batches:
        assert 2 <= len(batch) <= size
        assert (data.asked[batch.question] == batch.asked[:, None]).any(axis=1).all()
        assert set(zip(batch.question.tolist(), batch.answered.tolist(), strict=True)) <= pairs


@given(gappy(), st.integers(2, 6), st.integers(0, 3))
def test_languages_of_each_regime(data, size, seed):
    for name, numbers in (("en-en", range(4)), ("x-x", range(4)), ("x-x-mono", range(4)), ("hybrid", (0, 2))):
        regime = make_regime(name, data, size, seed)
        for number in numbers:
            asked, answered = languages(data, regime.batch(number))
            assert asked == answered
            if name != "x-x":
                assert len(set(asked)) == 1
            if name == "en-en":
                assert set(asked) == {"en"}
    crossed = make_regime("x-y", data, size, seed)
    hybrid = make_regime("hybrid", data, size, seed)
    assert as_lists([hybrid.batch(1), hybrid.batch(3)]) == as_lists([crossed.batch(0), crossed.batch(1)])


@given(gappy(), st.sampled_from(["x-x", "x-x-mono"]), st.integers(2, 6), st.integers(0, 3))
def test_a_pass_has_every_pair_of_question_and_language_once(data, name, size, seed):
    regime = make_regime(name, data, size, seed)
    seen = [row for batch in batches_of_epoch(regime, 2, regime.batches_of_a_pass) for row in batch.asked]
    both = (data.asked >= 0) & (data.answer_counts > 0)
    expected = set(data.asked[both].tolist())
    assert len(seen) == len(set(seen)) and set(seen) <= expected
    counts = both.sum(axis=0) if name == "x-x-mono" else np.array([both.sum()])
    assert len(expected) - len(seen) == (counts % size == 1).sum()  # single pairs left over


def test_languages_of_x_y_are_uniform_and_independent():
    data = full(40, 4)
    regime = make_regime("x-y", data, 32, 0)
    table = np.zeros((4, 4))
    for number in range(200):
        for one, other in zip(*languages(data, regime.batch(number)), strict=True):
            table[data.languages.index(one), data.languages.index(other)] += 1
    expected = table.sum() / 16
    assert ((table - expected) ** 2 / expected).sum() < 37.7  # χ² with 15 degrees: one seed in 1000


def test_answers_are_drawn_uniformly():
    data = parallel(np.ones((2, 2), dtype=bool), [[3, 1], [3, 1]])
    regime = make_regime("x-x-mono", data, 2, 0)
    drawn = np.concatenate([regime.batch(number).answered for number in range(1200)])
    counts = np.bincount(drawn, minlength=8)
    assert counts[[3, 7]].tolist() == [600, 600]
    assert abs(counts[[0, 1, 2, 4, 5, 6]] - 200).max() < 60


@pytest.mark.parametrize("regime", REGIMES)
def test_epochs_and_seeds_differ(regime):
    data = full(30, 3)
    first = as_lists(batches_of_epoch(make_regime(regime, data, 8, 0), 1, 4))
    assert first != as_lists(batches_of_epoch(make_regime(regime, data, 8, 0), 2, 4))
    assert first != as_lists(batches_of_epoch(make_regime(regime, data, 8, 1), 1, 4))


def test_how_long_a_pass_is():
    data = full(10, 3)
    lengths = {name: make_regime(name, data, 4, 0).batches_of_a_pass for name in REGIMES}
    assert lengths == {"en-en": 3, "x-x": 8, "x-x-mono": 9, "x-y": 8, "hybrid": 17}
