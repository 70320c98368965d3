"""A folder of results from a stranger: it is data, whatever its record asks for."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused

XLR = ("evaluate", "xlr", "s/manifest.parquet", "--pairs", "en-de", "--threads", "1")
GOOD = ("--text-encoder", "v/good.{lang}.npy")
READERS = (("verify", "r"), ("report", "r", "--out", "r.html"), ("compare", "r", "other"), ("inspect", "r"))


@pytest.fixture
def result(xlingual: Any) -> Any:
    """Return the command line, where `r` and `other` are results."""
    for folder in ("r", "other"):
        assert xlingual(*XLR, *GOOD, "--out", folder, "--quiet").code == 0
    return xlingual


def edited(change: Callable[[Any], object], file: str = "r/results.json") -> None:
    """Change what a file of JSON holds."""
    content = json.loads(Path(file).read_text(encoding="utf-8"))
    change(content)
    Path(file).write_text(json.dumps(content), encoding="utf-8")


def asks(**values: Any) -> None:
    """Let the record ask for other values."""
    edited(lambda content: content["request"].update(values))


@pytest.fixture
def service() -> Iterator[tuple[str, list[str]]]:
    """Return the address of a server, and what it was sent."""
    sent: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            sent.append(connection.recv(65536).decode())
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", sent
    listening.close()


def not_allowed(outcome: Any, *words: str) -> None:
    said = " ".join(outcome.out.split())
    assert outcome.code == 2 and said.startswith("NOT ALLOWED"), outcome
    for word in words:
        assert word in said, said


def test_code_of_a_record_is_not_run(result: Any, work: Path) -> None:
    code = work / "enc.py"
    code.write_text(
        f"open({str(work / 'ran')!r}, 'w').close()\n"
        "def f(texts): return [[float(len(t)), 1.0] for t in texts]\n"
    )
    for spec in (f"python:{code}:f", f"centre:?fit=s/manifest.parquet::python:{code}:f"):
        asks(text_encoders=[spec])
        not_allowed(result("verify", "r"), "encoder", spec.partition("python:")[0] + "python:")
        assert not Path("ran").exists()
    asks(text_encoders=[f"python:{code}:f"])
    assert result("verify", "r", "--allow", "python").code == 1 and Path("ran").exists()


def test_texts_and_secrets_are_not_sent(
    result: Any, service: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, sent = service
    monkeypatch.setenv("MY_SECRET", "s3cret")
    asks(text_encoders=[f"api:m?base_url={address}&key_env=MY_SECRET"])
    not_allowed(result("verify", "r"))
    not_allowed(result("verify", "r", "--allow", "api"))  # addresses and variables are never a record's
    assert sent == []


@pytest.mark.parametrize("key", ["failures", "record", "trec", "out", "checkpoints"])
def test_no_file_is_overwritten(result: Any, work: Path, key: str) -> None:
    assert result("inspect", "r", "--out", "i", "--quiet").code == 0
    precious = work / "precious.csv"
    precious.write_text("mine")
    before = sorted(work.rglob("*"))
    for file in ("r/results.json", "i/inspection.json"):
        edited(lambda content: content["request"].update({key: str(precious)}), file)
        result("verify", file)
    assert precious.read_text() == "mine" and sorted(work.rglob("*")) == before


def test_a_path_of_many_steps_up_ends(result: Any, work: Path) -> None:
    for name in ("a", "b", "c"):
        os.symlink(".", work / name)
    edited(lambda content: content["run"].update(out="../" * 40 + "r"))
    assert result("verify", "r").code == 0


@pytest.mark.parametrize("command", READERS, ids=lambda words: words[0])
def test_pipes_devices_and_links_are_refused(result: Any, work: Path, command: tuple[str, ...]) -> None:
    main = Path("r/results.json")
    own = main.read_bytes()
    main.unlink()
    os.mkfifo(main)
    refused(result(*command), "r/results.json", "named pipe")
    main.unlink()
    os.symlink("/dev/zero", main)
    refused(result(*command), "r/results.json", "device")
    main.unlink()
    Path("outside.json").write_bytes(own)
    os.symlink("../outside.json", main)
    refused(result(*command), "link out of its folder")
    main.unlink()
    main.write_bytes(own)
    table = Path("r/per_query.parquet").rename("rows")
    os.symlink("../rows", "r/per_query.parquet")
    outcome = result(*command)
    said = " ".join((outcome.out + outcome.err).split())
    assert outcome.code in (1, 2) and "link out of its folder" in said
    assert table.is_file()


def test_a_pipe_beside_a_result_is_refused(result: Any, work: Path) -> None:
    os.mkfifo("r/a.json")
    refused(result("verify", "r"), "r/a.json", "named pipe")


def test_too_large_a_file_is_refused(result: Any, work: Path) -> None:
    with open("r/results.json", "r+b") as file:
        file.truncate(1 << 30)  # sparse
    refused(result("verify", "r"), "1,073,741,824 bytes")


def test_files_outside_of_the_folder_are_not_read(
    result: Any, work: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("good.en.npy", "good.de.npy"):
        (elsewhere / name).write_bytes(Path("v", name).read_bytes())
    secret = elsewhere / "manifest.parquet"
    secret.write_bytes(Path("s/manifest.parquet").read_bytes())
    os.symlink(secret, "link.parquet")
    os.symlink(elsewhere, "linked")
    for values in (
        {"manifest": str(secret)},
        {"manifest": "link.parquet"},
        {"manifest": "s3://bucket/manifest.parquet"},
        {"text_encoders": [f"{elsewhere}/good.{{lang}}.npy"]},
        {"text_encoders": ["linked/good.{lang}.npy"]},
        {"text_encoders": [f"lsa:?fit={secret}"]},
        {"text_encoders": [f"lsa:?fit={secret}#train"]},
        {"similarity": f"csls?k=10&fit={secret}"},
        {"sample": str(secret)},
    ):
        own = Path("r/results.json").read_bytes()
        asks(**values)
        not_allowed(result("verify", "r"))
        Path("r/results.json").write_bytes(own)
    asks(text_encoders=[f"good={elsewhere}/good.{{lang}}.npy"])
    assert result("verify", "r", "--allow", str(elsewhere)).code == 0
    edited(lambda content: content["provenance"]["inputs"][0].update(path="/etc/hosts"))
    not_allowed(result("verify", "r"), "/etc/hosts")


def test_what_a_record_asks_for_is_printed(result: Any) -> None:
    done = result("verify", "r", "--json")
    found = {(use["what"], use["name"], use["allowed"]) for use in json.loads(done.out)["uses"]}
    assert {("encoder", GOOD[1], True), ("file", "s/manifest.parquet", True)} <= found
    refused(result("verify", "r", "--allow", "nonsense"), "--allow nonsense", "folder or scheme")


def test_inspect_runs_no_encoder_that_only_the_record_names(result: Any, work: Path) -> None:
    Path("enc.py").write_text(
        "open('ran', 'w').close()\ndef f(images): return [[1.0, 2.0] for _ in images]\n"
    )
    asks(image_encoder="python:enc.py:f")
    assert result("inspect", "r").code == 0 and not Path("ran").exists()
