"""JSON Schemas of the files of results, made of their records: `python -m xlingual.results.schemas [NAME]`.

The records define the fields of a file, their limits and their descriptions; here they are only converted.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results.files import to_json
from xlingual.results.views import VIEWS

KINDS: Mapping[str, str] = {  # where the record of each kind of file is
    "results": "xlingual.results.evaluation:ResultsFile",
    "validation": "xlingual.results.validation:Validation",
    "validation_table": "xlingual.papers.table1:ValidationTable",
    "comparison": "xlingual.results.comparison:Comparison",
    "leaderboard": "xlingual.results.leaderboard:Leaderboard",
    "gate": "xlingual.results.gate:Gate",
    "plan": "xlingual.results.plan:Plan",
    "history": "xlingual.results.history:Trend",
    "repair": "xlingual.results.repair:Repair",
    "pivot": "xlingual.results.pivot:Pivot",
    "inspection": "xlingual.results.inspection:Inspection",
    "paper_study": "xlingual.papers.findings:StudyFindings",
    "study": "xlingual.study.records:Study",
    "study_key": "xlingual.study.records:StudyKey",
    "study_answers": "xlingual.study.records:Answers",
    "study_analysis": "xlingual.results.study:StudyAnalysis",
    "suite": "xlingual.results.suite:Suite",
    "step": "xlingual.results.step:Step",
    "rerank-weights": "xlingual.nbest.tune:Weights",
    "rerank-scores": "xlingual.nbest.score:Scores",
}


def kind_of(name: str) -> type[msgspec.Struct]:
    """Return the record of a kind of file; raise InputError where there is none of that name."""
    if name not in KINDS:
        near = did_you_mean(name, KINDS) or f" Known are {listed(KINDS, most=len(KINDS))}."
        raise InputError(f"there is no kind of results {name!r}.{near}")
    module, _, attribute = KINDS[name].partition(":")
    kind: type[msgspec.Struct] = getattr(import_module(module), attribute)
    return kind


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file by its name: results, gate and so on."""
    found = msgspec.json.schema(kind_of(name))
    for one in found["$defs"].values():
        if "views" in one["properties"]:
            del one["properties"]["views"]["anyOf"]
            one["allOf"] = [  # rows of a task have views of its kind, or none
                {
                    "if": {"properties": {"task": {"const": task}}},
                    "then": {
                        "properties": {
                            "views": {"anyOf": [{"$ref": f"#/$defs/{kind.__name__}"}, {"type": "null"}]}
                        }
                    },
                }
                for task, kind in VIEWS.items()
            ]
    for kind in VIEWS.values():
        if kind.__name__ in found["$defs"]:  # the row has their task
            found["$defs"][kind.__name__]["properties"].pop("task")
            found["$defs"][kind.__name__]["required"].remove("task")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def main() -> None:
    """Print the schema of the kind that was named, or all of them by name."""
    names = sys.argv[1:]
    try:
        found = schema_of(names[0]) if names else {name: schema_of(name) for name in KINDS}
    except InputError as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(to_json(found))


if __name__ == "__main__":
    main()
