"""A folder of results is one thing, whatever is killed, copied or mixed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from xlingual.cli.main import run
from xlingual.errors import InputError
from xlingual.results import Entry, Interval, Results
from xlingual.results import files as folders

FILES = {"results.json", "per_query.parquet", "examples.parquet", "hubs.parquet"}
SIGNATURE = "task:t|source:en|target:de|data:d|system:|encoder:e"


def result(value, *, examples=True, hubs=True, names=("a", "b")):
    """Return results of two queries for each encoder, all of whose tables hold the value."""
    ci = Interval(0.0, 1.0, 0.95, "wilson")
    task, nothing = "crosslingual-retrieval", (None, None, None)
    entries = [
        Entry(task, "en", "de", name, None, "R@1", value, ci, 0.5, *nothing, 2, 2, 0, 0, SIGNATURE)
        for name in names
    ]
    rows = [
        {"task": "crosslingual-retrieval", "encoder": name, "source": "en", "target": "de", "measure": "R@1"}
        | {"seed": 0, "query": f"q{i}", "item": f"q{i}", "cluster": i, "retrieved": f"t{i}", "value": value}
        | {"retrieved_cluster": i, "above": 0, "tied": 1}
        for name in names
        for i in range(2)
    ]
    words = ("task", "encoder", "source", "target", "kind", "query_id", "query_text", "retrieved_id")
    shown = dict.fromkeys((*words, "retrieved_text"), "x") | {"query_picture": b"", "retrieved_picture": b""}
    shown |= dict.fromkeys(("seed", "position", "above", "tied", "pool"), 1)
    hub = {"encoder": "a", "id": "t0", "language": "de", "text": "x", "count": value, "expected": 1.0}
    return Results(
        entries,
        [],
        pa.Table.from_pylist(rows),
        pa.Table.from_pylist([shown | {"value": value, "similarity": value}]) if examples else None,
        tables={"hubs": pa.Table.from_pylist([hub])} if hubs else {},
    )


def values_in(folder):
    """Return the value of the numbers, of the queries, of the examples and of the hubs."""
    found = Results.read(folder)
    tables = [found.per_query, found.examples, found.tables.get("hubs")]
    columns = ("value", "value", "count")
    return [
        found.entries[0].value,
        *(None if t is None else t[c][0].as_py() for t, c in zip(tables, columns, strict=True)),
    ]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(request, monkeypatch):
    """Leave out the flushes, which nothing here can see."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(folders, "sync", lambda path: None)


class KilledError(BaseException):
    """Stands for a kill: nothing tidies up after it."""


def killed_at(step, monkeypatch):
    """Let the program end before the given one of all changes of names on the disk, and all flushes to it."""
    left = [step]

    def counted(change):
        def work(*arguments, **more):
            if left[0] == 0:
                raise KilledError
            left[0] -= 1
            return change(*arguments, **more)

        return work

    monkeypatch.setattr(os, "replace", counted(os.replace))
    monkeypatch.setattr(folders, "sync", counted(folders.sync))
    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda path, **more: None if left[0] == 0 else unlink(path, **more))
    return left


@pytest.mark.parametrize(
    "second", [result(0.75), result(0.75, examples=False, hubs=False)], ids=["same", "fewer"]
)
@pytest.mark.cases(1)
def test_a_kill_at_any_step_leaves_the_old_result_or_the_new_one_whole(tmp_path, monkeypatch, second):
    old, new = [0.25] * 4, [0.75] * 2 + ([0.75] * 2 if second.examples is not None else [None] * 2)
    seen = []
    for step in range(100):
        folder = tmp_path / str(step)
        result(0.25).write(folder)
        with monkeypatch.context() as patch:
            left = killed_at(step, patch)
            with suppress(KilledError):
                second.write(folder)
            done = left[0] > 0
        seen.append(values_in(folder))
        assert seen[-1] in (old, new)
        result(0.5).write(folder)  # the next run is not disturbed by what is left, and tidies it up
        assert values_in(folder) == [0.5] * 4 and {path.name for path in folder.iterdir()} == FILES
        if done:
            break
    assert done and seen[0] == old and seen[-1] == new
    assert seen == sorted(seen, key=[old, new].index)  # the new one counts from one step on


def test_a_kill_while_tidying_up_after_a_kill_loses_nothing(tmp_path, monkeypatch):
    for first in (6, 8):  # the new result counts, and some of its files are not in their places
        for second in range(4):
            folder = tmp_path / f"{first}-{second}"
            result(0.25).write(folder)
            for step, value in ((first, 0.75), (second, 0.5)):
                with monkeypatch.context() as patch:
                    killed_at(step, patch)
                    with suppress(KilledError):
                        result(value).write(folder)
                assert values_in(folder) in ([0.25] * 4, [0.75] * 4, [0.5] * 4)


