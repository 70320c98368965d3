"""Which records of a history belong together: results of one task and measure on one data set, in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from xlingual.comparison.history.database import reading
from xlingual.comparison.history.stored import recorded, stored_document
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results import Entry, Summary
from xlingual.results.document import remedy
from xlingual.results.evaluation import ResultsFile
from xlingual.results.history import Recorded
from xlingual.results.views import tagged
from xlingual.tasks import full_name, spelled
from xlingual.typed import convert

_DATA = ("manifest", "pool", "files", "qrels")  # fields of requests that name data


@dataclass(frozen=True)
class Findings:
    """The numbers of one record, of one task and measure."""

    record: Recorded
    entries: tuple[Entry, ...]
    summary: tuple[Summary, ...]

    @property
    def conditions(self) -> frozenset[str]:
        """What the numbers depend on, but for the system."""
        return frozenset(entry.signature.partition("|system:")[0] for entry in self.entries)

    @property
    def encoders(self) -> list[str]:
        """The names of the encoders."""
        return list(dict.fromkeys(entry.encoder for entry in self.entries))

    def of(self, encoder: str, pair: tuple[str | None, str | None] = (None, None)) -> Summary | None:
        """Return the mean of an encoder over all pairs, or of one pair; None where there is none."""
        own = [row for row in self.summary if row.encoder == encoder]
        found = [row for row in own if (row.source, row.target) == pair]
        alone = own if pair == (None, None) and len(own) == 1 else []  # a single pair has no mean over pairs
        return next(iter(found or alone), None)


@dataclass(frozen=True)
class Chain:
    """Records of one task, measure and data set, in order."""

    task: str
    measure: str
    data: str
    findings: tuple[Findings, ...]


def chains(
    path: Any, task: str | None, measures: Sequence[str], by: str, notes: list[str]  # noqa: ANN401
) -> list[Chain]:  # fmt: skip
    """Return the records of a history that belong together; say in the notes what was left out.

    Raises InputError where the history has no such task or measure, or nothing is left.
    """
    with reading(path) as db:
        records = recorded(db)
        documents = {one.id: stored_document(db, one.id) for one in records}
    if not records:
        raise InputError(f"{path} has no records: evaluate with --record {path}, or import old folders")
    ordered = records if by == "time" else _by_label(records, notes)
    if not ordered:
        raise InputError(f"no record of {path} has a label: record with --label, or order them by time")
    found: dict[tuple[str, str, str], list[Findings]] = {}
    known: dict[str, list[str]] = {}  # task → measures
    wanted = None if task is None else full_name(task)
    for one in ordered:
        content = documents[one.id]
        rows = {name: [tagged(row) for row in content[name]] for name in ("results", "summary")}
        read = convert(content | rows, ResultsFile, where=str(path), remedy=remedy("xlingual evaluate"))
        for of_task, own in _measures(read).items():
            known[of_task] = list(dict.fromkeys([*known.get(of_task, ()), *own]))
            for name in [name for name in own if name in measures] if measures else own[:1]:
                if wanted in (None, of_task):
                    key = of_task, name, data_name(content)
                    found.setdefault(key, []).append(_findings(one, read, of_task, name))
    _check(known, task, measures)
    return [Chain(*key, tuple(part)) for key, own in found.items() for part in _apart(own)]


def data_name(content: Mapping[str, Any]) -> str:
    """Return a short name of the data of results: the last part of the path that was given."""
    request = content.get("request") or {}
    given = next((request[name] for name in _DATA if request.get(name)), "data")
    first, *more = given if isinstance(given, list) else [given]
    name = str(first)
    if re.fullmatch("[0-9a-f]{12,64}", name):  # the digest of data in memory
        return f"data {name[:12]}"
    short = PurePath(name.rpartition("=")[2]).name if "/" in name or "\\" in name else name
    return f"{short} and {len(more)} more" if more else short


def _measures(read: ResultsFile) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for entry in read.results:
        found.setdefault(entry.task, {})[entry.measure] = None
    return {task: list(names) for task, names in found.items()}


def _findings(record: Recorded, read: ResultsFile, task: str, measure: str) -> Findings:
    entries = tuple(row for row in read.results if (row.task, row.measure) == (task, measure))
    summary = tuple(row for row in read.summary if (row.task, row.measure) == (task, measure))
    return Findings(record, entries, summary)


def _by_label(records: Sequence[Recorded], notes: list[str]) -> list[Recorded]:
    """Return the records in the order of their labels, v1.9 before v1.10; those of one label by time."""
    if without := sum(one.label is None for one in records):
        notes.append(f"left out: {without} of {len(records)} records, which have no label")
    labelled = [one for one in records if one.label is not None]
    return sorted(labelled, key=lambda one: _natural(one.label or ""))


def _natural(label: str) -> list[tuple[int, int, str]]:
    """Return a key that orders texts as people do: numbers in them by their size."""
    parts = re.findall(r"\d+|\D+", label)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _apart(found: Sequence[Findings]) -> list[list[Findings]]:
    """Return records whose conditions alternate apart, those that follow each other together."""
    groups: dict[frozenset[str], list[int]] = {}
    for place, one in enumerate(found):
        groups.setdefault(one.conditions, []).append(place)
    made: list[list[int]] = []
    for places in groups.values():
        before = next((chain for chain in made if chain[-1] < places[0]), None)
        if before is None:
            made.append(list(places))
        else:
            before += places
    return [[found[place] for place in places] for places in made]


def _check(known: Mapping[str, Sequence[str]], task: str | None, measures: Sequence[str]) -> None:
    if task is not None and full_name(task) not in known:
        names = spelled(known)
        raise InputError(
            f"no results of the task {task!r}.{did_you_mean(task, names)} Tasks: {listed(names, 20)}"
        )
    wanted = None if task is None else full_name(task)
    have = [name for of, names in known.items() if wanted in (None, of) for name in names]
    for name in measures:
        if name not in have:
            raise InputError(
                f"no results of the measure {name!r}.{did_you_mean(name, have)} Measures: "
                f"{listed(dict.fromkeys(have))}"
            )
