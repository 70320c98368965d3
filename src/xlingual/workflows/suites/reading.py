"""Reading a suite: a TOML file becomes steps, each an ordinary request with a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests import Request, checked, leaves, made
from xlingual.tasks import TASKS, Task, load
from xlingual.workflows.suites.deciding import deciding
from xlingual.workflows.suites.step import Step
from xlingual.workflows.suites.tables import (
    named_tables,
    plain,
    refuse_unknown,
    systems,
    table,
    text,
    words,
)

DATA = ("manifest", "pool", "files")  # one of them names the data of a data set
OWN = frozenset(  # options that a suite gives itself
    {"out", "report", "form", "as_json", "quiet", "text_encoders", "runs", "further"}
)
TABLES = ("options", "encoders", "runs", "data", "tasks", "comparisons", "gates")
_TOP = ("title", "out", *TABLES)


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
    refuse_unknown(content, _TOP, where)
    tables = {name: table(content, name, where) for name in TABLES if name != "tasks"}
    folder = out or Path(text(content, "out", where) or "results")
    tasks = _tasks(content, where)
    sets = {
        name: _data_set(part, f"{where}: [data.{name}]", tasks)
        for name, part in named_tables(tables, "data", where)
    }
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
    return Suite(
        text(content, "title", where) or Path(where).stem, folder, (*steps, *deciding(tables, steps, where))
    )


def _names(step: Step) -> tuple[str, ...]:
    return tuple(filter(None, (step.name, step.data, step.task, step.label)))


def _is_command(part: Any) -> bool:  # noqa: ANN401
    return not isinstance(part, dict | list) or "command" in part


def _tasks(content: Mapping[str, Any], where: str) -> dict[str, tuple[Task, dict[str, Any]]]:
    """Return the tasks by the suite's names for them, each with its options."""
    given = content.get("tasks", {})
    if not isinstance(given, dict):
        given = {name: {} for name in words(given, "tasks", where)}
    found = {}
    known = {word: task for task in TASKS.values() for word in (task.name, *task.short)}
    for called, part in named_tables({"tasks": given}, "tasks", where):
        at = f"{where}: [tasks.{called}]"
        wanted = text(part, "task", at) or called
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
    chosen = words(part["tasks"], "tasks", where) if "tasks" in part else fitting
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
    shared: Mapping[str, Mapping[str, Any]],
    places: tuple[str, str, str],
) -> dict[str, Any]:
    """Return the values of an evaluation: the task's win over those of the data, these over the suite's."""
    kind: type[Request] = load(task.request)
    where, data, called = places
    known = spellings(kind)
    found: dict[str, Any] = {}
    for options_there, at, only in (
        (shared["options"], f"{where}: [options]", True),
        (part, f"{where}: [data.{data}]", True),
        (options, f"{where}: [tasks.{called}]", False),
        (shared["over"], "--set", True),
    ):
        taken = {name: value for name, value in options_there.items() if not only or plain(name) in known}
        found |= checked(kind, {name: value for name, value in taken.items() if name not in ("runs",)}, at)
    for name, key in (("encoders", "text_encoders"), ("runs", "runs")):
        given = [
            *systems(shared[name], where, name),
            *systems(part.get(name, {}), f"{where}: [data.{data}]", name),
        ]
        if given and key in leaves(kind):
            found[key] = tuple(given)
    return found


def _with_folder(task: Task, given: Mapping[str, Any], folder: Path, where: str) -> Request:
    kind: type[Request] = load(task.request)
    return made(kind, {**given, "out": folder, "report": True, "quiet": True}, where)