def test_a_write_that_fails_leaves_the_old_result_and_nothing_else(tmp_path, monkeypatch):
    result(0.25).write(tmp_path)
    (tmp_path / "report.html").write_text("of the old result")
    before = {path.name for path in tmp_path.iterdir()}

    def full(path):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(folders, "sync", full)
        with pytest.raises(
            InputError, match=r"per_query\.parquet cannot be written \(No space left .*make room"
        ):
            result(0.75).write(tmp_path)
    assert values_in(tmp_path) == [0.25] * 4 and {path.name for path in tmp_path.iterdir()} == before
    result(0.75).write(tmp_path)
    assert not (tmp_path / "report.html").exists()  # it has the old numbers


@pytest.mark.slow
def test_real_kills_leave_one_result_or_the_other(tmp_path):
    code = (
        "import sys, itertools; sys.path.insert(0, sys.argv[2]); from test_together import result\n"
        "print('ready', flush=True)\n"
        "for number in itertools.count(): result(0.25 + 0.5 * (number % 2)).write(sys.argv[1])"
    )
    result(0.25).write(tmp_path)
    for number in range(15):
        arguments = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            try:
                process.wait(0.05 + 0.013 * number)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        assert values_in(tmp_path) in ([0.25] * 4, [0.75] * 4)


@pytest.mark.parametrize("name", sorted(FILES - {"results.json"}))
def test_a_table_of_another_run_is_refused_by_name(tmp_path, name, capsys):
    result(0.25).write(tmp_path / "one")
    result(0.75).write(tmp_path / "two")
    (tmp_path / "two" / name).replace(tmp_path / "one" / name)
    with pytest.raises(InputError, match=f"{name} does not belong to the numbers beside it"):
        Results.read(tmp_path / "one")
    one = str(tmp_path / "one")
    commands = [
        ["compare", one],
        ["gate", f"{one}#a", f"{one}#b", "--margin", "0.1"],
        ["plan", f"{one}#a", "--effect", "0.1"],
        ["report", one, "--out", str(tmp_path / "page.html")],
    ]
    for command in commands:
        assert run(command) == 2


def test_a_table_that_the_numbers_do_not_list_is_passed_over(tmp_path):
    result(0.25, hubs=False).write(tmp_path / "one")
    result(0.75).write(tmp_path / "two")
    (tmp_path / "two" / "hubs.parquet").replace(tmp_path / "one" / "hubs.parquet")
    assert Results.read(tmp_path / "one").tables == {}


def test_files_with_texts_may_be_left_out_and_a_folder_may_be_moved(tmp_path):
    result(0.25).write(tmp_path / "one")
    (tmp_path / "one" / "examples.parquet").unlink()
    (tmp_path / "one" / "hubs.parquet").unlink()
    moved = (tmp_path / "one").rename(tmp_path / "moved")
    assert values_in(moved) == [0.25, 0.25, None, None]
    (moved / "per_query.parquet").unlink()
    with pytest.raises(InputError, match=r"per_query\.parquet is missing"):
        Results.read(moved)


def test_the_digests_are_those_of_the_files_and_not_part_of_the_record(tmp_path):
    made = result(0.25)
    made.write(tmp_path)
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    digests = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in FILES - {"results.json"}
    }
    assert content.pop("files") == digests
    assert content == made.to_dict()


def test_a_label_that_was_renamed_in_the_numbers_alone_can_still_be_reported(tmp_path):
    result(0.25).write(tmp_path)
    path = tmp_path / "results.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"a"', '"renamed"'), encoding="utf-8")
    assert [entry.encoder for entry in Results.read(tmp_path).entries] == ["renamed", "b"]
    again = Results.read(tmp_path)
    replace(again, tables={}).write(tmp_path)
    assert Results.read(tmp_path).tables == {}


@pytest.mark.parametrize("name", ["results.json", "per_query.parquet", "examples.parquet"])
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_refused_at_once(tmp_path, name, capsys):
    result(0.25).write(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    for command in (["compare", str(tmp_path)], ["report", str(tmp_path), "--out", str(tmp_path / "x.html")]):
        assert run(command) == 2
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    assert run(["report", str(tmp_path), "--out", str(tmp_path / "x.html")]) == 2
    assert f"{name} is a device" in capsys.readouterr().err
