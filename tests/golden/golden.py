"""What was measured before the rebuilds, and what the program measures now.

    python -m tests.golden write [CASE…]               after a change of numbers that is meant
    python -m tests.golden compare [--strict] [CASE…]

`values.parquet` has a row for each value: case, the columns of `tests.program.Row`, and its tolerance.

- `exact`: counts, ranks, ids, names and digests.
- `float`: 1e-12 relative; for values near zero 1e-12 absolute.
- `fitted`: what follows from maps of float32 vectors by decompositions, whose last bits differ between
  processors and BLAS libraries, so that near ranks can change places: 2e-3, names and counts left out.
- `trained`: losses and scores of short trainings in float32: 2 % relative, or 0.02.
- `logged`: counts and names of these two, and maps without a penalty, which fewer rows than dimensions do
  not determine; compared under `--strict` only.

`--strict` compares all as `exact` or `float`: for the same machine, before and after a change.

Of tables of queries and neighbours a group (encoder, languages, seed, measure) becomes a digest of its sorted
rows of ids and counts, and two sums of its floats. Order within ties is left out: of a group of tied
neighbours that is cut off, only its place and size count. New values are no difference.

`renames.csv` has a line for each pattern of keys that left or changed: `old` and `new` are patterns of
`case|encoder|source|target|seed|view|measure|field` with `*`; in `new` each `*` is what the same one of `old`
matched; `new` is `drop` where values left; `reason` says why. A line that matches nothing is an error.
"""

from __future__ import annotations

import csv
import hashlib
import math
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from tests.conftest import real_data_folder
from tests.golden.cases import CASES, Bench, Case
from tests.program import Row

HERE = Path(__file__).parent
VALUES, RENAMES = HERE / "values.parquet", HERE / "renames.csv"
KEY = ("case", *Row._fields[:-1])
GROUP = ("encoder", "source", "target", "seed", "measure")
IDS = {  # table → the columns of ids and counts, and of floats
    "per_query": (("query", "above", "tied", "retrieved"), ("value",)),
    "neighbours": (("query", "neighbour", "above", "tied"), ("score",)),
    "answers": (("query", "answer", "above", "tied"), ()),
    "occurrences": (("id", "language"), ("count",)),
    "pairs": (("pair",), ("score", "cosine")),
}
Values = dict[tuple[str, ...], tuple[float | str | None, str]]  # by key: the value and its tolerance


def values_of(case: Case, bench: Bench) -> Values:
    """Make a case and return its values by their keys, without the names of temporary folders."""
    findings, here = case.make(bench), f"{bench.folder}/"
    rows = [*findings.rows, *(row for name in IDS for row in _of_table(name, findings.tables, case.whole))]
    if "failures" in findings.tables:
        rows.append(Row(*[""] * 4, "table", "", "failures", float(findings.tables["failures"].num_rows)))
    values: Values = {}
    for row in rows:
        *names, value = (part.replace(here, "") if isinstance(part, str) else part for part in row)
        key = (case.name, *names)
        if key in values and values[key][0] != value:
            raise ValueError(f"two values of {key}: {values[key][0]} and {value}")
        whole = not isinstance(value, float) or (value.is_integer() and abs(value) < 2**53)
        tolerance = "exact" if whole and not _fractional(row.field) else "float"
        if case.tolerance != "exact":
            tolerance = "logged" if tolerance == "exact" or row.view.endswith("penalty=0") else case.tolerance
        values[key] = value, tolerance
    return values


def _fractional(field: str) -> bool:
    """Say whether a field can be a fraction, so that a whole number there is one by chance."""
    return re.search(r"(^|[.])n(_|$)|above|tied|rank|wins|losses|ties|queries|count|epoch|k$", field) is None


def _of_table(name: str, tables: Mapping[str, pa.Table], whole: bool) -> Iterator[Row]:
    table = tables.get(name)
    if table is None or not table.num_rows:
        return
    ids, floats = ([column for column in columns if column in table.column_names] for columns in IDS[name])
    names = [column for column in GROUP if column in table.column_names]
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in table.select([*names, *ids, *floats]).to_pylist():
        groups[tuple(str(row[column]) for column in names)].append(row)
    for key, rows in groups.items():
        at = dict(zip(names, key, strict=True))
        place = [at.get(column, "") for column in ("encoder", "source", "target", "seed")]
        place += [f"table.{name}", at.get("measure", "")]
        if name == "neighbours":
            rows = _without_cut_ties(rows)
        lines = sorted("\t".join(str(row[column]) for column in ids) for row in rows)
        yield Row(*place, "n_rows", float(len(lines)))
        yield Row(*place, "ids", hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16])
        if whole and name == "per_query":
            for line in lines:
                yield Row(*place, line.replace("\t", " "), "")
        for column in floats:
            numbers = sorted((f"{row[ids[0]]} {row.get('above', '')}", row[column]) for row in rows)
            weighted = [
                crc32(label.encode()) / 2**32 * number for label, number in numbers if number is not None
            ]
            yield Row(
                *place, f"{column}.sum", math.fsum(number for _, number in numbers if number is not None)
            )
            yield Row(*place, f"{column}.weighted", math.fsum(weighted))


