"""Validations made of given points."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

makers = run_path(str(Path(__file__).with_name("makers.py")))


@pytest.fixture
def made():
    """Give the makers of validations."""
    return SimpleNamespace(
        pair=makers["pair_validation"],
        validation=makers["validation_of"],
        curve=makers["points_on_the_curve"],
        noisy=makers["noisy_points"],
    )
