"""The comparisons and gates of a suite: a step for each evaluation that they choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.encoders.registry import entries
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.run_systems import joined
from xlingual.requests import Request, checked, made, values
from xlingual.requests.comparing import CompareRequest, GateRequest
from xlingual.workflows.suites.step import Step
from xlingual.workflows.suites.tables import named_tables, words

GROUPS: Mapping[str, type[Request]] = {"comparisons": CompareRequest, "gates": GateRequest}
_CHOICE = ("data", "tasks")  # keys that choose evaluations
_OWN = ("results", "task", "out", "form", "as_json", "quiet")


def deciding(tables: Mapping[str, Any], steps: Sequence[Step], where: str) -> Iterator[Step]:
    """Yield the steps of the comparisons and gates over evaluations."""
    for group in GROUPS:
        for called, part in named_tables(tables, group, where, least=0):
            yield from _steps(group, called, part, steps, where)


def _steps(
    group: str, called: str, part: Mapping[str, Any], steps: Sequence[Step], where: str
) -> Iterator[Step]:
    """Yield a comparison or gate for each evaluation that it chooses; encoders are named as in the suite."""
    at, kind = f"{where}: [{group}.{called}]", GROUPS[group]
    chosen = _chosen(part, steps, at)
    given = checked(kind, {name: value for name, value in part.items() if name not in _CHOICE}, at)
    for name in given:
        if name in _OWN:
            raise InputError(f"{at}: the suite gives {name!r} itself: leave it out")
    for step in chosen:
        sides = {
            name: _side(given[name], step, f"{at}: {name}")
            for name in ("candidate", "baseline")
            if given.get(name) is not None
        }
        own = {"results": (str(step.folder),)} if kind is CompareRequest else {}
        place = step.folder / group / called
        request = made(kind, {**given, **sides, **own, "out": place, "quiet": True}, at)
        yield Step(f"{step.name}/{group}/{called}", step.data, step.task, request, place, called)


def _chosen(part: Mapping[str, Any], steps: Sequence[Step], where: str) -> list[Step]:
    """Return the evaluations that the keys `data` and `tasks` of a table name; all without them."""
    found = list(steps)
    for key, attribute in (("data", "data"), ("tasks", "task")):
        if key not in part:
            continue
        names = words(part[key], key, where)
        known = list(dict.fromkeys(getattr(step, attribute) for step in steps))
        for name in names:
            if name not in known:
                near = f"{did_you_mean(name, known)} Known: {listed(known)}"
                raise InputError(f"{where}: {key} has {name!r}, which is not evaluated.{near}")
        found = [step for step in found if getattr(step, attribute) in names]
    if not found:
        raise InputError(f"{where} chooses no evaluation: change its data and tasks")
    return found


def _side(name: str, step: Step, where: str) -> str:
    """Return an encoder of an evaluation as DIR#ENCODER; what names other results stays as it is."""
    known = names_of(step.request)
    if name not in known:
        if "#" in name or Path(name).is_dir():
            return name
        if not any("*" in spec for spec in values(step.request)["text_encoders"]):
            near = f"{did_you_mean(name, known)} Known: {listed(known, 30)}; or results as DIR#ENCODER"
            raise InputError(f"{where}: no encoder {name!r} in {step.name}.{near}")
    return f"{step.folder}#{name}"


def names_of(request: Request) -> list[str]:
    """Return the names of the encoders and runs of an evaluation, but for those of patterns."""
    asked = values(request)
    specs = [spec for spec in asked["text_encoders"] if "*" not in spec]
    runs = asked.get("runs", ())
    return list(entries(joined(specs, runs), ())) if specs or runs else []
