"""Reading a suite: a TOML file becomes steps, each an ordinary request with a folder of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from xlingual.encoders.registry import entries
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests import Request, checked, leaves, made, values
from xlingual.requests.comparing import CompareRequest, GateRequest
from xlingual.tasks import TASKS, Task, load

DATA = ("manifest", "pool", "files")  # one of them names the data of a data set
OWN = frozenset(  # options that a suite gives itself
    {"out", "report", "form", "as_json", "quiet", "text_encoders", "runs", "further"}
)
_NAME = re.compile(r"\w[\w.-]*")
TABLES = ("options", "encoders", "runs", "data", "tasks", "comparisons", "gates")
_TOP = ("title", "out", *TABLES)
_CHOICE = ("data", "tasks")  # keys of a comparison or gate that choose evaluations


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

    def chosen(self, words: Sequence[str]) -> tuple[Step, ...]:
        """Return the steps that some words name: a data set, a task, a comparison or gate, or a step's name."""
        for word in words:
            known = [name for step in self.steps for name in _names(step)]
            if word not in known:
                near = did_you_mean(word, known)
                raise InputError(f"--only {word}: no such step.{near} Known: {listed(dict.fromkeys(known), 30)}")
        return tuple(step for step in self.steps if not words or set(words) & set(_names(step)))


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
    _refuse_unknown(content, _TOP, where)
    tables = {name: _table(content, name, where) for name in TABLES if name != "tasks"}
    folder = out or Path(_text(content, "out", where) or "results")
    tasks = _tasks(content, where)
    sets = {name: _data_set(part, f"{where}: [data.{name}]", tasks) for name, part in _parts(tables, "data", where)}
    _refuse_useless(tables["options"], sets, tasks, where)
    shared = {name: tables[name] for name in ("options", "encoders", "runs")} | {"over": over or {}}
    steps: list[Step] = []
    for name, (part, its_tasks) in sets.items():
        for called in its_tasks:
            task, options = tasks[called]
            given = _evaluation(task, part, options, shared, (where, name, called))
            place = folder / name / called
            request = _with_folder(task, given, place, f"{where}: [data.{name}] with [tasks.{called}]")
            steps.append(Step(f"{name}/{called}", name, called, request, place))
    if not steps:
        raise InputError(f"{where} evaluates nothing: write a table [data.NAME] and a table [tasks.bkr]")
    if over:
        _refuse_unused(over, steps)
    further = [
        step
        for group, kind in (("comparisons", CompareRequest), ("gates", GateRequest))
        for called, part in _parts(tables, group, where, least=0)
        for step in _deciding(group, kind, called, part, steps, where)
    ]
    return Suite(_text(content, "title", where) or Path(where).stem, folder, (*steps, *further))


def _names(step: Step) -> tuple[str, ...]:
    return tuple(filter(None, (step.name, step.data, step.task, step.label)))


def _is_command(part: Any) -> bool:  # noqa: ANN401
    return not isinstance(part, dict | list) or "command" in part


def _refuse_unknown(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where}: unknown key {name!r}.{did_you_mean(name, known)} Known: {listed(known, 40)}")


def _text(content: Mapping[str, Any], name: str, where: str) -> str:
    value = content.get(name, "")
    if not isinstance(value, str):
        raise InputError(f"{where}: {name} must be a text, found {value!r:.60}")
    return value


