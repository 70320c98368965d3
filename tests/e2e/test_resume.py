"""Long passes of a command are kept in the store until it has ended well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlingual.ranking import passes as ranking_passes
from xlingual.ranking import rankers

COMMAND = (
    "evaluate",
    "xlr",
    "s",
    "--text-encoder",
    "v/good.{lang}.npy",
    "--text-encoder",
    "v/bad.{lang}.npy",
)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch, work: Path) -> dict[str, int]:
    """Take every pass for a long one, count them, and interrupt the one with a number."""
    monkeypatch.setattr(ranking_passes, "LONG", 0)
    monkeypatch.setenv("XLINGUAL_STORE", str(work / "own"))
    seen = {"made": 0, "interrupted": -1}
    scan_block = rankers.scan_block

    def counting(*arguments: Any) -> Any:
        if seen["made"] == seen["interrupted"]:
            raise KeyboardInterrupt
        seen["made"] += 1
        return scan_block(*arguments)

    monkeypatch.setattr(rankers, "scan_block", counting)
    return seen


def parts() -> int:
    return len(list(Path("own/ranking").glob("*.block.npz")))


def test_an_interrupted_command_goes_on_with_what_is_missing(xlingual: Any, passes: dict[str, int]) -> None:
    whole = xlingual(*COMMAND, "--no-store", "--json")
    every = passes["made"]
    assert (whole.code, parts()) == (0, 0)
    assert every > 4
    passes.update(made=0, interrupted=3)
    assert xlingual(*COMMAND, "--json").code == 130
    assert parts() == 3
    passes.update(made=0, interrupted=-1)
    again = xlingual(*COMMAND, "--out", "r", "--quiet")
    assert (again.code, again.err) == (0, "")
    assert passes["made"] == every - 3
    assert not Path("own/ranking").exists()


def test_an_error_after_the_passes_leaves_what_is_finished(
    xlingual: Any, passes: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("xlingual.cli.evaluate.write_and_show", fails)
        assert xlingual(*COMMAND, "--out", "r").code == 2
    assert parts() == passes["made"]
    passes["made"] = 0
    assert xlingual(*COMMAND, "--out", "r").code == 0
    assert passes["made"] == 0
    assert parts() == 0
