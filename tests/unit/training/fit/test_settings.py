"""Options from a TOML file."""

from dataclasses import dataclass

import pytest
from xlingual.training.settings import combined, option_types, read_settings

from xlingual.errors import InputError
from xlingual.training.options import FitOptions


@dataclass(frozen=True)
class Recipe:
    languages: tuple[str, ...]
    beta: float = 0.5
    most_words: int | None = None
    pretokenized: bool = False


KNOWN = option_types(FitOptions, Recipe)


@pytest.fixture
def read(tmp_path):
    def write_and_read(text):
        path = tmp_path / "options.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_settings(path, KNOWN)

    return write_and_read


def test_options_have_the_types_that_were_asked_for(read):
    found = read(
        'languages = ["en", "de"]\nbeta = 1\nmost-words = 7\npatience = "none"\nclip = 2\n'
        'pretokenized = true\nschedule = "step:15:0.1"\n'
    )
    assert found == {
        "languages": ("en", "de"),
        "beta": 1.0,
        "most_words": 7,
        "patience": None,
        "clip": 2.0,
        "pretokenized": True,
        "schedule": "step:15:0.1",
    }
    assert type(found["beta"]) is float and type(found["most_words"]) is int
    assert FitOptions(patience=found["patience"], clip=found["clip"]).patience is None
    assert read("") == {}


def test_the_command_line_wins(read):
    file = read('epochs = 3\nrate = 0.5\npatience = "none"')
    assert combined(file, {"rate": 0.1, "epochs": None, "seed": 0}) == {
        "epochs": 3,
        "rate": 0.1,
        "patience": None,
        "seed": 0,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("epoch = 3", "unknown option 'epoch'. Did you mean 'epochs'? Known: beta, clip"),
        ("epochs = 3.0", "epochs must be a whole number: found 3.0 (a number)"),
        ("epochs = true", "epochs must be a whole number: found True (a truth value)"),
        ('rate = "fast"', "rate must be a number: found 'fast' (a text)"),
        ("patience = 0.5", 'patience must be a whole number or "none": found 0.5 (a number)'),
        ('languages = "en"', "languages must be a list, each a text: found 'en' (a text)"),
        ('languages = ["en", 3]', "languages must be a list, each a text: found ['en', 3] (a list)"),
        ("pretokenized = 1", "pretokenized must be true or false: found 1 (a whole number)"),
        ("[fit]\nepochs = 3", "unknown option 'fit'"),
        ("beta.x = 3", "beta must be a number: found {'x': 3} (a table)"),
        ("most-words = 1\nmost_words = 2", "option 'most_words' is given twice"),
        ("epochs 3", "is not valid TOML"),
        (b"\xff", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(read, text, told):
    with pytest.raises(InputError) as caught:
        read(text)
    assert told in str(caught.value) and "options.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none\.toml"):
        read_settings(tmp_path / "none.toml", KNOWN)