def _table(content: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    value = content.get(name, {})
    if name in ("encoders", "runs") and isinstance(value, list):
        return {"": value}
    if not isinstance(value, dict):
        raise InputError(f"{where}: {name} must be a table [{name}], found {value!r:.60}")
    return value


def _parts(
    tables: Mapping[str, Any], name: str, where: str, least: int = 1
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the tables in a table by name; each name is that of a folder."""
    found = tables[name]
    if len(found) < least:
        raise InputError(f"{where} has no [{name}.NAME]: write one table for each")
    for called, part in found.items():
        if not isinstance(part, dict):
            raise InputError(f"{where}: [{name}] has {called!r} outside a table: write [{name}.NAME] above it")
        if not _NAME.fullmatch(called):
            raise InputError(
                f"{where}: [{name}.{called!r}] is to be a folder: take letters, digits, '.', '-' and '_'"
            )
        yield called, part


def _tasks(content: Mapping[str, Any], where: str) -> dict[str, tuple[Task, dict[str, Any]]]:
    """Return the tasks by the suite's names for them, each with its options."""
    given = content.get("tasks", {})
    if isinstance(given, list):
        given = {name: {} for name in _words(given, "tasks", where)}
    found = {}
    known = {word: task for task in TASKS.values() for word in (task.name, *task.short)}
    for called, part in _parts({"tasks": given}, "tasks", where):
        at = f"{where}: [tasks.{called}]"
        wanted = _text(part, "task", at) or called
        if wanted not in known:
            raise InputError(
                f'{at}: no task {wanted!r}.{did_you_mean(wanted, known)} Known: {listed(known, 40)}; a table of '
                f'another name says which it is, as in task = "bkr"'
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
            f"{where} names {' and '.join(kinds) or 'no data'}: give one of manifest, pool (for questions and "
            "candidates) and files (of sentence pairs)"
        )
    fitting = [called for called, (task, _) in tasks.items() if kinds[0] in leaves(load(task.request))]
    chosen = _words(part["tasks"], "tasks", where) if "tasks" in part else fitting
    for called in chosen:
        if called not in tasks:
            raise InputError(f"{where}: no [tasks.{called}].{did_you_mean(called, tasks)} Known: {listed(tasks)}")
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
        if _plain(name) in OWN | {"run", "text_encoder", "json", "format"}:
            instead = {"text_encoder": "encoders", "text_encoders": "encoders", "run": "runs"}.get(_plain(name))
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
        if not any(_plain(name) in spellings(kind) for kind in kinds):
            known = sorted({leaf.replace("_", "-") for kind in kinds for leaf in leaves(kind)} - OWN)
            more = [] if table else ["encoders", "runs", "tasks"]
            near = did_you_mean(name, [*known, *more])
            raise InputError(f"{where}{table}: unknown option {name!r}.{near} Known: {listed([*more, *known], 60)}")


def _refuse_unused(over: Mapping[str, Any], steps: Sequence[Step]) -> None:
    known = {word for step in steps for word in spellings(type(step.request))} - OWN
    for name in over:
        if _plain(name) not in known:
            raise InputError(f"--set {name}: no evaluation has this option.{did_you_mean(_plain(name), known)}")


def spellings(kind: type[Request]) -> set[str]:
    """Return how the options of a request may be written, with _ for -."""
    return {name for leaf in leaves(kind).values() for name in leaf.spellings}


def _evaluation(
    task: Task,
    part: Mapping[str, Any],
    options: Mapping[str, Any],
    shared: Mapping[str, Mapping[str, Any]],
    places: tuple[str, str, str],
) -> dict[str, Any]:
    """Return the values of an evaluation: options of the suite yield to those of the data, these to the task's."""
    kind: type[Request] = load(task.request)
    where, data, called = places
    known = spellings(kind)
    found: dict[str, Any] = {}
    for table, at, only in (
        (shared["options"], f"{where}: [options]", True),
        (part, f"{where}: [data.{data}]", True),
        (options, f"{where}: [tasks.{called}]", False),
        (shared["over"], "--set", True),
    ):
        taken = {name: value for name, value in table.items() if not only or _plain(name) in known}
        found |= checked(kind, {name: value for name, value in taken.items() if name not in ("runs",)}, at)
    for name, key in (("encoders", "text_encoders"), ("runs", "runs")):
        given = [*_systems(shared[name], where, name), *_systems(part.get(name, {}), f"{where}: [data.{data}]", name)]
        if given and key in leaves(kind):
            found[key] = tuple(given)
    return found


def _systems(given: Any, where: str, what: str) -> Iterator[str]:  # noqa: ANN401
    """Yield specs with their names, from a table of these or a list."""
    if isinstance(given, list):
        yield from _words(given, what, where)
        return
    if not isinstance(given, dict):
        raise InputError(f"{where}: {what} must be a table NAME = SPEC or a list of specs, found {given!r:.60}")
    for name, spec in given.items():
        if not name:
            yield from _words(spec, what, where)
        elif not isinstance(spec, str):
            raise InputError(f"{where}: {what} has {name} = {spec!r:.60}: write NAME = SPEC, such as lsa = \"st:MODEL\"")
        else:
            yield f"{name}={spec}"


def _words(given: Any, what: str, where: str) -> list[str]:  # noqa: ANN401
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{where}: {what} must be a list of texts, found {given!r:.60}")
    return words


def _with_folder(task: Task, given: Mapping[str, Any], folder: Path, where: str) -> Request:
    kind: type[Request] = load(task.request)
    return made(kind, {**given, "out": folder, "report": True, "quiet": True}, where)


def _deciding(
    group: str,
    kind: type[Request],
    called: str,
    part: Mapping[str, Any],
    steps: Sequence[Step],
    where: str,
) -> Iterator[Step]:
    """Yield a comparison or gate for each evaluation that it chooses; encoders are named as in the suite."""
    at = f"{where}: [{group}.{called}]"
    chosen = list(steps)
    for key, name_of in (("data", lambda step: step.data), ("tasks", lambda step: step.task)):
        if key in part:
            names, known = _words(part[key], key, at), list(dict.fromkeys(map(name_of, steps)))
            for name in names:
                if name not in known:
                    raise InputError(f"{at}: {key} has {name!r}, which is not evaluated.{did_you_mean(name, known)} Known: {listed(known)}")
            chosen = [step for step in chosen if name_of(step) in names]
    if not chosen:
        raise InputError(f"{at} chooses no evaluation: change its data and tasks")
    given = checked(kind, {name: value for name, value in part.items() if name not in _CHOICE}, at)
    for name in given:
        if name in ("results", "task", "out", "form", "as_json", "quiet"):
            raise InputError(f"{at}: the suite gives {name!r} itself: leave it out")
    for step in chosen:
        sides = {
            name: _side(given[name], step, f"{at}: {name}")
            for name in ("candidate", "baseline")
            if given.get(name) is not None
        }
        own = {"results": (str(step.folder),)} if kind is CompareRequest else {}
        place = step.folder / group / called
        yield Step(
            f"{step.name}/{group}/{called}",
            step.data,
            step.task,
            made(kind, {**given, **sides, **own, "out": place, "quiet": True}, at),
            place,
            called,
        )


def _side(name: str, step: Step, where: str) -> str:
    """Return an encoder of an evaluation as DIR#ENCODER; what names other results stays as it is."""
    if "#" in name or Path(name).exists():
        return name
    asked = values(step.request)
    systems = [*asked["text_encoders"], *(f"{run}" for run in asked.get("runs", ()))]
    if not any("*" in system for system in systems):
        known = names_of(step.request)
        if name not in known:
            raise InputError(f"{where}: no encoder {name!r} in {step.name}.{did_you_mean(name, known)} Known: {listed(known, 30)}")
    return f"{step.folder}#{name}"


def names_of(request: Request) -> list[str]:
    """Return the names of the encoders and runs of an evaluation, of patterns as far as they are known."""
    from xlingual.systems import joined

    asked = values(request)
    return list(entries(joined(asked["text_encoders"], asked.get("runs", ())), ()))


def _plain(name: str) -> str:
    return name.replace("-", "_")
