"""The baseline of a gate: the last recorded run that passed one on the same conditions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from xlingual.comparison.history.database import reading
from xlingual.comparison.history.dates import dated
from xlingual.comparison.history.stored import recorded, stored_results
from xlingual.comparison.queries import Queries
from xlingual.comparison.references import Reference, members, read_folders
from xlingual.results import Entry
from xlingual.results.digest import digest_of
from xlingual.results.gate import PASS
from xlingual.results.history import Recorded
from xlingual.signature import Signature

_Sample = tuple[str, str, int]  # source, target, seed


def last_passing(
    history: Path, candidate: Reference, queries: Queries, pairs: Sequence[str]
) -> tuple[Reference | None, str | None]:
    """Return the last run in a history that passed on the candidate's conditions, None for none; and a note.

    `queries` are the candidate's, which name task and measure; `pairs` those decided on, all if none. Runs of
    an encoder of the candidate's name come first; the candidate itself, recorded before, does not count. The
    note says why the last run that passed is not taken.

    Raises InputError where the file is no history. One that does not exist has no runs.
    """
    if not history.exists():
        return None, f"{history} does not exist yet"
    (results,) = read_folders([candidate]).values()
    (member,) = members([candidate], {candidate.folder: results})
    wanted = {
        (one.source, one.target, one.seed): Signature.parse(one.signature)
        for one in results.entries
        if _counts(one, member.encoder, queries, pairs)
    }
    itself = digest_of(results), dated(results), member.encoder
    with reading(history) as db:
        passed = [
            (record, gate.encoder)
            for record in reversed(recorded(db))
            for gate in reversed(record.gates)
            if (gate.outcome, gate.task, gate.measure) == (PASS, queries.task, queries.measure)
            and (record.digest, record.date, gate.encoder) != itself
        ]
        passed.sort(key=lambda one: one[1] != member.encoder)  # stable: the latest first
        note = None
        for record, encoder in passed:
            why = _differing(wanted, _signatures(db, record.id, encoder, queries, pairs))
            if why is None:
                found = stored_results(db, record.id, str(history))
                return Reference(_name(record, candidate), encoder, found.only(encoder)), note
            note = note or f"{_called(record)} passed on other conditions ({why})"
    return None, note or f"{history} has no other run that passed a gate of this task and measure"


def _counts(one: Entry, encoder: str, queries: Queries, pairs: Sequence[str]) -> bool:
    same = (one.encoder, one.task, one.measure) == (encoder, queries.task, queries.measure)
    return same and (not pairs or f"{one.source}-{one.target}" in pairs)


def _signatures(
    db: sqlite3.Connection, record: int, encoder: str, queries: Queries, pairs: Sequence[str]
) -> dict[_Sample, Signature]:
    rows = db.execute(
        "SELECT source, target, seed, signature FROM number "
        "WHERE record = ? AND encoder = ? AND task = ? AND measure = ?",
        [record, encoder, queries.task, queries.measure],
    )
    return {
        (source, target, seed): Signature.parse(signature)
        for source, target, seed, signature in rows
        if not pairs or f"{source}-{target}" in pairs
    }


def _differing(wanted: dict[_Sample, Signature], found: dict[_Sample, Signature]) -> str | None:
    """Return in what a recorded run differs from what is wanted, None where in nothing."""
    for key, signature in wanted.items():
        if key in found and (differing := found[key].differences(signature)):
            return "; ".join(differing)
    return None if wanted.keys() == found.keys() else "other language pairs or seeds"


def _called(record: Recorded) -> str:
    return f"the run {record.label}" if record.label else f"the run of {record.date[:10]}"


def _name(record: Recorded, candidate: Reference) -> Path:
    """Return a name for a recorded run that is no path of a file, nor the candidate's name."""
    number = f"record {record.id}"
    for name in (record.label or number, f"{record.label or record.date[:10]}, {number}"):
        path = Path(name)
        if (
            len(path.parts) == 1
            and name not in ("..", ".")
            and path != candidate.folder
            and not path.exists()
        ):
            return path
    return Path(number)
