"""What an analysis refuses, in one line that says what to do."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.errors import InputError
from xlingual.study.analysis import analyse

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))


@pytest.fixture
def study():
    return rated.study_of()


def refused(match, *arguments, **options):
    with pytest.raises(InputError, match=match) as error:
        analyse(*arguments, **options)
    assert "\n" not in str(error.value)


def ones(study, **options):
    return rated.rate(study[0], lambda *_: 1, **options)


@pytest.mark.parametrize("options", [{"level": 1.0}, {"level": 0.0}, {"replicates": 0}])
def test_options_out_of_range(study, options):
    refused("expected", *study, ones(study), **options)
