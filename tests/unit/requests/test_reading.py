"""The door to requests: values of the command line and of files become a record, or an error in one line."""

import tomllib
from pathlib import Path

import pytest

from xlingual.errors import InputError
from xlingual.requests import read
from xlingual.requests.evaluating import BackretrievalRequest
from xlingual.requests.reading import read_toml
from xlingual.training.requests import DualEncoderRequest, MlmmeRequest, TripletRequest

LEAST = 'manifest = "m.csv"\nout = "m"\n'


def mlmme(text, where="options.toml"):
    return read(MlmmeRequest, tomllib.loads(LEAST + text), where)


def test_settings_have_the_types_that_were_asked_for():
    found = mlmme(
        'languages = ["en", "de"]\nbeta = 1\nmost-words = 7\npatience = "none"\nclip = 2\n'
        'pretokenized = true\nschedule = "step:15:0.1"\nlr = 0.5\nproject_text = false\nstate-dim = 2048'
    )
    assert found.model.languages == ("en", "de") and found.model.most_words == 7
    assert found.model.beta == 1.0 and type(found.model.beta) is float and found.model.pretokenized
    assert found.fit.patience is None and found.fit.clip == 2.0 and found.fit.rate == 0.5
    assert not found.model.project_text and found.folder.out == Path("m")
    assert mlmme("").fit.patience == 5


def test_a_name_that_several_records_have_is_given_once():
    found = mlmme("seed = 3")
    assert (found.fit.seed, found.model.seed) == (3, 3)


def test_a_record_may_have_other_defaults_in_a_request():
    found = read(TripletRequest, {"manifest": "m", "out": "o", "text-encoder": ["chargram"]}, "t")
    assert (found.fit.rate, found.fit.epochs, found.fit.patience, found.fit.optimizer) == (
        *(0.01, 40, None),
        "adam",
    )


def test_texts_of_the_command_line_are_read_in_files_too():
    found = read(
        BackretrievalRequest,
        {
            "manifest": "m",
            "text-encoder": ["a"],
            "image-encoder": "i",
            "pairs": "en-de,de-en",
        },
    )
    assert found.sampling.pairs == ("en-de", "de-en")
    assert read(DualEncoderRequest, {"pool": "p", "out": "o", "ngrams": "none"}).model.ngrams is None


@pytest.mark.parametrize(("content", "message"), [("epochs 3", "is not valid TOML"), (b"\xff", "not valid")])
def test_files_that_are_no_toml(tmp_path, content, message):
    path = tmp_path / "x.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_toml(path)
