"""Errors and warnings name parameters in Python, and options on the command line."""

import json
import re
from pathlib import Path

import click
import pytest

import xlingual
from xlingual.cli import main
from xlingual.cli.from_request import RequestCommand
from xlingual.cli.wording import in_options
from xlingual.errors import InputError, parameter
from xlingual.requests import leaves
from xlingual.requests.evaluating import BackretrievalRequest

ENCODERS = ("--text-encoder", "chargram", "--image-encoder", "pixels")
SRC = Path(xlingual.__file__).parent


def said(capsys, *arguments):
    assert main.run([str(one) for one in arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "in_python", "on_the_command_line"),
    [
        ("id,n_en,n_de\n1,a,b\n", "(text_column='name_{lang}')", "(--text-column 'name_{lang}')"),
        ("id,text\n1,a\n", "lang_column=…", "--lang-column"),
        ("id,lang,text\n1,en,a\n1,en,b\n", "(id_column=… names", "(--id-column names"),
    ],
)
def test_an_error_of_reading_is_in_the_words_of_who_reads(
    tmp_path, capsys, content, in_python, on_the_command_line
):
    path = tmp_path / "m.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        xlingual.Manifest.read(path)
    assert in_python in str(caught.value) and "--" not in str(caught.value)
    assert on_the_command_line in said(capsys, "evaluate", "bkr", path, *ENCODERS)
    assert on_the_command_line in said(capsys, "data", "check", path)


def test_an_error_of_evaluation_too(tmp_path, capsys):
    path = tmp_path / "m.csv"
    path.write_text("id,lang,text\n1,en,a\n2,en,b\n", encoding="utf-8")
    manifest = xlingual.Manifest.read(path)
    with pytest.raises(InputError, match=r"\(image_column=…\).*\(vectors:PATH\)"):
        xlingual.image_sentence(manifest, "chargram", image_encoders="pixels", store=None)
    line = said(capsys, "evaluate", "image-sentence", path, *ENCODERS, "--no-store")
    assert "(--image-column)" in line and "(vectors:PATH)" in line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"name it ({parameter('image_column')})", "name it (--image-column)"),
        (f"leave out {parameter('sample')}, {parameter('seeds')}", "leave out --sample, --seeds"),
        (parameter("pairs", ["en-de", "de-en"]), "--pairs en-de,de-en"),
        (parameter("id_column", "it's"), "--id-column 'it'\"'\"'s'"),
        (parameter("skip_broken", True) + " leaves", "--skip-broken leaves"),
        (parameter("text_encoders", "vectors:a.npy?id=3"), "--text-encoder 'vectors:a.npy?id=3'"),
        ("vectors:a.npy?id_column='x'&seed=3 other='x' seed = 3", None),
    ],
)
def test_only_what_is_an_option_of_the_command_is_changed(text, shown):
    assert in_options(text, BackretrievalRequest) == (text if shown is None else shown)
    assert in_options(text) == text, "no command runs"


def test_what_errors_name_are_options_of_commands():
    written = {
        name for path in SRC.rglob("*.py") for name in re.findall(r"parameter\(['\"](\w+)", path.read_text())
    }
    assert {"image_column", "languages"} <= written
    options = {name for kind in _requests(main.xlingual) for name in leaves(kind)}
    assert not [name for name in written if not {name, name.removesuffix("s")} & options]


def _requests(group):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, RequestCommand):
            yield command.kind
            yield from (command.further_command(word).kind for word in command.further)
        elif isinstance(command, click.Group):
            yield from _requests(command)


def test_results_of_a_command_keep_its_words(tmp_path, capsys):
    path = tmp_path / "m.csv"
    rows = [f"{i},a {i},b {i}" for i in range(12)]
    path.write_text("\n".join(["id,text_en,text_de", *rows]), encoding="utf-8")
    run = ("evaluate", "xlr", path, "--text-encoder", "chargram", "--measure", "R@3", "--seeds", "2")
    assert main.run([*map(str, run), "--no-store", "--json"]) == 0
    printed = capsys.readouterr()
    (warning,) = json.loads(printed.out)["warnings"]
    assert "leave out --seeds, or draw fewer items with --sample" in warning
    assert f"warning: {warning}" in printed.err
