"""JSON Schemas of weights, scores and ablations: every key is described, and what is written follows them."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import MISSING, fields
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pytest

from xlingual.nbest import ablation, score, weights
from xlingual.nbest.ablation import ablate
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira
from xlingual.nbest.paired import Difference
from xlingual.nbest.pro import Pro
from xlingual.nbest.tune import tune
from xlingual.results import Interval

SPREAD, BOUNDS, INTERVAL = (weights.Spread, "spread"), (weights.Bounds, "bounds"), (Interval, "interval")
RECORDS: dict[str, tuple[Any, set[str], list[tuple[type, str]]]] = {
    "rerank-weights": (weights.Weights, {"weights"}, [(weights.Tuning, "tuning"), SPREAD, BOUNDS]),
    "rerank-scores": (
        score.Scores,
        set(),
        [(score.System, "system"), (score.Score, "score"), INTERVAL, SPREAD],
    ),
    "rerank-ablation": (
        ablation.Ablation,
        set(),
        [(ablation.Left, "left"), (Difference, "difference"), SPREAD, BOUNDS, INTERVAL],
    ),
}
MODULES = {"rerank-weights": weights, "rerank-scores": score, "rerank-ablation": ablation}
OBJECTS = [
    (name, definition, kind)
    for name, (whole, _, parts) in RECORDS.items()
    for kind, definition in ((whole, None), *parts)
]


def schema_of(name: str) -> dict[str, Any]:
    path = files("xlingual") / "results" / "schemas" / f"{name}-1.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


def described(name: str, definition: str | None) -> dict[str, Any]:
    schema = schema_of(name)
    return schema if definition is None else schema["$defs"][definition]


@pytest.fixture(scope="module")
def made() -> dict[str, list[dict[str, Any]]]:
    """Return what the program writes: several of each kind, with and without what may lack."""
    random = np.random.default_rng(0)
    words = np.array(["ein", "das", "haus", "und", "baum", "ist", "da", "."])
    references, texts, features = [], [], []
    for _ in range(12):
        reference = random.choice(words, 8)
        references.append(" ".join(reference))
        for _ in range(4):
            hypothesis = np.where(random.random(8) < random.random(), random.choice(words, 8), reference)
            texts.append(" ".join(hypothesis))
            features.append([(hypothesis == reference).sum() + random.normal(), random.normal()])
    lists = NBestLists(
        texts, np.array(features), random.normal(size=48), np.arange(0, 49, 4), (("good", 1), ("tm", 1))
    )
    found: dict[str, list[Any]] = {
        "rerank-weights": [
            tune(lists, [references], Mira(epochs=3), folds=3),
            tune(lists, [references], Pro(), standardize=True),
        ],
        "rerank-ablation": [
            ablate(lists, [references], Mira(epochs=3), folds=3),
            ablate(lists, [references], Pro(), other=(lists, [references]), without=[["tm"]]),
        ],
    }
    pytest.importorskip("sacrebleu")
    own = {name: texts[place::4] for place, name in enumerate(("a", "b"))}
    found["rerank-scores"] = [
        score.score(own, [references], baseline=("base", texts[3::4]), lists=lists, samples=20),
        score.score({"a": own["a"]}, [references], samples=20),
    ]
    return {name: [one.to_dict() for one in records] for name, records in found.items()}


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_written_follows_the_schema(made: dict[str, list[dict[str, Any]]], name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"]["const"] == MODULES[name].SCHEMA
    validate = jsonschema.Draft202012Validator(schema).validate
    for content in made[name]:
        written = json.loads(json.dumps(content, allow_nan=False))
        validate(written)
        validate(written | {"new": {"any": "thing"}})
        with pytest.raises(jsonschema.ValidationError):
            validate(written | {"schema": f"xlingual/{name}/2"})
        for key in schema["required"]:
            for broken in ({**written, key: {"not": [None]}}, {k: v for k, v in written.items() if k != key}):
                if key != "settings" or key not in broken:  # settings are what the algorithm has
                    with pytest.raises(jsonschema.ValidationError):
                        validate(broken)


def test_the_cases_have_what_may_lack_and_lack_it(made: dict[str, list[dict[str, Any]]]) -> None:
    full, short = made["rerank-weights"]
    assert full["cross_validated"] and short["cross_validated"] is None and short["notes"]
    assert full["tunings"][0]["epoch"] and short["tunings"][0]["epoch"] is None
    full, short = made["rerank-scores"]
    assert {one["kind"] for one in full["systems"]} == {"baseline", "system", "bound"}
    assert full["mean"] and full["test"] and not short["mean"] and short["test"] is None


@pytest.mark.parametrize(("name", "definition", "kind"), OBJECTS)
def test_every_key_is_described(name: str, definition: str | None, kind: type) -> None:
    one = described(name, definition)
    more = {"schema", *RECORDS[name][1]} if definition is None else set()
    assert set(one["properties"]) == {field.name for field in fields(kind)} | more
    assert all(key.get("description") for key in one["properties"].values())
    without_default = {f.name for f in fields(kind) if f.default is f.default_factory is MISSING}
    assert set(one["required"]) == without_default | more


@pytest.mark.parametrize(("name", "definition", "kind"), OBJECTS)
def test_null_is_allowed_exactly_where_the_record_allows_it(
    name: str, definition: str | None, kind: type
) -> None:
    properties = described(name, definition)["properties"]
    for key, hint in typing.get_type_hints(kind).items():
        whole = {"$defs": schema_of(name)["$defs"], **properties[key]}
        takes = jsonschema.Draft202012Validator(whole).is_valid(None)
        optional = isinstance(hint, types.UnionType) and type(None) in typing.get_args(hint)
        assert takes is optional, key
