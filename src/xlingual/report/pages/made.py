"""How a result was made, in words: the page of `xlingual show`, and the rows of a report's fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET

from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Heading, Page, Prose, Section
from xlingual.report.table import Column, Table
from xlingual.results.made import Made
from xlingual.results.provenance import Input, Provenance

_SHORT = 12  # digits of a digest that people compare
_WORDS = {
    "results": "an evaluation",
    "study_analysis": "the analysis of a study",
    "study_key": "the key of a study",
}
_OLD = "It does not record what it was made from: an older version of xlingual wrote it."


def page(made: Made, line: str = "") -> Page:
    """Return the page; `line` is the command line that asks for the same, "" where none does."""
    return Page(
        kind="result",
        title=str(made.path),
        verdict=[Finding(sentences(made))],
        sections=[Section("", [*_command(made, line), *_tables(made.provenance), *_run(made.run)])],
    )


def sentences(made: Made) -> list[str]:
    """Return what it is, when and with what it was made, and its digest."""
    what = _WORDS.get(made.kind, f"a {made.kind}".replace("_", " ").replace("-", " "))
    by = f", made by xlingual {version}" if (version := _version(made)) else ""
    when = f" on {date}" if (date := _date(made.run)) else ""
    found = [f"{made.path} is {what}{by}{when}."]
    if made.provenance is None:
        found.append(_OLD)
    else:
        found += _from(made.provenance)
    return [
        *found,
        f"Result digest: {made.digest}" if made.digest else f"No result digest: {made.no_digest}.",
    ]


def rows(found: Any) -> list[tuple[str, Sequence[str]]]:  # noqa: ANN401  (a record of results)
    """Return how a record was made, as rows of a name and values; none where it does not say."""
    provenance, run, request = (getattr(found, name, None) for name in ("provenance", "run", "request"))
    if not isinstance(provenance, Provenance):
        return []
    run = run if isinstance(run, Mapping) else {}
    made = f"xlingual {provenance.program.version}, conventions {provenance.program.conventions}"
    listed: list[tuple[str, Sequence[str]]] = [("made by", [made, *filter(None, [_date(run)])])]
    if isinstance(request, Mapping) and "command" in request:
        listed.append(("command", [str(request["command"])]))
    if provenance.inputs:
        listed.append(("read", [f"{_path(one)} ({one.role}, {_digest(one)})" for one in provenance.inputs]))
    if provenance.derived_from:
        origins = [f"{one.path or 'in memory'} ({one.digest[:_SHORT]})" for one in provenance.derived_from]
        listed.append(("derived from", origins))
    return listed


def _from(provenance: Provenance) -> list[str]:
    parts = [
        (len(provenance.inputs), "input"),
        (len(provenance.encoders), "encoder"),
        (len(provenance.derived_from), "result"),
    ]
    counted = [numbers.counted(count, noun) for count, noun in parts if count]
    return [f"It was made from {numbers.in_words(counted)}."] if counted else ["It has no record of inputs."]


def _command(made: Made, line: str) -> list[Block]:
    if not made.request:
        return []
    heading = Heading("Command", where="both")
    if line:
        hidden = (
            [Prose("… replaces secrets, which were not stored.", "note-line", where="both")]
            if "…" in line
            else []
        )
        return [heading, Prose(f"  {line}", whole=True, where="both"), *hidden]
    cells = [(name, _text(value)) for name, value in made.request.items() if name != "command"]
    said = f"{made.request.get('command', 'no command')}, called from Python or from another version, with"
    return [heading, Prose(said, where="both"), _table("", ("setting", "value"), cells)]


def _tables(provenance: Provenance | None) -> list[Block]:
    if provenance is None:
        return []
    blocks: list[Block] = []
    if provenance.inputs:
        cells = [
            (_path(one), one.role, "–" if one.rows is UNSET else numbers.count(one.rows), _digest(one))
            for one in provenance.inputs
        ]
        blocks += [_table("Inputs", ("path", "what", "rows", "digest"), cells)]
        remark = (
            "The digest of a file is its SHA-256; the first digits are shown. sha256sum PATH prints the "
            "same digest if the file has not changed. --json has all digits."
        )
        blocks.append(Prose(remark, "note-line", where="both"))
    if provenance.encoders:
        named = [(one.name, one.role, one.identity or "not known") for one in provenance.encoders]
        blocks += [_table("Encoders", ("name", "of", "identity"), named)]
    if provenance.derived_from:
        read = [
            (one.path or "in memory", one.kind.split("/")[1], one.digest[:_SHORT])
            for one in provenance.derived_from
        ]
        blocks += [_table("Derived from", ("path", "what", "result digest"), read)]
    return blocks


def _run(run: Mapping[str, Any]) -> list[Block]:
    libraries = run.get("libraries")
    named = (
        [f"{name} {version}" for name, version in libraries.items()] if isinstance(libraries, Mapping) else []
    )
    cells = [(name, str(run[name])) for name in ("python", "platform", "backend", "threads") if name in run]
    cells += [("libraries", ", ".join(named))] if named else []
    return [_table("Run", ("what", "value"), cells)] if cells else []


def _table(title: str, heads: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    columns = [
        Column(head, "number" if head == "rows" else "words" if i else "name") for i, head in enumerate(heads)
    ]
    return Table.of_texts(title, columns, cells, where="both")


def _path(one: Input) -> str:
    return one.path or ("bytes of the images" if one.role == "images" else "in memory")


def _digest(one: Input) -> str:
    return (one.sha256 or one.digest or "–")[:_SHORT]


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _version(made: Made) -> str:
    if made.provenance is not None:
        program = made.provenance.program
        return f"{program.version} (conventions {program.conventions})"
    return str(made.run.get("xlingual", ""))


def _date(run: Mapping[str, Any]) -> str:
    """Return the date and time (UTC) of a run, "" where it has none."""
    try:
        return f"{datetime.fromisoformat(str(run['date'])):%Y-%m-%d %H:%M} UTC"
    except (KeyError, ValueError):
        return ""
