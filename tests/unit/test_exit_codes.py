"""Exit codes: 0 done or yes, 1 no or a bug, 2 input or environment, 3 cannot tell."""

import errno
import os
from pathlib import Path

import click
import pytest

from xlingual.cli import gate, main
from xlingual.errors import InputError, why
from xlingual.results.files import write_json


def ended(monkeypatch, work):
    """Return the exit code of a verb that does `work`."""

    @click.command()
    def verb():
        return work()

    monkeypatch.setattr(main.LazyGroup, "get_command", lambda *_: verb)
    return main.run(["plan"])


def raising(error):
    def work():
        raise error

    return work


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (lambda: None, 0),
        (lambda: 0, 0),
        (lambda: 1, 1),
        (lambda: 3, 3),
        (raising(InputError("bad")), 2),
        (raising(MemoryError()), 2),
        (raising(click.UsageError("bad")), 2),
        (raising(KeyboardInterrupt()), 130),
    ],
)
def test_what_a_verb_ends_with(monkeypatch, capsys, work, code):
    assert ended(monkeypatch, work) == code
    assert len(capsys.readouterr().err.splitlines()) == (code > 1 and code != 3)


@pytest.mark.parametrize(
    "number",
    [errno.EACCES, errno.ENOSPC, errno.EROFS, errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.EIO],
)
def test_what_the_machine_refuses_is_one_line_with_the_file_and_2(monkeypatch, capsys, number):
    assert ended(monkeypatch, raising(OSError(number, os.strerror(number), "some/file"))) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: some/file: {os.strerror(number)}") and error.count("\n") == 1
    if number != errno.EIO:
        assert error.count(": ") == 3  # and what to do


def test_a_bug_is_no_line_of_its_own(monkeypatch):
    with pytest.raises(ZeroDivisionError):  # Python prints where, and ends with 1
        ended(monkeypatch, raising(ZeroDivisionError()))


def test_a_gate_says_yes_no_or_cannot_tell():
    assert gate._CODES == {"pass": 0, "fail": 1, "cannot tell": 3}


COMMANDS = [
    ["report", "{there}", "--out", "x.html"],
    ["compare", "{there}"],
    ["gate", "{there}", "{there}", "--margin", "0.1"],
    ["plan", "{there}", "--effect", "0.1"],
    ["papers", "backretrieval", "table1", "{there}"],
    ["evaluate", "bkr", "{there}", "--text-encoder", "random", "--image-encoder", "pixels"],
    ["data", "check", "{there}"],
    ["study", "analyse", "{there}"],
    ["study", "export", "{there}", "--out", "r.csv"],
    ["rerank", "score", "{there}", "--references", "{there}"],
    ["train", "export", "{there}", "--to", "safetensors", "--out", "x"],
    ["store", "export", "{there}", "x", "--out", "y"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
@pytest.mark.parametrize("place", ["absent", "n" * 300, "file/below"], ids=["absent", "long", "below"])
def test_a_bad_path_is_2_and_one_line_for_every_command(tmp_path, monkeypatch, capsys, command, place):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("x")
    assert main.run([part.format(there=place) for part in command]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and len(error.splitlines()) == 1


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC])
def test_a_file_of_results_that_cannot_be_written_is_named_with_the_remedy(tmp_path, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("xlingual.files.sync", refuse)
    reason = why(OSError(number, os.strerror(number)))
    with pytest.raises(InputError) as raised:
        write_json(tmp_path / "gate.json", {})
    assert str(raised.value) == f"{tmp_path / 'gate.json'} cannot be written ({reason})"
    assert "place" in reason and list(tmp_path.iterdir()) == []


def test_a_report_into_a_folder_that_takes_nothing_names_it(tmp_path, monkeypatch):
    from xlingual.report.blocks import Page
    from xlingual.report.render import html

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / ".report.html.tmp"))

    monkeypatch.setattr("xlingual.files.NamedTemporaryFile", refuse)
    with pytest.raises(InputError, match=r"report\.html cannot be written \(Permission denied: choose one"):
        html.write(Page("report", "page", [], []), tmp_path / "report.html")
