"""Make a result again from its record, and compare: only with files and encoders that the caller allows.

A record is data that somebody else may have written. `verify` first lists what it asks for, and stops where
that lies outside of the allowed folders and schemes. Of the record it takes values that change a number:
never where output goes, where services are, or which environment variables are read. Within the run,
whatever opens a file or builds an encoder asks again (`xlingual.permission`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import UNSET

from xlingual.encoders.spec import Spec, parse
from xlingual.errors import InputError, listed
from xlingual.permission import NotAllowedError, Permission, limited
from xlingual.requests.record import Leaf, leaves
from xlingual.requests.record import Request as Asked
from xlingual.results import Results
from xlingual.results.digest import digest_of, findings_of
from xlingual.results.files import DIGESTS, json_content
from xlingual.results.provenance import Input, Origin, Provenance
from xlingual.results.tables import PER_QUERY, file_of, read_tables
from xlingual.results.verification import CheckedInput, Difference, Outcome, Use, Verification
from xlingual.typed import convert

Replay = Callable[[Mapping[str, Any], Path], None]  # a request, and the folder that its result is written to
RequestOf = Callable[[str], type[Asked]]  # the request of a command, by its name

MOST_SHOWN = 10  # differences
_COMMAND = "the command that made it"
_NO_RESULTS = ("model", "step", "suite")  # files beside results, without numbers of their own
_DIGEST = re.compile(r"[0-9a-f]{32}")  # of data in memory, which stands in the place of their file
_IN_MEMORY = (
    "it was made in Python, of data in memory; what `xlingual evaluate … --out DIR` writes can be made again"
)
_KEYS = ("task", "encoder", "source", "target", "measure", "seed", "query")
_VALUES = ("above", "tied", "value")
_NAMES_FILES = re.compile(r"FILE|MANIFEST|RESULT|DIR|CANDIDATE|BASELINE|VALIDATION|NBEST|POOL")


@dataclass(frozen=True)
class Record:
    """What a file of results says about how it was made."""

    path: Path
    schema: str  # xlingual/results/1
    content: Mapping[str, Any]
    digest: str | None  # the result digest
    no_digest: str  # why there is none
    provenance: Provenance

    def part(self, name: str) -> Mapping[str, Any]:
        """Return one of its tables, `request` or `run`; empty where it has none."""
        part = self.content.get(name)
        return part if isinstance(part, dict) else {}


def records_in(path: str | Path) -> list[Record]:
    """Return the record of a file of results, or of each of those in a folder and its folders.

    Raises InputError where there is none, where one is damaged, or of another program.
    """
    path = Path(path)
    if not path.is_dir():
        return [_record(path, json_content(path, _COMMAND))]
    files = [Path(folder, name) for folder, _, names in os.walk(path) for name in sorted(names)]
    contents = {file: json_content(file, _COMMAND) for file in files if file.suffix == ".json"}
    found = [_record(file, content) for file, content in contents.items() if _kind(content)]
    if not found:
        raise InputError(
            f"{path} holds no file of results (there is {listed(map(str, files), 5) or 'nothing'}): name "
            "what --out DIR wrote"
        )
    return found


def verify(
    path: str | Path,
    replay: Replay,
    request_of: RequestOf,
    allowed: Permission | None = None,
    *,
    inputs_only: bool = False,
) -> list[Verification]:
    """Return what became of each file of results of a path: a file, or a folder with those in it.

    `replay` runs a request. Paths of inputs count from the present folder. Unless said otherwise, files below
    it are allowed, and schemes that run no code and send nothing.

    Raises:
        InputError: there is no file of results.

    """
    allowed = allowed or Permission(folders=(Path.cwd().resolve(),))
    return [_verified(record, replay, request_of, allowed, inputs_only) for record in records_in(path)]


def _verified(
    record: Record, replay: Replay, request_of: RequestOf, allowed: Permission, inputs_only: bool
) -> Verification:
    def found(outcome: Outcome, *problems: str, **more: Any) -> Verification:  # noqa: ANN401
        return Verification(
            path=str(record.path), outcome=outcome, digest=record.digest, problems=[*problems], **more
        )

    if record.digest is None:
        table = record.path.parent / file_of(PER_QUERY)
        return found("changed" if table.exists() else "missing", record.no_digest)
    if any(_DIGEST.fullmatch(text) and not os.path.lexists(text) for text in _texts(record.part("request"))):
        return found("missing", _IN_MEMORY)
    try:
        kind = request_of(str(record.part("request").get("command", "")))
        request = _values(record, kind)
        uses = [*_uses(request, kind, allowed), *_inputs_used(record.provenance, allowed)]
    except InputError as error:
        return found("missing", f"its command cannot be run again: {error}")
    uses = list(dict.fromkeys(uses))
    if not all(use.allowed for use in uses):
        return found("not allowed", uses=uses)
    with limited(allowed):
        inputs = [_input_now(one) for one in record.provenance.inputs]
        inputs += [_origin_now(one) for one in record.provenance.derived_from]
    states = {one.state for one in inputs}
    more = {"uses": uses, "inputs": inputs, "versions": _other_versions(record)}
    state: Outcome
    for state in ("changed", "missing"):
        if state in states:
            return found(state, **more)
    if inputs_only:
        return found("unchanged", **more)
    with TemporaryDirectory(prefix="xlingual-verify-") as name:
        folder = Path(name)
        own = None if allowed.folders is None else (*allowed.folders, folder.resolve())
        try:
            with limited(Permission(allowed.schemes, own)):
                replay(request, folder)
            again = next(one for one in records_in(folder) if one.schema == record.schema)
        except InputError as error:
            refused = isinstance(error, NotAllowedError) or isinstance(error.__cause__, NotAllowedError)
            state = "not allowed" if refused else "missing"
            return found(state, f"its command cannot be run again: {error}", **more)
        except StopIteration:
            return found("missing", "its command wrote no such file when it was run again", **more)
        n_compared, differences = _compared(record, again)
    return found(
        "different" if differences else "equal",
        n_compared=n_compared,
        n_different=len(differences),
        differences=differences[:MOST_SHOWN],
        **more,
    )


def _kind(content: object) -> str:
    """Return the kind of a file of results, "" of any other file."""
    schema = content.get("schema") if isinstance(content, dict) else None
    parts = schema.split("/") if isinstance(schema, str) else []
    return parts[1] if len(parts) == 3 and parts[0] == "xlingual" and parts[1] not in _NO_RESULTS else ""


def _record(path: Path, content: Any) -> Record:  # noqa: ANN401  (what JSON holds)
    if not (kind := _kind(content)):
        raise InputError(
            f"{path} is no file of results: expected a key 'schema' with 'xlingual/KIND/NUMBER': give what a "
            "command wrote with --out DIR, or printed with --json"
        )
    provenance = convert(
        content.get("provenance"), Provenance, where=f"{path}, provenance", remedy="run its command again"
    )
    digest, reason = None, ""
    try:
        table = read_tables(path.parent, content.get(DIGESTS, {}))[PER_QUERY] if kind == "results" else None
        digest = digest_of(content, table)
    except InputError as error:
        reason = str(error)
    except ValueError:
        reason = "it holds a value that is no number"
    return Record(path, content["schema"], content, digest, reason, provenance)


def _values(record: Record, kind: type[Asked]) -> dict[str, Any]:
    """Return the values of a record that change a number, and whether examples are part of its findings."""
    known, asked, run = leaves(kind), record.part("request"), record.part("run")
    if unknown := asked.keys() - known.keys() - {"command"}:
        raise InputError(f"{record.path}: {kind.command} has no option {listed(sorted(unknown))}")
    values = {name: value for name, value in asked.items() if name in known and not known[name].marks.run}
    if "examples" in known and run.get("examples") is False:
        values["examples"] = False
    return {"command": kind.command, **values}


def _uses(request: Mapping[str, Any], kind: type[Asked], allowed: Permission) -> Iterator[Use]:
    """Yield the encoders and files that a request names."""
    for name, leaf in leaves(kind).items():
        for text in _texts(request.get(name)):
            if leaf.spec or name == "runs":
                yield _spec_use(text, name == "runs", allowed)
            elif _names_file(text, leaf):
                yield Use("file", text, _allows_files(text, allowed))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value of JSON."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    yield from [value] if isinstance(value, str) else (text for part in parts for text in _texts(part))


def _names_file(text: str, leaf: Leaf) -> bool:
    is_path = _NAMES_FILES.search(leaf.marks.metavar or "") is not None or "Path" in str(leaf.type)
    return is_path and (any(map(os.path.lexists, _paths_in(text))) or re.search(r"[/\\]", text) is not None)


def _paths_in(text: str) -> tuple[str, ...]:
    """Return the paths that a text of the form [NAME=]FILE[#PART] may mean."""
    rest = text.partition("=")[2]
    return tuple(part for one in (text, rest) for part in (one, one.rpartition("#")[0]) if part)


def _allows_files(text: str, allowed: Permission) -> bool:
    """Return whether all files that a text may mean may be read; patterns stand for those they match."""
    patterns = [re.sub(r"\{\w+\}", "*", path) for path in _paths_in(text)]
    matches = [match for pattern in patterns if "*" in pattern for match in glob(pattern)]
    present = [path for path in (*_paths_in(text), *matches) if os.path.lexists(path)]
    return all(map(allowed.allows_file, present or [text, *patterns]))


def _spec_use(text: str, run: bool, allowed: Permission) -> Use:
    spec: Spec | None = parse(text)
    if run and spec is not None:
        spec = Spec(spec.name, "run", spec.argument, spec.options)
    fine = True
    while spec is not None:
        options = dict(spec.options)
        files = [spec.argument, *options.values()] if spec.scheme in ("vectors", "run", "wordvec") else []
        files += [value for value in (spec.argument, *options.values()) if _exists(value)]
        files += [options["fit"]] if "fit" in options else []
        fine &= allowed.allows_scheme(spec.scheme, options)
        fine &= all(_allows_files(file, allowed) for file in files if file)
        spec = spec.base
    return Use("run" if run else "encoder", text, fine)


def _exists(text: str) -> bool:
    return any(map(os.path.lexists, _paths_in(text)))


def _inputs_used(provenance: Provenance, allowed: Permission) -> Iterator[Use]:
    paths = [one.path for one in provenance.inputs if one.sha256 is not UNSET]
    for path in (*paths, *(one.path for one in provenance.derived_from)):
        if path is not UNSET:
            yield Use("file", path, allowed.allows_file(Path(path).expanduser()))


def _input_now(one: Input) -> CheckedInput:
    if one.path is UNSET and one.role == "images":
        return CheckedInput(one.role, "images of the manifest", "not looked at", "compared by the numbers")
    if one.path is UNSET:
        return CheckedInput(one.role, "data in memory", "missing", "it was in memory, not in a file")
    if one.sha256 is UNSET:
        return CheckedInput(one.role, one.path, "not looked at", "its rows are compared by the numbers")
    path = Path(one.path).expanduser()
    if not path.is_file():
        return CheckedInput(one.role, one.path, "missing", f"not in {Path.cwd()}")
    if one.bytes is not UNSET and path.stat().st_size != one.bytes:
        now = f"{path.stat().st_size:,} bytes, {one.bytes:,} then"
        return CheckedInput(one.role, one.path, "changed", now)
    with path.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == one.sha256
    return CheckedInput(one.role, one.path, "same" if same else "changed")


def _origin_now(one: Origin) -> CheckedInput:
    if one.path is UNSET:
        return CheckedInput("results", "results in memory", "missing", "they were in memory, not in a file")
    path = Path(one.path).expanduser()
    if not path.is_file():
        return CheckedInput("results", one.path, "missing", f"not in {Path.cwd()}")
    (now,) = records_in(path)
    return CheckedInput("results", one.path, "same" if now.digest == one.digest else "changed", now.no_digest)


def _other_versions(record: Record) -> list[str]:
    """Return programs and libraries that are others now than those that made the result."""
    run = record.part("run")
    libraries = run.get("libraries")
    then = {"xlingual": run.get("xlingual"), **(libraries if isinstance(libraries, dict) else {})}
    found = []
    for name, old in then.items():
        try:
            now = version(name)
        except PackageNotFoundError:
            now = "not installed"
        if old and now != old:
            found.append(f"{name} {now}, {old} then")
    return found


def _compared(record: Record, again: Record) -> tuple[int, list[Difference]]:
    """Return how many numbers and identities of two files were compared, and which of them differ."""
    old, new = (_numbers(one) for one in (record, again))
    if old == new and record.digest != again.digest:  # then it is in the table of queries
        rows = [_rows(Results.read(one.path)) for one in (record, again)]
        n, found = _differences(*rows)
        return len(old) + n, found or [Difference("per_query.parquet", "other rows", "other rows")]
    return _differences(old, new)


def _differences(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[int, list[Difference]]:
    names = list(dict.fromkeys([*old, *new]))
    pairs = [(name, old.get(name, "nothing"), new.get(name, "nothing")) for name in names]
    return len(names), [Difference(name, then, now) for name, then, now in pairs if then != now]


def _numbers(record: Record) -> dict[str, str]:
    """Return every number and text of the findings by its place, and the identity of each encoder."""
    encoders = record.provenance.encoders
    identities = {f"identity of {one.role} encoder {one.name!r}": str(one.identity) for one in encoders}
    findings = _leaves(findings_of(record.content), "")
    return {name: json.dumps(value, ensure_ascii=False) for name, value in findings} | identities


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  (what JSON holds)
    """Yield every number and text with its place; rows of results are named by what they are of."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            row = part if isinstance(part, Mapping) and "encoder" in part and "measure" in part else {}
            keys = [f"{key} {row[key]}" for key in _KEYS[1:-1] if row.get(key) is not None]
            yield from _leaves(part, f"{name}[{', '.join(keys) or place}]")
    else:
        yield name, value


def _rows(results: Results) -> dict[str, str]:
    """Return (above, tied, value) of each query, by what it is of."""
    columns = [results.per_query[name].to_pylist() for name in (*_KEYS, *_VALUES)]
    rows = {}
    for row in zip(*columns, strict=True):
        shown = (f"{name} {value}" for name, value in zip(_VALUES, row[len(_KEYS) :], strict=True))
        rows[", ".join(map(str, row[: len(_KEYS)]))] = ", ".join(shown)
    return rows
