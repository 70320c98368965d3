"""A history: a folder of results folders, read as its records in order, and what passed a gate among them.

The folder below the history in which results lie is their label: `history/v1.4/results.json`, and of a suite
`history/v1.4/shop/bkr/results.json`. Their date is that of the evaluation. A gate that was written into a
folder of results, or below it, decided on these results.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TypeAlias

from xlingual.comparison.queries import Queries
from xlingual.comparison.references import Reference, members, read_folders
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results import Entry, Results, Summary
from xlingual.results.digest import digest_of
from xlingual.results.gate import PASS, Gate
from xlingual.results.history import Gated, Recorded
from xlingual.signature import Signature
from xlingual.tasks import full_name, spelled

Pair: TypeAlias = tuple[str | None, str | None]
ALL: Pair = (None, None)
_DATA = ("manifest", "pool", "files", "qrels")  # fields of requests that name data
_FILE = "results.json"


@dataclass(frozen=True)
class Numbers:
    """The numbers of one record, of one task and measure."""

    record: Recorded
    folder: Path
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

    def of(self, encoder: str, pair: Pair = ALL) -> Summary | None:
        """Return the mean of an encoder over all pairs, or of one pair; None where there is none."""
        rows = [row for row in self.summary if row.encoder == encoder]
        exact = [row for row in rows if (row.source, row.target) == pair]
        single = rows if pair == ALL and len(rows) == 1 else []  # a single pair has no mean over pairs
        return next(iter(exact or single), None)


@dataclass(frozen=True)
class Chain:
    """Records of one task, measure and data set, in order."""

    task: str
    measure: str
    data: str
    numbers: tuple[Numbers, ...]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The language pairs."""
        return list(dict.fromkeys((one.source, one.target) for of in self.numbers for one in of.entries))


def records_in(history: Path) -> list[tuple[Recorded, Path, Results]]:
    """Return the records of a history with their folders, the oldest first, numbered from 1."""
    found = []
    for folder in _folders(history):
        results = Results.read(folder)
        # values of queries are read again where they are tested
        numbers = replace(results, per_query=results.per_query[:0], examples=None, tables={})
        found.append((_date(results, folder), str(folder), digest_of(results), numbers))
    found.sort(key=lambda one: one[:2])
    records = []
    for number, (date, path, digest, results) in enumerate(found, 1):
        folder = Path(path)
        label, version = folder.relative_to(history).parts[0], results.run.get("xlingual")
        record = Recorded(number, digest, date, label, version, list(_gates(folder, digest, results)))
        records.append((record, folder, results))
    return records


def _folders(history: Path) -> list[Path]:
    if not history.is_dir():
        raise InputError(f"{history} is no folder: a history is a folder of results folders, one a version")
    return [
        Path(folder) for folder, _, names in os.walk(history) if _FILE in names and Path(folder) != history
    ]


def _date(results: Results, folder: Path) -> str:
    """Return when results were evaluated, in UTC, as text whose order is that of time."""
    try:
        moment = datetime.fromisoformat(str(results.run.get("date", "")))
    except ValueError as error:
        raise InputError(f"{folder / _FILE} has no date in 'run': evaluate again") from error
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


def _gates(folder: Path, digest: str, results: Results) -> Iterator[Gated]:
    """Yield the gates that decided on the results of a folder: they lie in it, and read these results."""
    names = dict.fromkeys(entry.encoder for entry in results.entries)
    for where, below, files in os.walk(folder):
        below[:] = sorted(name for name in below if not Path(where, name, _FILE).exists())
        if Gate.file not in files:
            continue
        gate = Gate.read(where)
        origins = gate.provenance.derived_from if gate.provenance else []
        encoder = next((name for name in names if gate.candidate in (name, f"{folder.name}#{name}")), None)
        encoder = encoder or next((name for name in names if gate.candidate.endswith(f"#{name}")), None)
        if encoder is not None and digest in [one.digest for one in origins]:
            yield Gated(encoder, gate.task, gate.measure, gate.outcome)


def chains(
    records: Sequence[tuple[Recorded, Path, Results]], task: str | None, measures: Sequence[str], by: str
) -> list[Chain]:
    """Return the records that belong together, by time or by label.

    Raises InputError where they have no such task or measure.
    """
    if by == "label":
        records = sorted(records, key=lambda one: _natural(one[0].label))
    wanted = None if task is None else full_name(task)
    groups: dict[tuple[str, str, str], list[Numbers]] = {}
    known: dict[str, list[str]] = {}  # task → measures
    for record, folder, results in records:
        of_tasks: dict[str, list[str]] = {}
        for entry in results.entries:
            names = of_tasks.setdefault(entry.task, [])
            names += [entry.measure] if entry.measure not in names else []
        for of_task, names in of_tasks.items():
            known[of_task] = list(dict.fromkeys([*known.get(of_task, ()), *names]))
            for name in [name for name in names if name in measures] if measures else names[:1]:
                if wanted in (None, of_task):
                    key = (of_task, name)
                    entries = tuple(row for row in results.entries if (row.task, row.measure) == key)
                    summary = tuple(row for row in results.summary if (row.task, row.measure) == key)
                    numbers = Numbers(record, folder, entries, summary)
                    groups.setdefault((*key, _data_name(results.request)), []).append(numbers)
    _check(known, task, measures)
    return [Chain(*key, tuple(part)) for key, group in groups.items() for part in _by_conditions(group)]


