"""What an analysis refuses, in one line that says what to do."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from msgspec import structs
from msgspec.structs import replace

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


def test_no_ratings(study):
    refused("no ratings yet", *study, [])


def test_no_whole_page(study):
    skip = {f"q{q}b0" for q in range(4)}
    refused("all suggestions of any query", *study, ones(study, skip=skip))


def test_repeats_alone_are_no_page(study):
    refused("all suggestions of any query", *study, ones(study, occasion=1))


def test_a_key_of_another_study(study):
    refused("not of 's1'", study[0], structs.replace(study[1], study="other"), ones(study))


def test_ratings_of_another_study(study):
    strange = replace(ones(study)[0], suggestion="elsewhere")
    refused("'elsewhere'.*does not have", *study, [strange])
    refused("'q9'.*does not have", *study, [replace(strange, query="q9")])


def test_a_score_that_is_none(study):
    refused("score 5: expected 1 to 4", *study, [replace(ones(study)[0], score=5)])


def test_one_system(study):
    alone = rated.study_of(systems=("a",))
    refused("two or more", *alone, ones(alone))


def test_a_system_without_suggestions(study):
    key = structs.replace(study[1], systems={**study[1].systems, "c": "sig"})
    refused("no suggestion of system 'c' to query 'q0'", study[0], key, ones(study))
    refused("no suggestion of system 'a'", study[0], structs.replace(study[1], credits={}), ones(study))


@pytest.mark.parametrize("options", [{"level": 1.0}, {"level": 0.0}, {"replicates": 0}])
def test_options_out_of_range(study, options):
    refused("expected", *study, ones(study), **options)
