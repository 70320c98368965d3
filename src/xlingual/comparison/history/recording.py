"""Writing results into a history: the document, its numbers, and the values of their queries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.comparison.history.blocks import Blocks
from xlingual.comparison.history.database import check_writable, writing
from xlingual.comparison.history.dates import dated, file_date, in_utc
from xlingual.comparison.history.stored import recorded
from xlingual.comparison.references import Given, as_references, members, read_folders
from xlingual.comparison.rows import NOTHING, FolderRows
from xlingual.errors import InputError, listed
from xlingual.results import Entry, Results
from xlingual.results.digest import digest_of
from xlingual.results.gate import Gate
from xlingual.results.history import Recorded
from xlingual.visible import visible

_LONGEST = 200  # letters of a label
Key = tuple[str, str, str, str, str, int]  # task, encoder, source, target, measure, seed


@dataclass(frozen=True)
class Made:
    """Everything of results that is written, made before the file is locked."""

    row: Recorded
    document: str
    numbers: tuple[tuple[Any, ...], ...]
    gates: tuple[tuple[str, ...], ...]
    blocks: Blocks


def record(
    results: Given,
    path: str | Path,
    label: str | None = None,
    *,
    revision: str | None = None,
    gate: Gate | None = None,
) -> Recorded:
    """Record results in the history `path`, a file that is made if need be, and return the record.

    `results` are `Results`, or a folder of results; all encoders are recorded. `label` is a version or
    another name of the record, `revision` that of the code which was evaluated. `gate` is a decision on the
    results, on the encoder of `FOLDER#ENCODER` where they have several: what passed can be the next baseline.

    The same results of the same date are recorded once for each label. A folder without a date has that of
    its file, and a note says so.

    Raises:
        InputError: the file is no history, or cannot be written; a label is not one short line.

    """
    path = Path(path)
    check_writable(path)
    made = _made(results, _line(label, "label"), _line(revision, "revision"), gate)
    with writing(path) as db:
        return _written(db, made)


def _made(given: Given, label: str | None, revision: str | None, gate: Gate | None) -> Made:
    (ref,) = as_references(given)
    (results,) = read_folders([ref]).values()
    blocks = Blocks()
    date, note = dated(results), None
    if date is None and ref.results is None:
        date, note = file_date(ref.folder), "the date is that of the file: the results have none"
    gates = []
    if gate is not None:
        (member,) = members([replace(ref, encoder=ref.encoder or _only(results))], {ref.folder: results})
        gates.append((member.encoder, gate.task, gate.measure, gate.outcome, blocks.add(gate.to_dict())))
    row = Recorded(
        0,
        digest_of(results),
        date or in_utc(datetime.now(UTC)),
        label,
        revision,
        results.run.get("xlingual"),
        note,
    )
    numbers = tuple(_numbers(results, blocks, ref.folder))
    return Made(row, blocks.add(results.to_dict()), numbers, tuple(gates), blocks)


def _only(results: Results) -> str:
    names = list(dict.fromkeys(entry.encoder for entry in results.entries))
    if len(names) > 1:
        raise InputError(
            f"the results have {len(names)} encoders ({listed(names)}): name the one that the gate decided "
            "on, with FOLDER#ENCODER or results.only('ENCODER')"
        )
    return names[0]


def _numbers(results: Results, blocks: Blocks, folder: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the numbers, with the blocks of their queries where there are values of queries."""
    rows = FolderRows.of(results.per_query, folder)
    places = _places(rows)
    asked: dict[tuple[str, str, str, int, bytes], str] = {}
    for entry in results.entries:
        key = (entry.task, entry.encoder, entry.source, entry.target, entry.measure, entry.seed)
        own = places.get(key)
        found: list[str | None] = [None, None, None]
        if own is not None:
            found = [
                _queries(rows, own, (entry.task, entry.source, entry.target, entry.seed), asked, blocks),
                blocks.add(rows.value[own].tolist()),
                _retrieved(rows, own, blocks),
            ]
        yield (*key, *_value(entry), entry.n_source, entry.signature, *found)


