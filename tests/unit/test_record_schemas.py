"""JSON Schemas of validation, comparison, gate, plan and studies: their files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from xlingual import (
    Comparison,
    Gate,
    InputError,
    Leaderboard,
    Manifest,
    Plan,
    Validation,
    ValidationTable,
    compare,
    crosslingual_retrieval,
    gate,
    leaderboard,
    plan,
    repair_encoder,
    validate_backretrieval,
    validation_table,
)
from xlingual.papers import findings as papers
from xlingual.results import Interval
from xlingual.results import study as analyses
from xlingual.results.repair import Repair
from xlingual.results.runs import Gain, OfRuns
from xlingual.results.schemas import KINDS, kind_of, schema_of

ITEMS = 60
RECORDS = {
    "validation": Validation,
    "validation_table": ValidationTable,
    "comparison": Comparison,
    "leaderboard": Leaderboard,
    "gate": Gate,
    "plan": Plan,
    "repair": Repair,
    "paper_study": papers.StudyFindings,
    "study_analysis": analyses.StudyAnalysis,
}
FILES = {"study_analysis": analyses.StudyAnalysis.file}  # the others are named after their record


def validator_of(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(name))


class Given:
    """Vectors that point to their item, with noise of a size."""

    def __init__(self, name: str, noise: float) -> None:
        self.name, self.identity, self.noise = name, f"given:{name}", noise

    def encode(self, batch: Any) -> np.ndarray:
        ideal = np.eye(ITEMS)[[int(row[2:]) for row in batch.ids]]
        rng = np.random.default_rng([len(batch), len("".join(batch.language)), int(100 * self.noise)])
        return ideal + self.noise * rng.standard_normal(ideal.shape)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Return records that the program makes, several of each kind, with and without numbers."""
    rows = [
        {"id": f"{lang}{i}", "lang": lang, "text": f"{lang} {i}", "item": i, "half": i % 2}
        for i in range(ITEMS)
        for lang in ("en", "de")
    ]
    manifest = Manifest.of(rows)
    texts = [Given(f"{letter}{i}", 0.15 + 0.06 * i) for i, letter in enumerate("abcdefghij")]
    given = {"image_encoder": Given("images", 0.1), "measure": "R@5"}
    folder = str(tmp_path_factory.mktemp("results"))
    crosslingual_retrieval(manifest, text_encoders=[*texts[:2], *texts[8:]], measures=["R@1", "RR"]).write(
        folder
    )
    best, same, worst = f"{folder}#a0", f"{folder}#b1", f"{folder}#j9"
    full = validate_backretrieval(
        manifest, text_encoders=texts, pairs="en-de", both_directions=True, seeds=3, sample=20,
        family="^.", **given,
    )  # fmt: skip
    short = validate_backretrieval(manifest, text_encoders=texts[:3], pairs="en-de", seeds=1, **given)
    return {
        "validation": [full, short],
        "validation_table": [validation_table({"a": full, "b": short}), validation_table({"b": short})],
        "comparison": [
            compare([folder], by=["half"], per_pair=True, margin=0.05),
            compare([folder], baseline=best, correction="none"),
        ],
        "leaderboard": [leaderboard([folder], per_pair=True), leaderboard([best], measures=["RR", "R@1"])],
        "gate": [
            gate(best, worst, margin=0.01, measure="RR"),
            gate(same, best, margin=0.01, measure="R@1"),
            gate(worst, best, margin=0.01, per_pair=True),
        ],
        "plan": [
            plan([folder], effect=0.05, queries=[100, 1000]),
            plan([folder], effect=0.05, measure="RR"),
        ],
        "repair": [
            repair_encoder(manifest, texts[8], hubs=False, store=None).found,
            repair_encoder(manifest.part(np.arange(50)), texts[1], hubs=False, store=None).found,
        ],
        "paper_study": _paper_studies(),
        "study_analysis": _analyses(),
    }


