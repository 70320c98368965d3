"""docs/results/known-bias.md: its commands and its code, on XQuAD-R, print the table that it shows."""

import re
import shlex
from pathlib import Path

import pytest

from xlingual.cli.main import run

PAGE = (Path(__file__).parents[2] / "docs" / "results" / "known-bias.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_the_table_is_what_the_code_prints(real_data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    (tmp_path / "xquad_r").symlink_to((real_data / "xquad_r").resolve())
    (command,) = re.findall(r"^```bash\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (table,) = re.findall(r"^```\n( +pool one-lang.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert run(shlex.split(command)[1:]) == 0
    capsys.readouterr()
    exec(compile(code, "known-bias.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out.rstrip() == table.rstrip()
