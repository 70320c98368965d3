"""Make a result again from its request, and compare it with the file; before that, look at its inputs."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from xlingual.errors import InputError, parameter
from xlingual.results import Results
from xlingual.results.claims import PREFIX, Claim
from xlingual.results.digest import findings_of
from xlingual.results.made import Made, made_in
from xlingual.results.provenance import Input, Origin
from xlingual.results.verification import CheckedInput, Difference, Verification

if TYPE_CHECKING:
    import pyarrow as pa

Replay = Callable[[Mapping[str, Any], Path], None]  # a request, and the folder that its result is written to
Progress = Callable[[str, int, int], None]

MOST_SHOWN = 10  # differences
_SAMPLED = ("backretrieval", "crosslingual-retrieval")  # tasks that rank some of the queries alone
_KEYS = ("task", "encoder", "source", "target", "measure", "seed", "query")
_VALUES = ("above", "tied", "value")
_TOLERANCE = 1e-9  # of a mean of queries, whose sum is taken in another order here


@dataclass(frozen=True)
class Wanted:
    """How much is verified: so many queries, or files alone; else everything."""

    sample: int | None = None
    inputs_only: bool = False


def verify(path: str | Path, replay: Replay, wanted: Wanted = Wanted()) -> list[Verification]:
    """Return what became of each file of results of a path: a file or a folder.

    `replay` runs the command of a request. Paths of inputs count from the folder in which the command was
    given: it is found by the folder of the result, else it is the present one.

    Raises:
        InputError: there is no file of results, or a sample cannot be drawn of it.

    """
    return [_from_its_folder(made, replay, wanted) for made in made_in(Path(path).absolute())]


def verify_claim(
    line: str,
    within: str | Path,
    replay: Replay,
    wanted: Wanted = Wanted(),
) -> Verification:
    """Return whether a claim is what its result says, and whether that comes out again.

    The result is looked for by its digest in `within` and its folders.
    """
    claim = Claim.parse(line)
    made = next(
        (one for one in _results_in(Path(within).absolute()) if (one.digest or "").startswith(claim.digest)),
        None,
    )
    if made is None:
        reason = (
            f"no result in {within} has the digest {claim.digest}: name its folder ({parameter('within')})"
        )
        return Verification(path=str(within), outcome="missing", claim=line, problems=[reason])
    problems = claim.problems(Results.read(made.path))
    if problems:
        return Verification(
            path=str(made.path), outcome="different", claim=line, digest=made.digest, problems=problems
        )
    return replace(_from_its_folder(made, replay, wanted), claim=line)


def is_claim(text: str) -> bool:
    """Return whether a text is meant as a claim."""
    return text.strip().startswith(PREFIX)


def _results_in(folder: Path) -> Iterator[Made]:
    if not folder.is_dir():
        raise InputError(f"{parameter('within', str(folder))} is no folder")
    for path in sorted(folder.rglob("results.json")):
        with contextlib.suppress(InputError):  # of another program, or damaged: its digest is unknown
            yield from made_in(path)


def _from_its_folder(made: Made, replay: Replay, wanted: Wanted) -> Verification:
    """Verify a result from the folder in which its command was given."""
    with contextlib.chdir(_base(made)):
        return _verified(made, replay, wanted)


def _base(made: Made) -> Path:
    """Return the folder in which the command was given: that from which `--out` leads to the file."""
    given, folder = Path(str(made.run.get("out", ""))), made.path.absolute().parent
    depth = len(given.parts)
    if depth and not given.is_absolute() and ".." not in given.parts and folder.parts[-depth:] == given.parts:
        return Path(*folder.parts[:-depth])
    return Path.cwd()


def _verified(made: Made, replay: Replay, wanted: Wanted) -> Verification:
    found = partial(Verification, path=str(made.path), digest=made.digest)
    if made.digest is None:
        return found(outcome="changed", problems=[made.no_digest])
    inputs = _inputs(made)
    changed = [one for one in inputs if one.state == "changed"]
    missing = [one for one in inputs if one.state == "missing"]
    found = partial(found, inputs=inputs, versions=_versions(made))
    if changed:
        return found(outcome="changed")
    if missing:
        return found(outcome="missing")
    if wanted.inputs_only:
        return found(outcome="unchanged")
    if not made.request:
        return found(outcome="missing", problems=["the file does not say which command made it"])
    request = dict(made.request)
    if wanted.sample is not None:
        request = _sampled(made, request, wanted.sample)
    with TemporaryDirectory(prefix="xlingual-verify-") as name:
        folder = Path(name)
        try:
            replay(request, folder)
            again = next(one for one in made_in(folder) if one.schema == made.schema)
        except InputError as error:
            return found(outcome="missing", problems=[f"its command cannot be run again: {error}"])
        except StopIteration:
            return found(outcome="missing", problems=["its command wrote no such file when it was run again"])
        compared = _sample_compared(made, again) if wanted.sample is not None else _compared(made, again)
    outcome = "different" if compared.n_different else "equal"
    return found(
        outcome=outcome,
        n_compared=compared.n,
        n_different=compared.n_different,
        differences=compared.first,
        sample=wanted.sample,
    )


def _inputs(made: Made) -> list[CheckedInput]:
    if made.provenance is None:
        note = "written before inputs were kept"
        return [CheckedInput("inputs", "all", "not looked at", note)]
    return [
        *map(_checked_input, made.provenance.inputs),
        *map(_checked_origin, made.provenance.derived_from),
    ]


def _checked_input(one: Input) -> CheckedInput:
    if one.path is UNSET:
        return CheckedInput(one.role, "data in memory", "missing", "it was in memory, not in a file")
    path = Path(one.path).expanduser()
    if one.sha256 is UNSET:
        return CheckedInput(one.role, one.path, "not looked at", "its rows are compared by the numbers")
    if not path.is_file():
        return CheckedInput(one.role, one.path, "missing", f"not in {Path.cwd()}")
    if one.bytes is not UNSET and path.stat().st_size != one.bytes:
        return CheckedInput(
            one.role, one.path, "changed", f"{path.stat().st_size:,} bytes, {one.bytes:,} then"
        )
    with path.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == one.sha256
    return CheckedInput(one.role, one.path, "same" if same else "changed")


def _checked_origin(one: Origin) -> CheckedInput:
    if one.path is UNSET:
        return CheckedInput("results", "results in memory", "missing", "they were in memory, not in a file")
    path = Path(one.path).expanduser()
    if not path.exists():
        return CheckedInput("results", one.path, "missing", f"not in {Path.cwd()}")
    (now,) = made_in(path)
    return CheckedInput("results", one.path, "same" if now.digest == one.digest else "changed", now.no_digest)


def _versions(made: Made) -> list[str]:
    """Return programs and libraries that are others now than those that made the result."""
    from importlib.metadata import PackageNotFoundError, version

    libraries = made.run.get("libraries")
    then = {"xlingual": made.run.get("xlingual"), **(libraries if isinstance(libraries, dict) else {})}
    found = []
    for name, old in then.items():
        try:
            now = version(name)
        except PackageNotFoundError:
            now = "not installed"
        if old and now != old:
            found.append(f"{name} {now}, {old} then")
    return found


@dataclass(frozen=True)
class _Compared:
    n: int
    n_different: int
    first: list[Difference]


def _compared(made: Made, again: Made) -> _Compared:
    """Compare all numbers of two files; those of an evaluation with those of its queries."""
    kept, found = (findings_of(_content(one.path)) for one in (made, again))
    old, new = dict(_leaves(kept, "")), dict(_leaves(found, ""))
    names = list(dict.fromkeys([*old, *new]))
    other = [
        Difference(name, _text(old, name), _text(new, name))
        for name in names
        if old.get(name, ...) != new.get(name, ...)
    ]
    n = len(names)
    if not other and made.digest != again.digest:  # then it is in the table of queries
        rows = _rows_compared(made, again)
        return _Compared(n + rows.n, max(rows.n_different, 1), rows.first or _ELSEWHERE)
    return _Compared(n, len(other), other[:MOST_SHOWN])


_ELSEWHERE = [Difference("per_query.parquet", "other rows", "other rows")]


def _content(path: Path) -> Any:  # noqa: ANN401  (what JSON holds)
    return json.loads(path.read_text(encoding="utf-8"))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  (what JSON holds)
    """Yield every number and text with its place; rows of results are named by what they are of."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _leaves(part, f"{name}[{_row_name(part) or place}]")
    else:
        yield name, value