def _places(rows: FolderRows) -> dict[Key, Ints]:
    """Return the rows of each number; none where a task has no value for each query."""
    if not len(rows.value):
        return {}
    names = ("task", "encoder", "source", "target", "measure")
    columns = np.stack([*(rows.code[name] for name in names), rows.seed])
    distinct, place = np.unique(columns, axis=1, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(place.reshape(-1), minlength=distinct.shape[1]))
    found: dict[Key, Ints] = {}
    for codes, own in zip(distinct.T.tolist(), np.split(order, ends[:-1]), strict=True):
        task, encoder, source, target, measure = (
            rows.words[name][code] for name, code in zip(names, codes, strict=False)
        )
        found[task, encoder, source, target, measure, codes[-1]] = own
    return found


def _queries(
    rows: FolderRows, own: Ints, sample: tuple[str, str, str, int],
    asked: dict[tuple[str, str, str, int, bytes], str], blocks: Blocks,
) -> str:  # fmt: skip
    """Return the block of the queries of a sample: ids, clusters and labels; made once for all encoders."""
    known = (*sample, rows.code["query"][own].tobytes())
    if known not in asked:
        words = rows.words["query"]
        content: dict[str, Any] = {
            "query": [words[code] for code in rows.code["query"][own].tolist()],
            "cluster": rows.own[own].tolist(),
            "labels": {
                name: [column.words[code] for code in column.code[own].tolist()]
                for name, column in rows.further.items()
            },
        }
        asked[known] = blocks.add(content)
    return asked[known]


def _retrieved(rows: FolderRows, own: Ints, blocks: Blocks) -> str | None:
    """Return the block of the clusters that were retrieved, None where nothing was."""
    clusters = rows.retrieved[own]
    if (clusters == NOTHING).all():
        return None
    return blocks.add([None if code == NOTHING else code for code in clusters.tolist()])


def _value(entry: Entry) -> tuple[float | None, float | None, float | None]:
    ends = (None, None) if entry.ci is None else (entry.ci.low, entry.ci.high)
    return (entry.value, *ends)


def _written(db: sqlite3.Connection, made: Made) -> Recorded:
    """Write what was made, within a transaction, and return the record; an equal one that is there stays."""
    row = made.row
    known = db.execute(  # an equal one of this label first, then one without a label, which gets it
        "SELECT id FROM record WHERE digest = ?1 AND date = ?2 "
        "AND (?3 IS NULL OR label IS NULL OR label = ?3) ORDER BY label IS NULL, id",
        [row.digest, row.date, row.label],
    ).fetchone()
    made.blocks.write(db)
    if known is None:
        values = [row.digest, row.date, row.label, row.revision, row.version, row.note, made.document]
        number = db.execute(f"INSERT INTO record VALUES (NULL{', ?' * 7})", values).lastrowid
        marks = ", ".join("?" * 15)
        db.executemany(f"INSERT INTO number VALUES ({marks})", [(number, *one) for one in made.numbers])
    else:
        (number,) = known
        update = "UPDATE record SET label = ifnull(label, ?), revision = ifnull(revision, ?) WHERE id = ?"
        db.execute(update, [row.label, row.revision, number])
    db.executemany(
        "INSERT OR IGNORE INTO gate VALUES (NULL, ?, ?, ?, ?, ?, ?)", [(number, *one) for one in made.gates]
    )
    (found,) = recorded(db, number)
    return found


def _line(text: str | None, what: str) -> str | None:
    """Return a label or revision; raise InputError where it is not one short line."""
    if text is None:
        return None
    text = text.strip()
    if not text or len(text) > _LONGEST or visible(text) != text:
        raise InputError(
            f"{what} {text[:_LONGEST]!r}: give one line of 1 to {_LONGEST} letters, such as v1.4"
        )
    return text