def _paper_studies() -> list[Any]:
    """Return studies of papers with everything that one can have, and with as little as can be."""
    ci = Interval(0.1, 0.2, 0.95, "t, 1-way clusters and 2 trainings")
    gain = Gain(0.1, ci, 0.01, 0.02)
    scores = {"a": OfRuns(0.2, [0.1, 0.3], 0.1, ci, gain), "b": OfRuns(0.1, [0.1])}
    row = papers.StudyRow("T", "R@1", 9, scores, 0.1)
    tested = papers.StudyDifference(
        *("a", "b", "T", "R@1", "all", True, 0.1, ci, 0.01, 0.02, [0.0, 0.2], "better")
    )
    untested = papers.StudyDifference(
        *("a", "chance", "T", "R@1", "c", False, 0.1, None, None, None, [0.1], "cannot tell", "too few")
    )
    training = papers.StudyTraining("a", "a-0", 0, "model:a", 3, 2, 0.5, 1.5)
    table = papers.StudyTable("T", "All", "b", "R@1", "More.", "boxes", 2)
    full = papers.StudyFindings(
        "mlmme", "A study", ["a", "b"], 2, [table], [row],
        [tested, untested], [training], {"data": "abc"}, {"items": 9}, {"BkR": "It is."},
        ["A note."], ["a warning"], {"train": 1.5},
    )  # fmt: skip
    bare = papers.StudyTable("T", "t", "b")
    few = papers.StudyFindings("x", "A", ["b"], 1, [bare], [], [], [], {}, {}, {}, [])
    return [full, few]


def _analyses() -> list[Any]:
    """Return analyses of a study with everything that one can have, and with as little as can be."""
    ci = Interval(0.5, 1.5, 0.95, "bootstrap")
    systems = [
        analyses.SystemScores("a", 1.0, ci, 0.2, 2.5, ci, [10, 5, 3, 2], 20, 0.4),
        *(analyses.SystemScores(name, 0.0, None, 0.0, 3.5, None, [0, 0, 10, 10], 20) for name in ("b", "c")),
    ]
    even = (0.5, ci, 0.01, 0.02, 0.03)
    pairs = [
        analyses.PairDifference("a", "b", 2.0, ci, -1.0, ci, 5, 1, 2, *even, "better"),
        analyses.PairDifference(
            "b", "c", None, None, 0.0, ci, 0, 4, 0, *even, "no difference found", "neither has any"
        ),
    ]
    raters = [
        analyses.RaterScores("1", 20, 0, 2.5, 4, 0.5, 0.75, 2, 1.0, 3.5, "half of the repeats differ"),
        analyses.RaterScores("2", 20, 3, 2.0, 0, None, None, 0, None, None),
    ]
    bkr = [
        analyses.WithBkr("a", "b", "R@10", 0.1, ci, 0.3, ci, True),
        analyses.WithBkr("b", "c", "R@10", 0.0, None, None, None, None, "all values are equal"),
    ]
    names = ["Very relevant", "Relevant", "Hardly relevant", "Not relevant"]
    sizes = (20, 20, 40, 2, False)
    full = analyses.StudyAnalysis(
        "k3v9", "Recipes", "en", "ru", names, *sizes, systems, pairs, raters,
        analyses.RaterAgreement(0.4, ci, 20), 0.95,
        bkr, {"data": "abc"}, ["few raters"], 1, 999,
    )  # fmt: skip
    bare = analyses.StudyAnalysis(
        "k3v9", "", "en", "ru", names, *sizes, systems, [], raters[1:],
        analyses.RaterAgreement(None, None, 0, "one rater"), 0.95,
    )  # fmt: skip
    return [full, bare]


@pytest.mark.parametrize("name", RECORDS)
def test_what_the_program_makes_follows_the_schema(made: dict[str, list[Any]], name: str) -> None:
    for found in made[name]:
        validator_of(name).validate(json.loads(json.dumps(found.to_dict(), allow_nan=False)))