def _row_name(row: Any) -> str:  # noqa: ANN401
    if not isinstance(row, Mapping) or "encoder" not in row or "measure" not in row:
        return ""
    pair = f"{row.get('source')}-{row.get('target')}" if row.get("source") else "mean"
    parts = [row["encoder"], row["measure"], pair, *([f"seed {row['seed']}"] if "seed" in row else [])]
    return ", ".join(map(str, parts))


def _text(found: Mapping[str, Any], name: str) -> str:
    return json.dumps(found[name], ensure_ascii=False) if name in found else "nothing"


def _sampled(made: Made, request: dict[str, Any], n: int) -> dict[str, Any]:
    """Return the request of an evaluation for some of its queries."""
    task = str(request.get("command", "")).removeprefix("evaluate ")
    if made.kind != "results" or task not in _SAMPLED or request.get("queries") or request.get("approximate"):
        raise InputError(
            f"{parameter('sample')} is for exact results of {' and '.join(_SAMPLED)} over all their queries: "
            f"{made.path} is of {request.get('command') or 'no command'}: verify it whole"
        )
    return request | {"queries": n}


def _sample_compared(made: Made, again: Made) -> _Compared:
    """Compare the rows of the queries that were ranked again, and the kept numbers with the kept rows."""
    rows = _rows_compared(made, again, part=True)
    means = _means_compared(Results.read(made.path))
    other = [*means.first, *rows.first]
    return _Compared(rows.n + means.n, rows.n_different + means.n_different, other[:MOST_SHOWN])


