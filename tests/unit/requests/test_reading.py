"""The door to requests: values of the command line and of files become a record, or an error in one line."""

import tomllib
from pathlib import Path

import pytest

from xlingual.errors import InputError
from xlingual.requests import read
from xlingual.requests.comparing import CompareRequest
from xlingual.requests.evaluating import BackretrievalRequest, StsRequest
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch = 3", "unknown option 'epoch'. Did you mean 'epochs'? Known: batch, beta, clip"),
        ("epochs = 3.0", "epochs must be a whole number of at least 1, found 3.0"),
        ("epochs = true", "epochs must be a whole number of at least 1, found true"),
        ('rate = "fast"', 'rate must be a number above 0, found "fast"'),
        ("rate = nan", "rate must be a number above 0, found NaN"),
        ("warmup = inf", "warmup must be a number, found inf"),
        ("patience = 0.5", "patience must be a whole number of at least 1, found 0.5"),
        ('patience = "some"', "patience: 'some' is neither a number of at least 1 nor 'none'"),
        ('languages = ["en", 3]', "languages[1] must be text, found 3"),
        ("pretokenized = 1", "pretokenized must be true or false, found 1"),
        ('contrast = "hard"', "Did you mean 'hardest'?"),
        ("[fit]\nepochs = 3", "unknown option 'fit'"),
        ("beta.x = 3", "beta must be a number of at least 0 and at most 1, found an object"),
        ("most-words = 1\nmost_words = 2", "option 'most_words' is given twice"),
        ("warmup = 30", "warmup is 30 epochs of 30"),
    ],
)
def test_what_is_wrong_is_reported_in_a_line(text, message):
    with pytest.raises(InputError) as caught:
        mlmme(text)
    assert message in str(caught.value) and str(caught.value).startswith("options.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (
            BackretrievalRequest,
            {"manifest": "m", "image_encoder": "pixels"},
            "text_encoders=… or runs=… is missing: name one system",
        ),
        (StsRequest, {"files": "one.csv"}, "files must be a list, found"),
        (DualEncoderRequest, {"ngrams": "5-3"}, "ngrams: '5-3' is neither a range"),
        (BackretrievalRequest, {"memory": "much"}, "memory: 'much' is no size"),
        (BackretrievalRequest, {"memory": "8B"}, "too little to rank in"),
        (BackretrievalRequest, {"memory": 8}, "memory must be a whole number of at least"),
        (BackretrievalRequest, {"keep_epoch": 3}, "unknown option 'keep_epoch'"),
        (TripletRequest, {"log-to": [3]}, "log-to is not what it must be"),
    ],
)
def test_wrong_requests(kind, given, message):
    with pytest.raises(InputError) as caught:
        read(kind, given, "file")
    assert message in str(caught.value)


def test_texts_of_the_command_line_are_read_in_files_too():
    found = read(
        BackretrievalRequest,
        {
            "manifest": "m",
            "text-encoder": ["a"],
            "image-encoder": "i",
            "memory": "8GiB",
            "pair": "en-de,de-en",
        },
    )
    assert found.ranking.memory == 8 << 30 and found.sampling.pairs == ("en-de", "de-en")
    assert read(DualEncoderRequest, {"pool": "p", "out": "o", "ngrams": "none"}).model.ngrams is None


def test_a_constructor_checks_too():
    with pytest.raises(InputError, match="seed must be a whole number of at least 0, found -1"):
        CompareRequest(results=("folder",), seed=-1)


@pytest.mark.parametrize(("content", "message"), [("epochs 3", "is not valid TOML"), (b"\xff", "not valid")])
def test_files_that_are_no_toml(tmp_path, content, message):
    path = tmp_path / "x.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_toml(path)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none\.toml"):
        read_toml(tmp_path / "none.toml")
