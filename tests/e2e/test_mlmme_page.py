"""The worked example of the page on MLMME."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from xlingual.errors import DataWarning

pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs/mlmme.md"


@pytest.mark.slow  # the same by the command line, with less data: test_train_mlmme.py
def test_the_fragment_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a small vocabulary does not know some words
        exec(compile(code, "docs/mlmme.md", "exec"), found)
    assert found["trained"].epochs == 3 and (tmp_path / "model" / "model.safetensors").is_file()
    assert set(found["trained"].chance.parts) == set(found["trained"].scores)
    assert {entry.source for entry in found["results"].entries} == {"en", "de", "image"}
