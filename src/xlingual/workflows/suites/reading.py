"""Reading a suite: a TOML file becomes steps, each an ordinary request with a folder of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from xlingual.encoders.registry import entries
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.run_systems import joined
from xlingual.requests import Request, checked, leaves, made, values
from xlingual.requests.comparing import CompareRequest, GateRequest
from xlingual.requests.values import check
from xlingual.tasks import TASKS, Task, load
from xlingual.typed import convert

DATA = ("manifest", "pool", "files")  # one of them names the data of a data set
OWN = frozenset(  # options that a suite gives itself
    {"out", "report", "form", "as_json", "quiet", "text_encoders", "runs", "further"}
)
TABLES = ("options", "encoders", "runs", "data", "tasks", "comparisons", "gates")
_GROUPS: Mapping[str, type[Request]] = {"comparisons": CompareRequest, "gates": GateRequest}
_CHOICE = ("data", "tasks")  # keys of a comparison or gate that choose evaluations
_DECISION_OWN = ("results", "task", "out", "form", "as_json", "quiet")
_NAME = re.compile(r"\w[\w.-]*")
_Tables: TypeAlias = dict[str, dict[str, Any]]
_Specs: TypeAlias = dict[str, str] | list[str]  # NAME = SPEC, or a list of specs


class _Layout(Struct, forbid_unknown_fields=True):
    """The tables of a suite's file."""

    title: str = ""
    out: str = "results"
    options: dict[str, Any] = {}
    encoders: _Specs = {}
    runs: _Specs = {}
    data: _Tables = {}
    tasks: _Tables | list[str] | str = {}
    comparisons: _Tables = {}
    gates: _Tables = {}


@dataclass(frozen=True)
class Step:
    """One command of a suite: its request writes into a folder of its own."""

    name: str  # "products/bkr", "products/bkr/gates/new"
    data: str
    task: str  # as the suite calls it
    request: Request
    folder: Path
    label: str = ""  # of a comparison or gate: its name in the suite

    @property
    def kind(self) -> str:
        """What it is: evaluate, compare or gate."""
        return self.request.command.split()[0]


class Suite(Struct, frozen=True):
    """The steps of a suite, evaluations first."""

    title: str
    out: Path
    steps: tuple[Step, ...]

    def chosen(self, names: Sequence[str]) -> tuple[Step, ...]:
        """Return the steps that words name: a data set, a task, a comparison or gate, or a step itself."""
        for word in names:
            known = [name for step in self.steps for name in _names(step)]
            if word not in known:
                near = did_you_mean(word, known)
                raise InputError(
                    f"--only {word}: no such step.{near} Known: {listed(dict.fromkeys(known), 30)}"
                )
        return tuple(step for step in self.steps if not names or set(names) & set(_names(step)))


def is_suite(content: Mapping[str, Any]) -> bool:
    """Return whether the content of a TOML file is a suite, and not commands with their options."""
    tables = [part for name, part in content.items() if name in TABLES and not _is_command(part)]
    return bool(tables) and "command" not in content


def read_suite(
    content: Mapping[str, Any], where: str, *, out: Path | None = None, over: Mapping[str, Any] | None = None
) -> Suite:
    """Return the steps of a suite; `where` is its file, for errors.

    `out` and `over` (options of evaluations) win over the file. Every step is checked before any is run: a
    name that is not known, at whatever depth, raises InputError that names the nearest one.
    """
    layout = convert(content, _Layout, where=where)
    folder = out or Path(layout.out)
    tasks = _tasks(layout.tasks, where)
    if not layout.data or not tasks:
        raise InputError(f"{where} evaluates nothing: write a table [data.NAME] and a table [tasks.bkr]")
    sets = {
        name: _data_set(part, f"{where}: [data.{name}]", tasks)
        for name, part in _named(layout.data, "data", where).items()
    }
    _refuse_useless(layout.options, sets, tasks, where)
    steps: list[Step] = []
    for name, (part, its_tasks) in sets.items():
        for called in its_tasks:
            task, options = tasks[called]
            given = _evaluation(task, part, options, layout, over or {}, (where, name, called))
            place = folder / name / called
            request = _with_folder(task, given, place, f"{where}: [data.{name}] with [tasks.{called}]")
            steps.append(Step(f"{name}/{called}", name, called, request, place))
    if over:
        _refuse_unused(over, steps)
    decisions = [
        decision
        for group in _GROUPS
        for called, part in _named(getattr(layout, group), group, where).items()
        for decision in _decisions(group, called, part, steps, where)
    ]
    return Suite(layout.title or Path(where).stem, folder, (*steps, *decisions))


