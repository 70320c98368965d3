"""The learning rate against closed forms."""

import math

import pytest

from xlingual.errors import InputError
from xlingual.training.options import FitOptions

STEPS = 10


def rates(schedule, epochs=4, warmup=0.0):
    options = FitOptions(epochs=epochs, rate=2.0, schedule=schedule, warmup=warmup)
    return [options.rate_at(1 + n // STEPS, n % STEPS, STEPS) for n in range(epochs * STEPS)]


def test_constant_and_steps():
    assert rates("constant") == [2.0] * 40
    assert rates("step:2:0.1", epochs=5) == pytest.approx([2.0] * 20 + [0.2] * 20 + [0.02] * 10)
    assert rates("step:15:0.1", epochs=30)[149:151] == pytest.approx([2.0, 0.2])  # VSE++


def test_cosine_and_line_fall_to_zero():
    for name, fall in (("cosine", lambda s: (1 + math.cos(math.pi * s)) / 2), ("linear", lambda s: 1 - s)):
        assert rates(name) == pytest.approx([2 * fall(n / 40) for n in range(40)])


def test_warmup_grows_in_equal_steps_to_the_full_rate():
    assert rates("constant", warmup=0.5) == pytest.approx([0.4, 0.8, 1.2, 1.6] + [2.0] * 36)
    assert rates("constant", warmup=1.5)[:16] == pytest.approx([2 * n / 15 for n in range(1, 16)] + [2.0])
    line = rates("linear", warmup=1)
    assert line[:10] == pytest.approx([0.2 * n for n in range(1, 11)])
    assert line[10:] == pytest.approx([2 * (1 - n / 30) for n in range(30)])


def test_the_rate_of_an_epoch_does_not_depend_on_how_many_follow():
    for schedule in ("constant", "step:1:0.5"):
        assert rates(schedule, epochs=2, warmup=0.3) == rates(schedule, epochs=4, warmup=0.3)[:20]
        assert "epochs" not in FitOptions(schedule=schedule).compared()
    assert FitOptions(schedule="cosine").compared()["epochs"] == 30


@pytest.mark.parametrize("schedule", ["cosin", "step", "step:0:0.1", "step:2:0", "step:a:b", "cosine:0.1"])
def test_other_schedules_are_refused(schedule):
    with pytest.raises(InputError, match="schedule"):
        FitOptions(schedule=schedule)
