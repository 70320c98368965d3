"""Tests with the real libraries that people come from; `make test-interop` runs them.

Elsewhere a test is skipped where its library is missing; there, with XLINGUAL_TEST_ALL_LIBRARIES, it fails.
"""

import os
from pathlib import Path

import pytest
from tests.checkpoints import checkpoints, copied  # noqa: F401  (fixtures)

HERE = Path(__file__).parent
_importorskip = pytest.importorskip


def required(*given, **options):
    """Import a library as pytest.importorskip does; raise ImportError where that would skip."""
    try:
        return _importorskip(*given, **options)
    except pytest.skip.Exception as skipped:
        raise ImportError(f"{skipped}: the extra interop of pyproject.toml must bring it") from None


if os.environ.get("XLINGUAL_TEST_ALL_LIBRARIES"):
    pytest.importorskip = required  # before the tests and checkpoints are imported, which ask for it


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """Let no library look for a hub or a server."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")