def _without_cut_ties(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return neighbours without the ids of tied ones, some of which are not listed."""
    tied = defaultdict(list)
    for row in rows:
        tied[row["query"], row["above"]].append(row)
    return [
        row if len(group) == row["tied"] else {**row, "neighbour": ""}
        for group in tied.values()
        for row in group
    ]


def make(cases: Sequence[Case], folder: Path) -> Iterator[tuple[Case, Values]]:
    """Make the values of cases, one after another, in a folder of their own."""
    os.environ["XLINGUAL_STORE"] = str(folder / "store")  # the user's has vectors of other versions
    bench = Bench(real_data_folder().resolve(), folder)
    for case in cases:
        yield case, values_of(case, bench)


def write(names: Sequence[str], path: Path = VALUES) -> None:
    """Write the values of cases, or of all; those of the others stay."""
    stored = {key: value for key, value in read(path).items() if key[0] not in names} if names else {}
    with tempfile.TemporaryDirectory() as folder:
        for case, values in make([CASES[name] for name in names or CASES], Path(folder)):
            print(f"{case.name}: {len(values):,} values", flush=True)
            stored |= values
    rows = [
        {
            **dict(zip(KEY, key, strict=True)),
            "value": value if isinstance(value, float) else None,
            "text": value if isinstance(value, str) else None,
            "tolerance": tolerance,
        }
        for key, (value, tolerance) in sorted(stored.items())
    ]
    kinds = [*((name, pa.string()) for name in KEY), ("value", pa.float64()), ("text", pa.string())]
    schema = pa.schema([*kinds, ("tolerance", pa.string())])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, compression="zstd", compression_level=19)


def read(path: Path = VALUES) -> Values:
    """Return the stored values by key."""
    columns = pq.read_table(path).to_pydict()
    keys = zip(*(columns[name] for name in KEY), strict=True)
    contents = zip(columns["value"], columns["text"], columns["tolerance"], strict=True)
    return {
        key: (text if value is None else value, tolerance)
        for key, (value, text, tolerance) in zip(keys, contents, strict=True)
    }


def renamed(stored: Values, path: Path = RENAMES) -> Values:
    """Return stored values under the keys that they have now; raise ValueError for a line without a match."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        parts = line["old"].split("|")
        if len(parts) != len(KEY) or not line["reason"]:
            raise ValueError(f"{path}: {line}: expected a pattern of {'|'.join(KEY)} and a reason")
        old = re.compile("\0".join(re.escape(part).replace(r"\*", "([^\0]*)") for part in parts))
        changed, matched = {}, 0
        for key, value in stored.items():
            match = old.fullmatch("\0".join(key))
            matched += match is not None
            if match is None:
                changed[key] = value
            elif line["new"] != "drop":
                groups = iter(match.groups())
                changed[tuple(re.sub(r"\*", lambda _: next(groups), line["new"]).split("|"))] = value  # noqa: B023
        if not matched:
            raise ValueError(f"{path}: nothing matches {line['old']}")
        stored = changed
    return stored


def differences(stored: Values, now: Values, *, strict: bool = False) -> list[str]:
    """Return a line for each stored value that is missing now, or another one."""
    lines = []
    for key, (before, tolerance) in stored.items():
        name = "|".join(key)
        if key not in now:
            if tolerance != "logged" or strict:
                lines.append(f"{name}: missing, was {before}")
        elif not equal(before, now[key][0], tolerance, strict=strict):
            lines.append(f"{name}: {before} → {now[key][0]} ({tolerance})")
    return lines


def equal(before: float | str | None, after: float | str | None, tolerance: str, *, strict: bool) -> bool:
    """Say whether two values are equal within a tolerance.

    >>> equal(0.5, 0.5 + 1e-14, "float", strict=False), equal(3.0, 4.0, "exact", strict=False)
    (True, False)
    """
    if tolerance == "logged" and not strict:
        return True
    if not isinstance(before, float) or not isinstance(after, float) or tolerance == "exact":
        return before == after or (before != before and after != after)
    wide = {"fitted": (2e-3, 2e-3), "trained": (2e-2, 2e-2)}
    relative, absolute = (1e-12, 1e-12) if strict else wide.get(tolerance, (1e-12, 1e-12))
    return math.isclose(before, after, rel_tol=relative, abs_tol=absolute)


def main(words: Sequence[str]) -> int:
    """Write or compare values, as the words say."""
    verb, names = words[0] if words else "", [word for word in words[1:] if word != "--strict"]
    if verb not in ("write", "compare") or not set(names) <= set(CASES):
        raise SystemExit(f"usage: write | compare [--strict] [CASE…]; cases: {', '.join(CASES)}")
    if verb == "write":
        write(names)
        return 0
    stored, failed = renamed(read()), 0
    with tempfile.TemporaryDirectory() as folder:
        for case, values in make([CASES[name] for name in names or CASES], Path(folder)):
            of_case = {key: value for key, value in stored.items() if key[0] == case.name}
            lines = differences(of_case, values, strict="--strict" in words)
            failed += bool(lines)
            print(f"{case.name}: {len(of_case):,} values, {len(lines):,} differences", flush=True)
            for line in lines[:20]:
                print(f"  {line}")
    return int(failed > 0)
