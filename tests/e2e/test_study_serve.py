"""`xlingual study serve`: the key stays shut, one server at a time, and nothing is lost when it is killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from runpy import run_path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

from xlingual.cli.main import run
from xlingual.study.database import Ratings

HERE = Path(__file__).parent
studies = SimpleNamespace(**run_path(str(HERE.parent / "unit" / "study" / "studies.py")))
serving = SimpleNamespace(**run_path(str(HERE / "serving.py")))


@pytest.fixture
def made(tmp_path):
    return studies.make_study(tmp_path / "study", images=False)


def status(address):
    with urlopen(address, timeout=60) as answer:
        return answer.status


@pytest.mark.parametrize("secret", ["there", "gone", "unreadable"])
@pytest.mark.cases(1)
def test_it_serves_without_the_key_and_stops_in_order(made, secret):
    if secret == "gone":
        shutil.rmtree(made.folder / "secret")
    if secret == "unreadable":
        (made.folder / "secret" / "key.json").chmod(0)
        (made.folder / "secret").chmod(0)
    try:
        process, links = serving.start(made.folder, "--port", "0")
        assert list(links) == ["organiser", "1", "2"]
        assert status(links["1"]) == 200 and status(links["organiser"]) == 200
        name = made.study.orders[0][0].suggestions[0]
        assert serving.post(links["1"], "/page/1", f"score-{name}=2") == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        said = process.stdout.read()
        assert said.strip() == "Stopped. Every answer that raters saw as saved is in the study's folder."
        process.stdout.close()
    finally:
        if secret != "gone":
            (made.folder / "secret").chmod(0o700)
    assert not list(made.folder.glob("*-wal"))  # one file again: the folder can be moved
    with Ratings(made.folder) as ratings:
        assert len(ratings.all()) == 1


def test_the_server_opens_nothing_secret_and_loads_no_encoder(made):
    code = f"""
import sys
opened = []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
from pathlib import Path
from starlette.testclient import TestClient
from xlingual.cli.study import serve
from xlingual.study.folder import read_study
from xlingual.study.server.app import create_app
from xlingual.study.links import ensure_links
folder = Path({str(made.folder)!r})
study = read_study(folder)
ensure_links(folder, 1)
with TestClient(create_app(study, folder)) as client:
    for path in ("{made.link()}", "{made.link()}/page/1", "/o/{made.organiser}"):
        assert client.get(path).status_code == 200
assert any("study.json" in one for one in opened)
assert not [one for one in opened if "secret" in one and one.startswith(str(folder))], opened
heavy = {{"torch", "transformers", "sentence_transformers", "sklearn", "scipy", "pyarrow", "PIL"}}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert not [name for name in sys.modules if name.startswith(("xlingual.encoders", "xlingual.data"))]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_second_server_of_the_study_is_refused(made, capsys):
    with serving.server(made.folder, "--port", "0") as links:
        assert run(["study", "serve", str(made.folder), "--port", "0"]) == 2
        assert "is being served already" in one_line(capsys)
        assert status(links["1"]) == 200


def test_a_port_that_is_taken_is_said(made, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert run(["study", "serve", str(made.folder), "--port", port]) == 2
    assert f"127.0.0.1:{port} cannot be opened (Address already in use)" in one_line(capsys)


def test_an_address_that_is_no_address_is_said(made, capsys):
    assert run(["study", "serve", str(made.folder), "--host", "256.1.1.1"]) == 2
    assert "--host 256.1.1.1: no address of this machine" in one_line(capsys)


def test_a_folder_without_a_study_is_said(tmp_path, capsys):
    assert run(["study", "serve", str(tmp_path)]) == 2
    assert "study.json" in one_line(capsys)


def test_other_machines_are_let_in_with_a_warning(made):
    process, _ = serving.start(
        made.folder, "--host", "0.0.0.0", "--port", "0", "--url", "https://rate.example/"
    )
    serving.stop(process)


def test_the_warning_and_the_public_address(made, capsys):
    from xlingual.cli.study import _announce

    links = [("1", "http://0.0.0.0:80/r/x")]
    _announce(made.folder, "0.0.0.0", "http://0.0.0.0:80", links, "https://rate.example/")
    out, err = capsys.readouterr()
    assert "https://rate.example/r/x" in out and "without encryption" in err and "put its name" not in out
    _announce(made.folder, "0.0.0.0", "http://0.0.0.0:80", links, None)
    assert "in the links, put its name or address" in capsys.readouterr().out
    _announce(made.folder, "::1", "http://[::1]:80", [], None)
    out, err = capsys.readouterr()
    assert "Only this machine" in out and "links.csv is not in the folder" in out and err == ""


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_kill_9_under_load_loses_nothing_that_was_acknowledged(tmp_path, kills):
    made = studies.make_study(tmp_path / "study", raters=30, queries=20, suggestions=10, images=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    links = [f"http://127.0.0.1:{port}{made.link(number)}" for number in range(30)]
    raters = [serving.Clicker(link, made.study, number) for number, link in enumerate(links)]
    moments = Random(kills)

    def said():
        return sum(rater.said for rater in raters)

    for rater in raters:
        rater.start()
    for _ in range(kills):
        process, _ = serving.start(made.folder, "--port", str(port))
        moment = said() + moments.randrange(1, 60)  # by the work done: machines differ
        while process.poll() is None and said() < moment:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    for rater in raters:
        rater.done = True
    for rater in raters:
        rater.join()
    with Ratings(made.folder) as ratings:
        stored = ratings.all()
        assert ratings._writer.opened().execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert said() > kills  # it was under load
    assert [rater.lost(stored) for rater in raters] == [[]] * 30


def one_line(capsys):
    """Return what was said on standard error: one line."""
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said
