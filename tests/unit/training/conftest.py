"""Small data to train on."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

makers = run_path(str(Path(__file__).with_name("makers.py")))


@pytest.fixture
def made():
    """Give the makers of data, of an image encoder and of corpora."""
    return SimpleNamespace(given=makers["Given"], paired=makers["paired"], packed=makers["packed"])
