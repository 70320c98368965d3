"""Simulations: tests of equal systems err in 5 %, intervals hold the truth in 95 %.

Seeds are fixed. The standard error of a share near .05 is 1.3 points of 300 studies, .7 of 1,000.
"""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

simulated = SimpleNamespace(**run_path(str(Path(__file__).with_name("simulated.py"))))
Population = simulated.Population

EQUAL = [
    Population(10, 1),
    Population(20, 1, share=0.06),
    Population(20, 8, lean=1.0),
    Population(20, 6, lean=0.5, missing=True),
]
UNEQUAL = [
    Population(50, 2, ratio=2.3, share=0.05),
    Population(20, 5, ratio=2.3, share=0.2, lean=0.3),
]


@pytest.mark.slow
def test_equal_systems_are_hardly_distinguished():
    found = simulated.rates(Population(20, 2), 300, seed=1)
    assert found.found <= 0.05 + 3 * 0.0126
    assert min(found.ratio, found.score, found.wins) >= 0.91


def test_a_known_difference_is_found():
    found = simulated.rates(Population(20, 2, ratio=1.8, share=0.2), 300, seed=2)
    assert 0.4 < found.found < 0.9
    assert found.ratio >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("population", EQUAL, ids=str)
def test_equal_systems(population):
    found = simulated.rates(population, 1000, seed=3)
    assert found.found <= 0.05 + 3 * 0.0069
    assert min(found.ratio, found.score, found.wins) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("population", UNEQUAL, ids=str)
def test_unequal_systems(population):
    found = simulated.rates(population, 1000, seed=4)
    assert found.ratio >= 0.93
    assert found.found > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_intervals_of_agreement_hold_the_truth(noise):
    assert simulated.agreement_coverage(noise, 400, seed=6) >= 0.91