def test_the_cases_have_numbers_and_lack_some(made: dict[str, list[Any]]) -> None:
    assert {found.outcome for found in made["gate"]} >= {"pass", "fail"}
    full, short = made["validation"]
    assert len(full.pairs) == 2
    lacking = short.pairs[0].encoders[0].scores["XLR"]
    assert lacking.sd is None and lacking.note
    assert {found.k for found in made["plan"]} == {1, None}
    assert {board.column for board in made["comparison"][0].boards} == {None, "half"}


def test_validation_has_the_published_keys(made: dict[str, list[Any]]) -> None:
    content = made["validation"][0].to_dict()
    assert content["schema"] == "xlingual/validation/1"
    for pair in content["pairs"]:
        assert {"source", "target", "encoders", "subsets"} <= set(pair)
        for row in pair["encoders"]:
            assert {"XLR", "BkR", "SIM", "CORR"} <= set(row["scores"])
            assert all({"mean", "sd", "per_seed"} <= set(scores) for scores in row["scores"].values())
        assert set(pair["subsets"]) == {"all", "below", "above"}
        for subset in pair["subsets"].values():
            assert set(subset["agreement"]) == {"BkR", "SIM", "CORR"}
            assert set(subset["differences"]) == {"BkR-CORR", "BkR-SIM"}
            assert all(set(own) == {"pearson", "spearman"} for own in subset["agreement"].values())


