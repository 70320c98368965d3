"""What the command line does for a newcomer: names of other programs, completion, one table of exit codes."""

import re
from pathlib import Path

import click
import numpy as np
import pytest
from website import commands

from xlingual.cli import exit_codes, gate, main
from xlingual.cli.other_names import COMMANDS, DATA, OF_SPECS, OTHER_NAMES

DOCS = Path(main.__file__).parents[3] / "docs"


def said(capsys, *arguments):
    assert main.run(list(arguments)) == exit_codes.BAD
    return capsys.readouterr().err


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("id,lang,text,item\n1,en,a,1\n2,de,b,1\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("command", "name", "meant"),
    [
        ("evaluate bkr", "--model", "--text-encoder"),
        ("evaluate xlr", "--encoder", "--text-encoder"),
        ("evaluate bkr", "--output-dir", "--out"),
        ("evaluate bkr", "--output_dir", "--out"),
        ("compare", "--output", "--out"),
        ("train triplet", "--learning-rate", "--rate"),
        ("evaluate bkr", "--image-model", "--image-encoder"),
        ("evaluate bkr", "--metric", "--measure"),
        ("evaluate bkr", "-o", "--out"),
        ("evaluate bkr", "-j", "--threads"),
    ],
)
def test_the_option_that_is_meant_is_named(capsys, command, name, meant):
    assert f"No such option '{name}'. Did you mean '{meant}'?" in said(capsys, *command.split(), name, "x")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("import", "'xlingual data import'"),
        ("eval", "'xlingual evaluate'"),
        ("benchmark", "'xlingual evaluate'"),
        ("rank", "'xlingual evaluate'"),
        ("bkr", "'xlingual evaluate bkr'"),
        ("help", "'xlingual --help'"),
        ("evalute", "'evaluate'"),
    ],
)
def test_the_command_that_is_meant_is_named(capsys, word, meant):
    assert f"No such command {word!r}. Did you mean {meant}?" in said(capsys, word, "x")


def test_commands_that_are_named_are_there_and_the_words_are_none():
    assert not set(COMMANDS) & set(main._VERBS)
    for name in {name for name in COMMANDS.values() if not name.startswith("--")}:
        found, context = main.xlingual, click.Context(main.xlingual)
        for part in name.split():
            found = found.get_command(context, part)
        assert found is not None, name


def test_the_data_is_an_argument_and_prompts_are_of_encoders(capsys):
    assert "MANIFEST is an argument" in said(capsys, "evaluate", "bkr", "--dataset", "x")
    assert "'st:NAME?query_prompt=query: '" in said(capsys, "evaluate", "bkr", "--query-prompt", "x")
    assert "did you mean" not in said(capsys, "evaluate", "bkr", "--zzzzzz", "x").lower()


def test_the_table_names_options_that_there_are():
    context = click.Context(main.xlingual)
    known = set()
    for verb, words in (
        ("evaluate", ("backretrieval", "image-sentence")),
        ("train", ("triplet",)),
        ("study", ("new",)),
    ):
        group = main.xlingual.get_command(context, verb)
        for word in words:
            known |= {name for one in group.get_command(context, word).params for name in one.opts}
    for verb in ("compare", "gate"):
        known |= {name for one in main.xlingual.get_command(context, verb).params for name in one.opts}
    for names in OTHER_NAMES.values():
        assert known.intersection(names)
    assert not (set(OTHER_NAMES) & DATA) and not (set(OTHER_NAMES) & set(OF_SPECS))


@pytest.mark.parametrize("name", ["intfloat/multilingual-e5-small", "mine=intfloat/e5-small?dim=8"])
def test_a_name_of_a_hub_needs_its_scheme(capsys, manifest, name):
    found = said(capsys, "evaluate", "xlr", manifest, "--text-encoder", name)
    assert f"did you mean {name.replace('intfloat', 'st:intfloat')}?" in found


def test_a_folder_of_a_model_needs_its_scheme_and_vectors_do_not(capsys, manifest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    Path("models/config.json").write_text("{}", encoding="utf-8")
    found = said(capsys, "evaluate", "xlr", manifest, "--text-encoder", "./models")
    assert "'./models' is the folder of a model: did you mean st:./models?" in found
    np.save("models/two.npy", np.ones((2, 3)))
    assert "did you mean st:" not in said(
        capsys, "evaluate", "xlr", manifest, "--text-encoder", "models/two.npy"
    )
    assert "did you mean st:" not in said(
        capsys, "evaluate", "xlr", manifest, "--text-encoder", "models/three"
    )


def test_the_version_has_a_short_option(capsys):
    assert main.run(["-V"]) == 0
    short = capsys.readouterr().out
    assert main.run(["--version"]) == 0
    assert short == capsys.readouterr().out and short.startswith("xlingual ")


class TestCompletion:
    @pytest.fixture
    def completed(self, monkeypatch, capsys):
        def of(*words):
            monkeypatch.setenv("_XLINGUAL_COMPLETE", "bash_complete")
            monkeypatch.setenv("COMP_WORDS", " ".join(["xlingual", *words]))
            monkeypatch.setenv("COMP_CWORD", str(len(words)))
            with pytest.raises(SystemExit) as ended:
                main.run([])
            assert ended.value.code == 0
            return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]

        return of

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            (("ev",), ["evaluate"]),
            (("evaluate", "backr"), ["backretrieval"]),
            (("evaluate", "bkr", "--image-e"), ["--image-encoder"]),
            (("evaluate", "bkr", "m.csv", "--text-encoder", "ch"), ["chargram"]),
            (("evaluate", "bkr", "m.csv", "--image-encoder", "o"), ["onnx:"]),
            (("evaluate", "bkr", "m.csv", "--text-encoder", "./mo"), ["./mo"]),
            (("evaluate", "bkr", "m.csv", "--format", "l"), ["latex"]),
        ],
    )
    def test_words_and_options_and_schemes(self, completed, words, found):
        assert completed(*words) == found

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_lines_of_the_page_work(self, monkeypatch, capsys, shell):
        page = (DOCS / "how-to" / "index.md").read_text(encoding="utf-8")
        assert f"_XLINGUAL_COMPLETE={shell}_source xlingual" in page
        monkeypatch.setenv("_XLINGUAL_COMPLETE", f"{shell}_source")
        with pytest.raises(SystemExit) as ended:
            main.run([])
        assert ended.value.code == 0 and "_xlingual_completion" in capsys.readouterr().out


class TestExitCodes:
    def test_the_page_of_commands_has_the_table(self):
        pages = commands.pages()
        assert exit_codes.as_markdown() in pages["reference/commands/index.md"]
        for page in re.findall(r"\]\((.+?)\)", exit_codes.as_markdown()):
            assert f"reference/commands/{page}" in pages

    def test_the_help_has_them_in_short(self, capsys):
        assert main.run(["--help"]) == exit_codes.DONE
        assert " ".join(exit_codes.IN_SHORT.split()) in " ".join(capsys.readouterr().out.split())

    def test_a_gate_ends_with_codes_of_the_table(self):
        known = {row.code for row in exit_codes.EXIT_CODES}
        assert set(gate._CODES.values()) == {exit_codes.DONE, exit_codes.NO, exit_codes.UNKNOWN} <= known
