"""The lock on an output folder: one process has it, and it ends with the process, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import xlingual as package
from xlingual.errors import InputError
from xlingual.locks import NAME, writing_alone

_HOLDS = """
import sys, time
from pathlib import Path
from xlingual.locks import writing_alone
with writing_alone(Path("out")):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_has_one_writer_and_who_that_is_is_said(tmp_path: Path) -> None:
    with (
        writing_alone(tmp_path),
        pytest.raises(InputError),
        writing_alone(tmp_path),
    ):
        pytest.fail("two writers")
    with writing_alone(tmp_path):
        assert (tmp_path / NAME).is_file()
    assert not any(tmp_path.iterdir())


def test_a_process_that_is_killed_blocks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    variables = os.environ | {"PYTHONPATH": str(Path(package.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", _HOLDS], env=variables, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline().strip() == b"held"
        with pytest.raises(InputError, match="another process"), writing_alone(Path("out")):
            pytest.fail("two writers")
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert Path("out", NAME).is_file()  # what is left of it
    with writing_alone(Path("out")):
        pass
    assert not any(Path("out").iterdir())


def test_a_folder_that_stays_empty_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bad"), writing_alone(tmp_path / "a" / "b"):
        raise ValueError("bad")
    assert not (tmp_path / "a").exists()
    with writing_alone(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "results").touch()
    assert (tmp_path / "a" / "b" / "results").is_file()
