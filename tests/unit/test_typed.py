"""Typed records from decoded JSON and TOML: what fits, and one line about what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from xlingual.errors import InputError
from xlingual.typed import convert, place_of

PART = {"low": 1, "high": 2}
Number = Annotated[float, Meta(gt=-1e100, lt=1e100)]


class Part(Struct, frozen=True):
    low: Number
    high: Number


class Cat(Struct, frozen=True, tag="cat", tag_field="kind"):
    lives: int


class Dog(Struct, frozen=True, tag="dog", tag_field="kind"):
    legs: int


class Whole(Struct, frozen=True, kw_only=True):
    part: Part | None = None
    parts: list[Part] = []
    named: dict[str, dict[str, Part]] = {}
    mood: Literal["good", "bad"] | None = None
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    at_least: Annotated[int, Meta(ge=2)] | None = None
    shown: bool = True
    four: Annotated[list[str], Meta(min_length=4, max_length=4)] | None = None
    two: tuple[int, str] = (1, "")
    digest: Annotated[str, Meta(pattern="^[0-9a-f]+$")] = "0"
    file: Path | None = None
    pet: Cat | Dog | None = None
    either: Number | int | None = None
    most: Annotated[float, Meta(le=1)] = 1.0


class Checked(Struct, frozen=True, forbid_unknown_fields=True):
    epochs: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed > self.epochs:
            raise InputError("seed is above epochs")


class Strict(Checked, frozen=True):
    inner: Checked = Checked()


def test_what_fits_is_a_record() -> None:
    content = {"part": {"low": 1, "high": 2.5, "later": 3}, "file": "a/b", "pet": {"kind": "dog", "legs": 4}}
    assert convert(content, Whole, where="x") == Whole(part=Part(1.0, 2.5), file=Path("a/b"), pet=Dog(4))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], "the content must be an object, found a list of 0"),
        ({"part": 3}, "part must be an object or null, found 3"),
        ({"part": {"low": 1}}, "the field 'part.high' is missing"),
        (
            {"parts": [{"low": 1, "high": 2}, {"low": "x", "high": 2}]},
            'parts[1].low must be a number, found "x"',
        ),
        ({"parts": {}}, "parts must be a list, found an object of 0"),
        (
            {"part": {"low": 10**400, "high": 2}},
            "part.low must be a number, found a number that is too large",
        ),
        ({"part": {"low": 1e300}}, "part.low must be a number, found a number that is too large"),
        ({"part": {"low": float("inf"), "high": 2}}, "part.low must be a number, found Infinity"),
        ({"part": {"low": True, "high": 2}}, "part.low must be a number, found true"),
        (
            {"named": {"en": {}, "de": {"a": PART, "b->c": {"low": 1, "high": None}}}},
            "named.de.b->c.high must be a number, found null",
        ),
        ({"named": {"en": {"a": {"low": 1}}}}, "the field 'named.en.a.high' is missing"),
        (
            {"named": {"en": {"a": PART}, "de": {"b": {"low": 1}}, "fr": {"c": 3}}, "level": 7},
            "the field 'named.de.b.high' is missing",
        ),
        ({"mood": "fair"}, 'mood must be "bad" or "good" or null, found "fair"'),
        ({"level": 2}, "level must be a number above 0 and below 1, found 2"),
        ({"at_least": 1}, "at_least must be a whole number of at least 2 or null, found 1"),
        ({"at_least": 2.0}, "at_least must be a whole number of at least 2 or null, found 2.0"),
        ({"shown": 1}, "shown must be true or false, found 1"),
        ({"four": ["a"]}, "four must be a list of 4 values or null, found a list of 1"),
        ({"two": [1, 2]}, "two[1] must be text, found 2"),
        ({"two": [1]}, "two must be a list of 2 values, found a list of 1"),
        ({"digest": "Z" * 50}, f'digest must be text like ^[0-9a-f]+$, found "{"Z" * 38}…'),
        ({"file": 3}, "file must be text or null, found 3"),
        (
            {"two": [1, "x"], "level": "\ud800", "file": "\ud800"},
            'level must be a number above 0 and below 1, found "?"',
        ),
        ({"most": 2.5}, "most must be a number of at most 1, found 2.5"),
        ({"pet": 3}, "pet must be an object or null, found 3"),
        ({"either": "x"}, 'either must be a number or null, found "x"'),
        ({"pet": {"kind": "cow"}}, 'pet.kind must be "cat" or "dog", found "cow"'),
        ({"pet": {"kind": "dog", "legs": "x"}}, 'pet.legs must be a whole number, found "x"'),
    ],
)
def test_what_does_not_fit_is_named(content: Any, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        convert(content, Whole, where="f.json", remedy="mend it")
    assert str(raised.value) == f"f.json: {problem}: mend it"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"inner": {"epoch": 3}}, "the field 'inner.epoch' is not known. Did you mean 'epochs'?"),
        ({"warmth": 3}, "the field 'warmth' is not known. Known are epochs, seed, inner"),
        ({"inner": {"seed": 3}}, "inner: seed is above epochs"),
        ({"seed": 3}, "seed is above epochs"),
    ],
)
def test_a_strict_record_refuses_names_that_it_does_not_know(content: Any, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        convert(content, Strict, where="f.toml")
    assert str(raised.value) == f"f.toml: {problem}"


def test_places_are_written_as_they_are_reached() -> None:
    assert place_of([]) == "" and place_of([2, "a", 0]) == "[2].a[0]"
