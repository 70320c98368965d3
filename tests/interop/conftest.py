"""Tests with the real libraries that people come from; `make test-interop` runs them."""

from pathlib import Path

import pytest
from tests.checkpoints import checkpoints, copied  # noqa: F401  (fixtures)

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """Let no library look for a hub or a server."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("WANDB_MODE", "offline")
