"""The published JSON Schema of results.json, against results as the program writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from msgspec.structs import fields

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.distance_correlation import distance_correlation
from xlingual.evaluation.image_sentence import image_sentence
from xlingual.results import SCHEMA, Behind, Entry, Interval, Results, Summary
from xlingual.results.schemas import schema_of
from xlingual.results.views import Against, ImageSentenceViews, PoolViews, StsViews


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return schema_of("results")


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


class Given:
    """Vectors by id; a constant encoder where there is no noise."""

    def __init__(self, name: str, noise: float) -> None:
        self.name, self.identity, self.noise = name, f"given:{name}", noise

    def encode(self, batch: Any) -> np.ndarray:
        rng = np.random.default_rng(len(batch))
        ideal = np.eye(40)[[int(row[2:]) for row in batch.ids]]
        return ideal + self.noise * rng.standard_normal(ideal.shape) if self.noise >= 0 else ideal * 0 + 1


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return Manifest.of(
        [
            {"id": f"{lang}{i}", "lang": lang, "text": f"{lang} {i}", "item": i}
            for i in range(40)
            for lang in ("en", "de")
        ]
    )


@pytest.fixture(scope="module")
def runs(manifest: Manifest) -> dict[str, Results]:
    texts = [Given("good", 0.1), Given("bad", 1.0), Given("constant", -1.0)]
    images = Given("images", 0.05)
    names = ("R@5", "RR", "MedR")
    return {
        "bkr": backretrieval(manifest, text_encoders=texts, image_encoder=images, measures=names, seeds=2),
        "xlr": crosslingual_retrieval(manifest, text_encoders=texts, measures=names),
        "corr": distance_correlation(manifest, text_encoders=texts, image_encoder=images),
        "ranking": image_sentence(
            manifest,
            text_encoders=texts,
            image_encoders=images,
            baselines="bad",
            fold=40,
        ),
    }


@pytest.mark.parametrize("task", ["bkr", "xlr", "corr", "ranking"])
def test_results_of_every_task_follow_the_schema(
    validator: jsonschema.Draft202012Validator, runs: dict[str, Results], task: str, tmp_path: Path
) -> None:
    runs[task].write(tmp_path)
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert content["results"] and content["summary"] and content["timings"]
    validator.validate(content)
    read = Results.read(tmp_path)
    assert (read.entries, read.summary) == (runs[task].entries, runs[task].summary)
    assert read.to_dict() | {"files": content["files"]} == content


def test_missing_values_follow_the_schema(
    validator: jsonschema.Draft202012Validator, runs: dict[str, Results]
) -> None:
    missing = [entry for entry in runs["corr"].entries if entry.value is None]
    assert missing and all(entry.note for entry in missing)
    validator.validate(runs["corr"].to_dict())


@pytest.mark.parametrize(
    ("record", "definition"),
    [
        *((Entry, "Entry"), (Summary, "Summary"), (Interval, "Interval"), (Behind, "Behind")),
        (PoolViews, "PoolViews"),
        *((ImageSentenceViews, "ImageSentenceViews"), (StsViews, "StsViews"), (Against, "Against")),
    ],
)
def test_schema_describes_every_key(schema: dict[str, Any], record: type, definition: str) -> None:
    described = schema["$defs"][definition]["properties"]
    assert list(described) == [field.name for field in fields(record)]
    assert all(key.get("description") for key in described.values())


def test_views_are_those_of_the_task_of_their_row(
    validator: jsonschema.Draft202012Validator, runs: dict[str, Results]
) -> None:
    content = json.loads(json.dumps(runs["ranking"].to_dict()))
    row = next(row for row in content["results"] if row["views"])
    row["views"]["macro"] = "of another task"
    validator.validate(content)
    row["views"]["against"] = 0.5
    assert not validator.is_valid(content)


def test_schema_names_the_version(schema: dict[str, Any]) -> None:
    assert schema["$defs"]["ResultsFile"]["properties"]["schema"]["enum"] == [SCHEMA]


def test_added_keys_are_allowed_everywhere(
    validator: jsonschema.Draft202012Validator, runs: dict[str, Results]
) -> None:
    content = json.loads(json.dumps(runs["bkr"].to_dict()))
    content["new"] = 1
    for row in (content["results"][0], content["summary"][0], content["results"][0]["ci"]):
        row["new"] = {"any": "thing"}
    validator.validate(content)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.update(schema="xlingual/results/2"),
        lambda content: content.pop("results"),
        lambda content: content["results"][0].pop("signature"),
        lambda content: content["results"][0].update(value="0.5"),
        lambda content: content["results"][0].update(seed=-1),
        lambda content: content["results"][0].update(n_tied=1.5),
        lambda content: content["results"][0]["ci"].pop("low"),
        lambda content: content["summary"][0].update(behind={"leader": "good"}),
        lambda content: content["timings"].update(text="fast"),
    ],
)
def test_what_is_not_a_result_is_refused(
    validator: jsonschema.Draft202012Validator, runs: dict[str, Results], spoil: Any
) -> None:
    content = json.loads(json.dumps(runs["bkr"].to_dict()))
    spoil(content)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(content)
