"""Options of `repair` on the command line: none is dropped in silence, and errors say what was typed."""

import json

import pytest

from xlingual import Manifest
from xlingual.cli.main import run
from xlingual.encoders.options import amount, share
from xlingual.errors import InputError
from xlingual.requests.ranking import byte_size
from xlingual.requests.repairing import shares_of
from xlingual.workflows.repairing import repair_encoder

TAGS = ("de", "en")


def test_items_in_one_language_each_are_refused(tmp_path, capsys):
    path = tmp_path / "data.jsonl"
    rows = [{"id": str(i), "lang": TAGS[i % 2], "text": f"{TAGS[i % 2]} {i}"} for i in range(240)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, text = said(["repair", str(path), "--text-encoder", "random:?dim=4", "--no-store"], capsys)
    assert status == 1 and "two languages" in text, text


def said(given, capsys):
    status = run(given)
    return status, " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "given",
    [
        ["repair", "x", "--text-encoder", "a:", "--text-encoder", "b:"],
        ["evaluate", "crosslingual-retrieval", "x", "--text-encoder", "a:", "--seed", "1", "--seed=2"],
    ],
)
def test_an_option_of_one_value_is_given_once(given, capsys):
    status, text = said(given, capsys)
    assert status == 2 and "is given 2 times, and takes one value: give it once" in text


@pytest.mark.parametrize(
    "given",
    [
        ["evaluate", "crosslingual-retrieval", "x", "--text-encoder", "a:", "--text-encoder", "b:"],
        ["repair", "x", "--text-encoder", "a:", "--hubs", "--no-hubs"],
        ["repair", "--help", "--text-encoder", "a:"],
    ],
)
def test_others_may_be_repeated(given, capsys):
    assert "times" not in said(given, capsys)[1]


@pytest.mark.parametrize(
    "typed", ["1,0,1", "0.4,0.2", ".4,.2,x", "nan,1,1", "1,1,inf", "-1,1,1", "1,1,1,1", ""]
)
def test_shares_that_are_none_are_shown_as_typed(typed, capsys):
    status, text = said(["repair", "x", "--text-encoder", "a:", f"--shares={typed}"], capsys)
    assert status == 2 and f"found {typed!r}: give three numbers above 0" in text and "[" not in text


def test_numbers_may_begin_with_a_point():
    assert shares_of(".4,.2,0.4") == [0.4, 0.2, 0.4]
    assert (share(".5"), share("0.5"), share("1"), share("0")) == (0.5, 0.5, 1.0, 0.0)
    assert (amount(".25"), amount("12.5"), byte_size(".5GB")) == (0.25, 12.5, 500_000_000)
    for text in ("", ".", "1.5", "-.5", "5.", ".5.5"):
        with pytest.raises(ValueError, match="a number from 0 to 1"):
            share(text)


def test_texts_in_one_language_are_refused():
    data = Manifest.from_rows([{"id": str(i), "lang": "de", "text": f"de {i}"} for i in range(60)])
    with pytest.raises(InputError, match=r"has texts in 'de' only.*two languages at least"):
        repair_encoder(data, "random:", store=None)
    with pytest.raises(InputError, match="three numbers above 0"):
        repair_encoder(data, "random:", shares=(1, float("inf"), 1), store=None)
