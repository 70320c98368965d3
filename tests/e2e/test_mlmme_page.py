"""The Python of the page on training images and sentences returns what it says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from xlingual import write_scenes
from xlingual.errors import DataWarning

pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs/how-to/improve/train-images-and-sentences.md"


@pytest.mark.slow  # the same by the command line, with less data: test_train_mlmme.py
def test_the_fragment_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    write_scenes("scenes", n=100, languages=["en", "de"], seed=0)
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a small vocabulary does not know some words
        exec(compile(code, str(PAGE), "exec"), found)
    assert found["trained"].epochs == 2 and (tmp_path / "model" / "model.safetensors").is_file()
    assert set(found["trained"].chance.parts) == set(found["trained"].scores)
    assert {entry.source for entry in found["results"].entries} == {"en", "de", "image"}
