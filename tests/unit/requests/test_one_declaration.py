"""One declaration adds an option everywhere: help, files, provenance and schema."""

from __future__ import annotations

import json
from typing import Annotated

import click
import pytest
from click.testing import CliRunner

from xlingual.cli.from_request import RequestCommand, command, keywords
from xlingual.errors import InputError
from xlingual.requests import Request, argument, option, read, schema, signed, values
from xlingual.requests.comparing import PlanRequest
from xlingual.requests.reading import read_toml
from xlingual.requests.record import Record
from xlingual.requests.values import Positive
from xlingual.results import Results


class Depths(Record, frozen=True, kw_only=True):
    heading = "How deep"

    depth: Annotated[Positive, option("How deep the toy digs.", metavar="N")] = 3


class ToyRequest(PlanRequest, frozen=True, kw_only=True):
    """A toy."""

    command = "toy"

    colour: Annotated[str, option("The colour of the toy.")] = "red"
    password: Annotated[str | None, option("Opens the box of the toy.", secret=True)] = None
    seats: Annotated[int, option("Seats for those who watch.", run=True)] = 2
    depths: Depths


def answered(*arguments: str) -> ToyRequest:
    asked: list[ToyRequest] = []

    @command(ToyRequest)
    def toy(request: ToyRequest) -> None:
        asked.append(request)

    done = CliRunner().invoke(toy, ["folder", "--effect", "0.1", *arguments])
    if done.exception and isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return asked[0]


def test_a_field_is_an_option_with_its_sentence_default_and_heading():
    shown = RequestCommand(ToyRequest, lambda asked: None).get_help(click.Context(click.Command("toy")))
    " ".join(shown.split())
    asked = answered("--colour", "blue", "--depth", "5")
    assert asked.colour == "blue" and asked.depths == Depths(depth=5)
    assert answered("--colour", "green").colour == "green"


def test_a_field_is_a_key_of_a_file(tmp_path):
    path = tmp_path / "toy.toml"
    path.write_text('results = ["folder"]\neffect = 0.1\ncolour = "blue"\ndepth = 5\n')
    asked = read(ToyRequest, read_toml(path), str(path))
    assert asked == answered("--colour", "blue", "--depth", "5")
    with pytest.raises(InputError, match=r"toy: unknown option 'colours'. Did you mean 'colour'\?"):
        read(ToyRequest, {"results": ["folder"], "effect": 0.1, "colours": "blue"}, "toy")


def test_a_field_is_in_the_schema():
    found = schema(ToyRequest)
    assert found["properties"]["colour"] == {
        "description": "The colour of the toy.",
        "type": "string",
        "default": "red",
    }
    assert found["properties"]["depth"]["minimum"] == 1 and found["properties"]["command"]["enum"] == ["toy"]
    assert found["additionalProperties"] is False and found["required"] == ["command", "results", "effect"]
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(schema(ToyRequest)))


def test_a_field_is_kept_as_how_a_result_was_made():
    found = signed(Results([], [], None), answered("--colour", "blue", "--password", "x", "--seats", "4"))
    assert found.request == {
        "command": "toy",
        "results": ["folder"],
        "effect": 0.1,
        "power": 0.8,
        "alpha": 0.05,
        "colour": "blue",
        "depth": 3,
    }
    assert found.run["seats"] == 4 and "date" in found.run and found.run["xlingual"]
    assert "colour" not in found.run and "password" not in {**found.run, **found.request}


def test_values_and_keywords_see_the_records_inside():
    asked = answered("--depth", "7")
    assert values(asked)["depth"] == 7

    def dig(depth: int, colour: str) -> None: ...

    assert keywords(asked, dig) == {"depth": 7, "colour": "red"}


def test_a_field_must_be_described():
    class Bare(Request, frozen=True, kw_only=True):
        command = "bare"
        what: int = 0

    with pytest.raises(TypeError, match="'what' of a request has no description"):
        schema(Bare)
    assert argument("FILE", "A file.").description == "A file."
