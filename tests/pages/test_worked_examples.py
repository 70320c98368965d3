"""The worked examples of the reference print what the pages show."""

import re
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n+```\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(*found.groups(), id=f"{page.stem}-{i}")
    for page in sorted(REFERENCE.glob("*.md"))
    for i, found in enumerate(EXAMPLE.finditer(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_a_worked_example_prints_what_the_page_shows(code, printed, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / ".store"))
    exec(compile(code, "page", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == printed
