"""What the command line does for a newcomer: names of other programs, completion, one table of exit codes."""

import pytest

from xlingual.cli import exit_codes, gate, main


def said(capsys, *arguments):
    assert main.run(list(arguments)) == exit_codes.BAD
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "name", "meant"),
    [
        ("evaluate bkr", "--model", "--text-encoder"),
        ("evaluate bkr", "--output_dir", "--out"),
        ("train triplet", "--learning-rate", "--rate"),
        ("evaluate bkr", "-j", "--threads"),
    ],
)
def test_the_option_that_is_meant_is_named(capsys, command, name, meant):
    assert meant in said(capsys, *command.split(), name, "x")


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
            (("evaluate", "bkr", "m.csv", "--image-encoder", "h"), ["hf:"]),
            (("evaluate", "bkr", "m.csv", "--text-encoder", "./mo"), ["./mo"]),
            (("evaluate", "bkr", "m.csv", "--format", "l"), ["latex"]),
        ],
    )
    def test_words_and_options_and_schemes(self, completed, words, found):
        assert completed(*words) == found


class TestExitCodes:
    def test_the_help_has_them_in_short(self, capsys):
        assert main.run(["--help"]) == exit_codes.DONE
        assert " ".join(exit_codes.IN_SHORT.split()) in " ".join(capsys.readouterr().out.split())

    def test_a_gate_ends_with_codes_of_the_table(self):
        known = {row.code for row in exit_codes.EXIT_CODES}
        assert set(gate._CODES.values()) == {exit_codes.DONE, exit_codes.NO, exit_codes.UNKNOWN} <= known