def definitions(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each key of each record of a schema, as (record, key, what it must be)."""
    for name, one in schema["$defs"].items():
        yield from ((name, key, described) for key, described in one["properties"].items())


@pytest.mark.parametrize("name", KINDS)
def test_every_key_is_described(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    for record, key, described in definitions(schema):
        if key != "schema" and record != "PoolIntervals":  # the tag; named as numbers are
            assert described.get("description"), (record, key)


def test_a_schema_says_what_a_record_allows() -> None:
    keys = {(record, key): described for record, key, described in definitions(schema_of("gate"))}
    assert keys["Gate", "schema"] == {"enum": ["xlingual/gate/1"]}
    assert keys["Gate", "outcome"]["enum"] == ["pass", "fail", "cannot tell"]
    alpha = {name: value for name, value in keys["Gate", "alpha"].items() if name != "description"}
    assert alpha == {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    assert {"type": "null"} in keys["Decision", "source"]["anyOf"]
    assert "anyOf" not in keys["Decision", "ci"]
    needed = schema_of("gate")["$defs"]["Decision"]
    assert "note" not in needed["required"] and "low" in needed["required"]
    assert "additionalProperties" not in needed  # a later version may add keys


def test_every_kind_has_one_record_with_its_schema() -> None:
    tags = {name: kind_of(name).__struct_config__.tag for name in KINDS}
    assert tags == {name: f"xlingual/{name}/1" for name in KINDS}
    with pytest.raises(InputError, match=r"no kind of results 'gat'\. Did you mean 'gate'\?"):
        kind_of("gat")


def test_the_schemas_are_printed_on_request() -> None:
    command = [sys.executable, "-m", "xlingual.results.schemas"]
    one = subprocess.run([*command, "plan"], capture_output=True, check=True, text=True).stdout
    assert json.loads(one) == schema_of("plan")
    refused = subprocess.run([*command, "plans"], capture_output=True, check=False, text=True)
    assert refused.returncode == 1
    assert refused.stderr == "error: there is no kind of results 'plans'. Did you mean 'plan'?\n"


def written(found: Any, folder: Path) -> Path:
    """Write a record as its verb does and return the file."""
    name = next(name for name, kind in RECORDS.items() if type(found) is kind)
    path = folder / FILES.get(name, f"{name}.json")
    whole = ("validation", "validation_table", "comparison", "paper_study")
    whole += ("repair", "leaderboard")
    whole += ("study_analysis",)
    found.write(folder if name in whole else path)
    assert path.is_file()
    return path


@pytest.mark.parametrize("name", RECORDS)
def test_reading_gives_back_what_was_written(made: dict[str, list[Any]], name: str, tmp_path: Path) -> None:
    for found in made[name]:
        path = written(found, tmp_path)
        assert RECORDS[name].read(path) == found
        assert RECORDS[name].read(tmp_path) == found


def with_more(content: Any) -> Any:
    """Add a key to every record (not to a mapping that is keyed by the data)."""
    if isinstance(content, list):
        return [with_more(one) for one in content]
    if not isinstance(content, dict):
        return content
    more = {key: with_more(one) for key, one in content.items()}
    is_map = not content or all(isinstance(one, dict) for one in content.values())
    of_one_kind = any(all(isinstance(one, kind) for one in content.values()) for kind in (str, float, int))
    return more if is_map or of_one_kind else more | {"new": {"any": "thing"}}


@pytest.mark.parametrize("name", RECORDS)
def test_added_keys_are_allowed_and_passed_over(
    made: dict[str, list[Any]], name: str, tmp_path: Path
) -> None:
    found = made[name][0]
    content = json.loads(json.dumps(found.to_dict()))
    free = {key: content[key] for key in ("timings", "request", "run") if key in content}
    content = with_more(content) | free
    assert json.dumps(content).count('"new"') >= 3
    validator_of(name).validate(content)
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert RECORDS[name].read(path) == found


def changed(content: dict[str, Any], name: str, place: tuple[Any, ...], value: Any) -> str:
    """Return the JSON with the value at a place changed; None removes it."""
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    if value is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return json.dumps(content)


INNER = {
    "validation": ("pairs", 0, "encoders", 0, "scores", "BkR", "per_seed"),
    "validation_table": ("rows", 0, "n_seeds"),
    "comparison": ("boards", 0, "rows", 0, "outcome"),
    "leaderboard": ("columns", 0, "cells"),
    "gate": ("decisions", 0, "p_pass"),
    "plan": ("rows", 0, "variance_own"),
    "repair": ("languages", 0, "p_harmed"),
    "paper_study": ("trainings", 0, "epochs"),
    "study_analysis": ("systems", 0, "counts"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_damaged_files_are_one_line(made: dict[str, list[Any]], name: str, tmp_path: Path) -> None:
    path = written(made[name][0], tmp_path)
    text = path.read_text(encoding="utf-8")

    def content() -> dict[str, Any]:
        return json.loads(text)

    first, version = INNER[name][0], f"xlingual/{name}/1"
    cases = [
        (text.replace(version, f"xlingual/{name}/9"), f"xlingual/{name}/9.*another version"),
        (text.replace(version, "xlingual/other/1"), "xlingual/other/1.*give what was written"),
        (text[: len(text) // 2], "not valid JSON"),
        ("[]", "holds no results"),
        (changed(content(), name, (first,), None), f"the field '{first}' is missing"),
        (changed(content(), name, INNER[name], None), f"the field '.*{INNER[name][-1]}' is missing"),
        (changed(content(), name, (first,), "text"), f'{first} must be a.* found "text"'),
        (changed(content(), name, INNER[name][:2], "text"), 'must be an object, found "text"'),
    ]
    for damaged, words in cases:
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match=words) as raised:
            RECORDS[name].read(path)
        assert str(raised.value).startswith(str(path)) and "\n" not in str(raised.value)
        assert "xlingual " in str(raised.value) or damaged == "[]"
    path.unlink()
    with pytest.raises(InputError, match="is missing: give what was written by xlingual"):
        RECORDS[name].read(path)


@pytest.mark.parametrize("name", RECORDS)
def test_what_lacks_a_field_or_has_the_wrong_type_breaks_the_schema(
    made: dict[str, list[Any]], name: str
) -> None:
    content = json.dumps(made[name][0].to_dict())
    place = INNER[name]
    for value in (None, {"not": "a value"}):
        with pytest.raises(jsonschema.ValidationError):
            validator_of(name).validate(json.loads(changed(json.loads(content), name, place, value)))
    with pytest.raises(jsonschema.ValidationError):
        validator_of(name).validate(json.loads(content) | {"schema": f"xlingual/{name}/9"})
