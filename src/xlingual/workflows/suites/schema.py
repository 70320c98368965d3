"""The JSON Schema of a suite, for editors: made of the requests that its tables are."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from xlingual.requests import Request, leaves, schema
from xlingual.requests.comparing import CompareRequest, GateRequest
from xlingual.tasks import TASKS, load
from xlingual.workflows.suites.reading import OWN

_TEXTS = {"type": "array", "items": {"type": "string"}}
_SOME = {"anyOf": [{"type": "string"}, _TEXTS]}
_SPECS = {
    "anyOf": [{"type": "object", "additionalProperties": {"type": "string"}}, _TEXTS],
}


def suite_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a suite. Names of options may also be written with _."""
    requests = {name: load(task.request) for name, task in TASKS.items()}
    every = _options(requests.values())
    encoders = _SPECS | {"description": "Encoders by name, NAME = SPEC, or a list of specs."}
    runs = _SPECS | {"description": "Search systems by name: files of their results."}
    data = _options(requests.values(), data=True) | {
        "encoders": encoders | {"description": "Encoders of this data set alone."},
        "runs": runs,
        "tasks": _SOME
        | {"description": "The tasks that it takes part in; otherwise all that read its kind."},
    }
    choice = {
        "data": _SOME | {"description": "The data sets; otherwise all."},
        "tasks": _SOME | {"description": "The tasks; otherwise all."},
    }
    names = [word for name, task in TASKS.items() for word in (name, *task.short)]
    one_task = {
        "type": "object",
        "properties": every
        | {"task": {"enum": names, "description": "Which task it is, where its name does not say."}},
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "xlingual suite",
        "description": "Data sets, encoders, tasks, comparisons and gates: what xlingual run computes.",
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "Title of the page over all."},
            "out": {"type": "string", "default": "results", "description": "Folder of the results."},
            "options": _table(every, "Options of all evaluations that have them."),
            "encoders": encoders,
            "runs": runs,
            "data": _named(
                _table(data, "A data set: manifest, pool or files, how it is read, and options.")
                | {"oneOf": [{"required": [name]} for name in ("manifest", "pool", "files")]}
            ),
            "tasks": {"anyOf": [_named(one_task), _TEXTS]},
            "comparisons": _named(
                _table(_deciding(CompareRequest) | choice, "Who is better, and is it real?")
            ),
            "gates": _named(
                _table(_deciding(GateRequest) | choice, "May the candidate replace the baseline?")
                | {"required": ["candidate", "baseline", "margin"]}
            ),
        },
        "required": ["data", "tasks"],
        "additionalProperties": False,
    }


def _options(kinds: Iterable[type[Request]], *, data: bool = False) -> dict[str, Any]:
    """Return the options of some requests, each as the first of them describes it."""
    found: dict[str, Any] = {}
    hidden = OWN | {"command"} | (set() if data else {"manifest", "pool", "files"})
    for kind in kinds:
        for name, one in schema(kind)["properties"].items():
            if name not in hidden:
                _add(found, kind, name, one)
    return found


def _deciding(kind: type[Request]) -> dict[str, Any]:
    hidden = OWN | {"command", "results", "task"}
    found: dict[str, Any] = {}
    for name, one in schema(kind)["properties"].items():
        if name not in hidden:
            _add(found, kind, name, one)
    return found


def _add(found: dict[str, Any], kind: type[Request], name: str, one: dict[str, Any]) -> None:
    """Add an option under each of its names; where requests differ, the values of any will do."""
    spelled = sorted(leaves(kind)[name].spellings)
    for written in dict.fromkeys((*(word.replace("_", "-") for word in spelled), *spelled)):
        known = found.setdefault(written, deepcopy(one))
        known.pop("default", None)
        if _types(known) != _types(one):
            kinds = known.get("anyOf", [_types(known)])
            described = {"description": known["description"]} if "description" in known else {}
            found[written] = described | {"anyOf": [*kinds, *(k for k in [_types(one)] if k not in kinds)]}


def _types(one: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in one.items() if name not in ("description", "default")}


def _table(properties: dict[str, Any], sentence: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": sentence,
        "properties": properties,
        "additionalProperties": False,
    }


def _named(table: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "minProperties": 1, "additionalProperties": table}