def _rows_compared(made: Made, again: Made, *, part: bool = False) -> _Compared:
    """Compare rows of queries; with `part` the second file has some of the queries of the first."""
    if made.kind != "results":
        return _Compared(0, 0, [])
    old, new = (_by_query(Results.read(one.path).per_query) for one in (made, again))
    keys = new.keys() if part else dict.fromkeys([*old, *new])
    other = [
        Difference(", ".join(map(str, key)), str(old.get(key, "nothing")), str(new.get(key, "nothing")))
        for key in keys
        if old.get(key) != new.get(key)
    ]
    return _Compared(len(keys), len(other), other[:MOST_SHOWN])


def _by_query(table: pa.Table) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return (above, tied, value) of each row, by what it is of."""
    columns = [table[name].to_pylist() for name in (*_KEYS, *_VALUES)]
    return {row[: len(_KEYS)]: row[len(_KEYS) :] for row in zip(*columns, strict=True)}


def _means_compared(results: Results) -> _Compared:
    """Compare each number with what the rows of its queries give."""
    from xlingual.measures import parse_measure

    values: dict[tuple[Any, ...], list[float]] = {}
    names = ("encoder", "source", "target", "measure", "seed", "value")
    columns = (results.per_query[name].to_pylist() for name in names)
    for *key, value in zip(*columns, strict=True):
        if value is not None:
            values.setdefault(tuple(key), []).append(value)
    known = [
        (entry, own)
        for entry in results.entries
        if entry.value is not None
        and (own := values.get((entry.encoder, entry.source, entry.target, entry.measure, entry.seed)))
    ]
    other = []
    for entry, own in known:
        mean = _mean(parse_measure(entry.measure), own)
        if abs(mean - (entry.value or 0.0)) > _TOLERANCE:
            what = f"{entry.encoder}, {entry.measure}, {entry.source}-{entry.target}, seed {entry.seed}"
            other.append(Difference(f"mean of the queries: {what}", str(entry.value), str(mean)))
    return _Compared(len(known), len(other), other[:MOST_SHOWN])


def _mean(measure: Any, values: Sequence[float]) -> float:  # noqa: ANN401  (a measure)
    import numpy as np

    return float(measure.aggregate(np.array(values)))
