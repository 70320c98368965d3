"""JSON Schemas of weights and scores: every key is described, and what is written follows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from xlingual.nbest import score, weights
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira
from xlingual.nbest.tune import tune
from xlingual.results.schemas import schema_of

MODULES = {"rerank-weights": weights, "rerank-scores": score}
RECORDS = {
    "rerank-weights": weights.Weights,
    "rerank-scores": score.Scores,
}


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
            tune(lists, [references], Mira(epochs=2, shuffle=False), standardize=True),
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
    whole = schema["$defs"][RECORDS[name].__name__]
    assert whole["properties"]["schema"]["enum"] == [MODULES[name].SCHEMA]
    validate = jsonschema.Draft202012Validator(schema).validate
    for content in made[name]:
        written = json.loads(json.dumps(content, allow_nan=False))
        validate(written)
        validate(written | {"new": {"any": "thing"}})
        with pytest.raises(jsonschema.ValidationError):
            validate(written | {"schema": f"xlingual/{name}/2"})
        for key in whole["required"]:
            for broken in ({**written, key: {"not": [None]}}, {k: v for k, v in written.items() if k != key}):
                if key != "settings" or key not in broken:  # settings are what the algorithm has
                    with pytest.raises(jsonschema.ValidationError):
                        validate(broken)


@pytest.mark.parametrize("name", RECORDS)
def test_reading_gives_back_what_was_written(
    made: dict[str, list[dict[str, Any]]], name: str, tmp_path: Path
) -> None:
    for content in made[name]:
        (tmp_path / "file").write_text(json.dumps(content), encoding="utf-8")
        assert RECORDS[name].read(tmp_path / "file").to_dict() == content


def test_the_cases_have_what_may_lack_and_lack_it(made: dict[str, list[dict[str, Any]]]) -> None:
    full, short = made["rerank-weights"]
    assert full["cross_validated"] and short["cross_validated"] is None and short["notes"]
    full, short = made["rerank-scores"]
    assert {one["kind"] for one in full["systems"]} == {"baseline", "system", "bound"}
    assert full["mean"] and full["test"] and not short["mean"] and short["test"] is None
