"""`xlingual encoders`, and what goes wrong with services, functions and plug-ins: one line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from xlingual import extras
from xlingual.encoders import SCHEMES

HERE = Path(__file__).parent
refused = run_path(str(HERE / "refusals.py"))["refused"]
fake = SimpleNamespace(**run_path(str(HERE.parent / "unit/encoders/embedding_server.py")))


@pytest.fixture
def xlr(xlingual: Any) -> Any:
    """Return cross-lingual retrieval of the prepared data with a text encoder, into `out`."""

    def command(spec: str, *more: object) -> Any:
        return xlingual(
            *("evaluate", "xlr", "s", "--pairs", "en-de", "--text-encoder", spec, "--out", "out", *more)
        )

    return command


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("httpx")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with fake.serving() as running:
        yield running


def test_the_list_has_every_scheme(xlingual: Any) -> None:
    outcome = xlingual("encoders")
    assert (outcome.code, outcome.err) == (0, "")
    assert max(map(len, outcome.out.splitlines())) <= 120
    lines = outcome.out.splitlines()
    for scheme in SCHEMES.values():
        row = next(line.split() for line in lines if line.startswith(f" {scheme.name}:"))
        assert set(scheme.takes) - {"lists"} == {word.strip(",") for word in row} & {"texts", "images"}


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_the_window(xlingual: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    from xlingual.cli import console

    monkeypatch.setattr(console, "_PLAIN_WIDTH", width)
    for name in ([], *([name] for name in SCHEMES)):
        out = xlingual("encoders", *name).out
        assert max(map(len, out.splitlines())) <= width
        assert "left out" not in out
        assert "…" not in out.replace("value&…", "").replace("mps …", "")


def test_what_is_missing_is_named_with_its_pip_line(xlingual: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        extras, "_installed", lambda package: package in ("tokenizers", "sentencepiece", "httpx")
    )
    out = xlingual("encoders").out
    rows = {line.split()[0].partition(":")[0]: line.split()[-1] for line in out.splitlines() if ":" in line}
    assert (rows["onnx"] != "installed", rows["api"], rows["lsa"]) == (True, "installed", "–")
    found = json.loads(xlingual("encoders", "--json").out)["schemes"]
    by_name = {row["name"]: row for row in found}
    assert list(by_name) == list(SCHEMES)
    assert by_name["hf"]["missing"] == ["sentence-transformers", "transformers", "torch"]
    assert by_name["hf"]["install"] == "pip install 'xlingual[st]'"
    assert (by_name["api"]["packages"], by_name["api"]["install"]) == (["httpx"], None)
    assert (
        "not installed: onnxruntime, transformers; pip install 'xlingual[onnx]'"
        in xlingual("encoders", "onnx").out
    )


@pytest.mark.parametrize("name", SCHEMES)
def test_options_of_one(xlingual: Any, name: str) -> None:
    out = xlingual("encoders", name).out
    for option in SCHEMES[name].options:
        assert f"\n {option.name} " in out
    found = json.loads(xlingual("encoders", f"{name}:model", "--json").out)
    assert [option["name"] for option in found["options"]] == [one.name for one in SCHEMES[name].options]


def test_a_function_is_evaluated(xlr: Any, work: Path) -> None:
    Path("mine.py").write_text("def f(texts):\n    return [[len(t), 1.0] for t in texts]\n", encoding="utf-8")
    assert xlr("ours=python:mine.py:f?revision=2").code == 0
    system = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert "revision=2" in json.dumps(system)


def test_the_key_is_in_no_output(xlr: Any, server: Any, monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    monkeypatch.setenv("MY_KEY", fake.KEY)
    server.needs_key = True
    outcome = xlr(f"{server.spec}&key_env=MY_KEY", "--report")
    assert outcome.code == 0
    assert server.headers[0]["Authorization"] == f"Bearer {fake.KEY}"
    files = [path for path in Path("out").rglob("*") if path.is_file()]
    assert len(files) >= 3
    everything = b"".join(path.read_bytes() for path in files) + f"{outcome.out}{outcome.err}".encode()
    assert b"api:tiny@127.0.0.1" in everything
    assert fake.KEY.encode() not in everything
    assert fake.KEY[:10].encode() not in everything