def _data_name(request: Mapping[str, object]) -> str:
    """Return a short name of the data of results: the last part of the path that was given."""
    given = next((request[name] for name in _DATA if request.get(name)), "data")
    first, *more = given if isinstance(given, list) else [given]
    name = str(first)
    if re.fullmatch("[0-9a-f]{12,64}", name):  # the digest of data in memory
        return f"data {name[:12]}"
    short = PurePath(name.rpartition("=")[2]).name if "/" in name or "\\" in name else name
    return f"{short} and {len(more)} more" if more else short


def _natural(label: str) -> list[tuple[int, int, str]]:
    """Return a key that orders texts as people do: v1.9 before v1.10.

    >>> sorted(["b2", "b10", "a", "10", "9"], key=_natural)
    ['9', '10', 'a', 'b2', 'b10']
    """
    parts = re.findall(r"\d+|\D+", label)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _by_conditions(group: Sequence[Numbers]) -> list[list[Numbers]]:
    """Return records whose conditions alternate apart, those that follow each other together."""
    places_of: dict[frozenset[str], list[int]] = {}
    for place, one in enumerate(group):
        places_of.setdefault(one.conditions, []).append(place)
    parts: list[list[int]] = []
    for places in places_of.values():
        before = next((part for part in parts if part[-1] < places[0]), None)
        if before is None:
            parts.append(list(places))
        else:
            before += places
    return [[group[place] for place in places] for places in parts]


def _check(known: Mapping[str, Sequence[str]], task: str | None, measures: Sequence[str]) -> None:
    wanted = None if task is None else full_name(task)
    if wanted is not None and wanted not in known:
        names = spelled(known)
        raise InputError(
            f"no results of the task {task!r}.{did_you_mean(str(task), names)} Tasks: {listed(names, 20)}"
        )
    have = dict.fromkeys(name for of, names in known.items() if wanted in (None, of) for name in names)
    for name in measures:
        if name not in have:
            raise InputError(
                f"no results of the measure {name!r}.{did_you_mean(name, have)} Measures: {listed(have)}"
            )


def last_passing(
    history: Path, candidate: Reference, queries: Queries, pairs: Sequence[str]
) -> tuple[Reference | None, str | None]:
    """Return the last encoder of a history that passed on the candidate's conditions, None for none; a note.

    `queries` are the candidate's, which name task and measure; `pairs` those decided on, all if none.
    Encoders of the candidate's name come first; the candidate itself does not count. The note says why the
    last run that passed is not taken.
    """
    (results,) = read_folders([candidate]).values()
    (member,) = members([candidate], {candidate.folder: results})
    wanted = _signatures(results, member.encoder, queries, pairs)
    itself = digest_of(results), _date(results, candidate.folder), member.encoder
    passed = [
        (record, folder, read, gate.encoder)
        for record, folder, read in reversed(records_in(history) if history.exists() else [])
        for gate in reversed(record.gates)
        if (gate.outcome, gate.task, gate.measure) == (PASS, queries.task, queries.measure)
        and (record.digest, record.date, gate.encoder) != itself
    ]
    passed.sort(key=lambda one: one[3] != member.encoder)  # stable: the latest first
    note = None
    for record, folder, read, encoder in passed:
        why = _differing(wanted, _signatures(read, encoder, queries, pairs))
        if why is None:
            return Reference(folder, encoder), note
        note = note or f"the run {record.label} passed on other conditions ({why})"
    return None, note or f"{history} has no other run that passed a gate of this task and measure"


_Signatures: TypeAlias = dict[tuple[str, str, int], Signature]


def _signatures(results: Results, encoder: str, queries: Queries, pairs: Sequence[str]) -> _Signatures:
    key = (encoder, queries.task, queries.measure)
    return {
        (one.source, one.target, one.seed): Signature.parse(one.signature)
        for one in results.entries
        if (one.encoder, one.task, one.measure) == key
        and (not pairs or f"{one.source}-{one.target}" in pairs)
    }


def _differing(wanted: _Signatures, found: _Signatures) -> str | None:
    """Return the first condition in which a run differs, or None."""
    for key, signature in wanted.items():
        if key in found and (differing := found[key].differences(signature)):
            return "; ".join(differing)
    return None if wanted.keys() == found.keys() else "other language pairs or seeds"