def _named(tables: _Tables, name: str, where: str) -> _Tables:
    """Return the tables; raise InputError where the name of one cannot be that of a folder."""
    for called in tables:
        if not _NAME.fullmatch(called):
            raise InputError(
                f"{where}: [{name}.{called!r}] is to be a folder: take letters, digits, '.', '-' and '_'"
            )
    return tables


def plain(name: str) -> str:
    """Return the name of an option with _ for -."""
    return name.replace("-", "_")


def _words(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def _specs(given: _Specs) -> list[str]:
    return given if isinstance(given, list) else [f"{name}={spec}" for name, spec in given.items()]


def _names(step: Step) -> tuple[str, ...]:
    return tuple(filter(None, (step.name, step.data, step.task, step.label)))


def _is_command(part: Any) -> bool:  # noqa: ANN401
    return not isinstance(part, dict | list) or "command" in part


def _tasks(given: _Tables | list[str] | str, where: str) -> dict[str, tuple[Task, dict[str, Any]]]:
    """Return the tasks by the suite's names for them, each with its options."""
    if not isinstance(given, dict):
        given = {name: {} for name in _words(given)}
    found = {}
    known = {word: task for task in TASKS.values() for word in (task.name, *task.short)}
    for called, part in _named(given, "tasks", where).items():
        at = f"{where}: [tasks.{called}]"
        wanted = check("task", part.get("task", called), str, at)
        if wanted not in known:
            raise InputError(
                f"{at}: no task {wanted!r}.{did_you_mean(wanted, known)} Known: {listed(known, 40)}; a table "
                f'of another name says which it is, as in task = "bkr"'
            )
        options = {name: value for name, value in part.items() if name != "task"}
        _refuse_own(options, at)
        found[called] = (known[wanted], options)
    return found


def _data_set(
    part: Mapping[str, Any], where: str, tasks: Mapping[str, tuple[Task, Any]]
) -> tuple[Mapping[str, Any], list[str]]:
    """Return a data set's table, and the tasks that it takes part in: all that read its kind of data."""
    kinds = [kind for kind in DATA if kind in part]
    if len(kinds) != 1:
        raise InputError(
            f"{where} names {' and '.join(kinds) or 'no data'}: give one of manifest, pool (questions and "
            "candidates) and files (of sentence pairs)"
        )
    fitting = [called for called, (task, _) in tasks.items() if kinds[0] in leaves(load(task.request))]
    chosen = _words(check("tasks", part.get("tasks", fitting), str | list[str], where))
    for called in chosen:
        if called not in tasks:
            raise InputError(
                f"{where}: no [tasks.{called}].{did_you_mean(called, tasks)} Known: {listed(tasks)}"
            )
        if called not in fitting:
            raise InputError(f"{where} has a {kinds[0]}, which {called} does not read: leave it out of tasks")
    if not chosen:
        raise InputError(f"{where} has a {kinds[0]}, and no task of this suite reads one: add [tasks.NAME]")
    options = {name: value for name, value in part.items() if name not in ("encoders", "runs", "tasks")}
    _refuse_own(options, where)
    _refuse_useless(options, {"": (part, chosen)}, tasks, where, "")
    return part, chosen


def _refuse_own(options: Mapping[str, Any], where: str) -> None:
    for name in options:
        if plain(name) in OWN | {"run", "text_encoder", "json", "format"}:
            instead = {"text_encoder": "encoders", "text_encoders": "encoders", "run": "runs"}.get(
                plain(name)
            )
            remedy = f"write {instead} instead" if instead else "leave it out"
            raise InputError(f"{where}: the suite gives {name!r} itself: {remedy}")


def _refuse_useless(
    options: Mapping[str, Any],
    sets: Mapping[str, tuple[Any, Sequence[str]]],
    tasks: Mapping[str, tuple[Task, Any]],
    where: str,
    table: str = ": [options]",
) -> None:
    """Raise InputError for an option that none of the tasks has."""
    if table:
        _refuse_own(options, f"{where}{table}")
    kinds = {load(tasks[called][0].request) for _, chosen in sets.values() for called in chosen}
    for name in options:
        if not any(plain(name) in spellings(kind) for kind in kinds):
            known = sorted({leaf.replace("_", "-") for kind in kinds for leaf in leaves(kind)} - OWN)
            more = [] if table else ["encoders", "runs", "tasks"]
            near = did_you_mean(name, [*known, *more])
            raise InputError(
                f"{where}{table}: unknown option {name!r}.{near} Known: {listed([*more, *known], 60)}"
            )


def _refuse_unused(over: Mapping[str, Any], steps: Sequence[Step]) -> None:
    known = {word for step in steps for word in spellings(type(step.request))} - OWN
    for name in over:
        if plain(name) not in known:
            raise InputError(
                f"--set {name}: no evaluation has this option.{did_you_mean(plain(name), known)}"
            )


def spellings(kind: type[Request]) -> set[str]:
    """Return how the options of a request may be written, with _ for -."""
    return {name for leaf in leaves(kind).values() for name in leaf.spellings}


def _evaluation(
    task: Task,
    part: Mapping[str, Any],
    options: Mapping[str, Any],
    layout: _Layout,
    over: Mapping[str, Any],
    places: tuple[str, str, str],
) -> dict[str, Any]:
    """Return the values of an evaluation: the task's win over those of the data, these over the suite's."""
    kind: type[Request] = load(task.request)
    where, data, called = places
    known = spellings(kind)
    found: dict[str, Any] = {}
    for options_there, at, only in (
        (layout.options, f"{where}: [options]", True),
        (part, f"{where}: [data.{data}]", True),
        (options, f"{where}: [tasks.{called}]", False),
        (over, "--set", True),
    ):
        taken = {name: value for name, value in options_there.items() if not only or plain(name) in known}
        found |= checked(kind, {name: value for name, value in taken.items() if name not in ("runs",)}, at)
    for name, key in (("encoders", "text_encoders"), ("runs", "runs")):
        own = check(name, part.get(name, []), _Specs, f"{where}: [data.{data}]")
        given = [*_specs(getattr(layout, name)), *_specs(own)]
        if given and key in leaves(kind):
            found[key] = tuple(given)
    return found


def _with_folder(task: Task, given: Mapping[str, Any], folder: Path, where: str) -> Request:
    kind: type[Request] = load(task.request)
    return made(kind, {**given, "out": folder, "report": True, "quiet": True}, where)


def _decisions(
    group: str, called: str, part: Mapping[str, Any], steps: Sequence[Step], where: str
) -> Iterator[Step]:
    """Yield a comparison or gate for each evaluation that it chooses; encoders are named as in the suite."""
    at, kind = f"{where}: [{group}.{called}]", _GROUPS[group]
    chosen = _chosen(part, steps, at)
    given = checked(kind, {name: value for name, value in part.items() if name not in _CHOICE}, at)
    for name in given:
        if name in _DECISION_OWN:
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
        names = _words(check(key, part[key], str | list[str], where))
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
    known = _encoder_names(step.request)
    if name not in known:
        if "#" in name or Path(name).is_dir():
            return name
        if not any("*" in spec for spec in values(step.request)["text_encoders"]):
            near = f"{did_you_mean(name, known)} Known: {listed(known, 30)}; or results as DIR#ENCODER"
            raise InputError(f"{where}: no encoder {name!r} in {step.name}.{near}")
    return f"{step.folder}#{name}"


def _encoder_names(request: Request) -> list[str]:
    """Return the names of the encoders and runs of an evaluation, but for those of patterns."""
    asked = values(request)
    specs = [spec for spec in asked["text_encoders"] if "*" not in spec]
    runs = asked.get("runs", ())
    return list(entries(joined(specs, runs), ())) if specs or runs else []
