"""Two folders of `benchmarks.frozen`, compared value by value."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# what people read, and what is another one in every run
READ = {".html", ".md", ".ansi", ".err", ".xml", ".sqlite"}
RANDOM = {"links.csv"}
# keys that say how or when something was made, not what was found
HOW = {"timings", "costs", "seconds", "date", "created", "versions", "libraries", "threads", "used"}
HOW |= {"run", "provenance"}
SHOWN = 20  # differences of one file that are printed


def of_json(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Give a line for each value that is missing or another one; keys of objects may be added.

    >>> list(of_json({"a": [1, 0.5]}, {"a": [1, 0.25], "b": 2}))
    ['a[1]: 0.5 → 0.25']
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key in HOW:
                continue
            if key not in after:
                yield f"{path}.{key}: missing"[not path :]
            else:
                yield from of_json(before[key], after[key], f"{path}.{key}"[not path :])
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} → {len(after)} values"
        else:
            for i, (one, other) in enumerate(zip(before, after, strict=True)):
                yield from of_json(one, other, f"{path}[{i}]")
    elif not _same(before, after):
        yield f"{path}: {_short(before)} → {_short(after)}"


def _same(before: Any, after: Any) -> bool:
    """Say whether two values are equal; true is not 1, 1 is 1.0, and NaN is NaN."""
    if isinstance(before, bool) != isinstance(after, bool):
        return False
    return bool(before == after) or (before != before and after != after)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else f"{text[:160]}…"


def count(value: Any) -> int:
    """Return how many values stand in a JSON value, without those that say how it was made."""
    if isinstance(value, dict):
        return sum(count(part) for key, part in value.items() if key not in HOW)
    if isinstance(value, list):
        return sum(map(count, value))
    return 1


def of_parquet(before: Path, after: Path) -> tuple[int, list[str]]:
    """Return how many cells a table has, and a line for each that is another one; columns may be added."""
    import pyarrow.parquet as pq

    old, new = pq.read_table(before), pq.read_table(after)
    if old.num_rows != new.num_rows:
        return 0, [f"{old.num_rows} → {new.num_rows} rows"]
    lines = []
    for name in old.column_names:
        if name in HOW:
            continue
        if name not in new.column_names:
            lines.append(f"column {name}: missing")
            continue
        one, other = old.column(name), new.column(name)
        if one.type != other.type:
            lines.append(f"column {name}: {one.type} → {other.type}")
        elif not one.equals(other):  # NaN is not equal to itself there
            lines.extend(of_json(one.to_pylist(), other.to_pylist(), name))
    return old.num_rows * old.num_columns, lines


def of_file(before: Path, after: Path) -> tuple[int, list[str]]:
    """Return how many values a file has, and a line for each that is another one."""
    if before.suffix == ".parquet":
        return of_parquet(before, after)
    if before.suffix in (".json", ".jsonl", ".csv"):
        one, other = _read(before), _read(after)
        return count(one), list(of_json(one, other))
    return 1, [] if before.read_bytes() == after.read_bytes() else ["other bytes"]


def _read(path: Path) -> Any:
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.reader(text.splitlines()))


def kept(folder: Path) -> set[Path]:
    """Return the files of a folder that hold findings, without the links to data and the store of vectors."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        path
        for path in found
        if path.suffix not in READ and path.name not in RANDOM and not {"data", "store"} & set(path.parts)
    }


def compare(before: Path, after: Path) -> int:
    """Print what differs and how much was compared; return 1 where something does, else 0."""
    files, values, differing = Counter[str](), Counter[str](), 0
    new = kept(after)
    for path in sorted(kept(before)):
        if path not in new:
            n, lines = 0, ["the file is missing"]
        else:
            n, lines = of_file(before / path, after / path)
        files[path.suffix] += 1
        values[path.suffix] += n
        differing += len(lines)
        for line in lines[:SHOWN]:
            print(f"{path}: {line}")
        if len(lines) > SHOWN:
            print(f"{path}: and {len(lines) - SHOWN} more")
    for suffix, number in files.most_common():
        print(f"{number:6,} files {suffix or 'without suffix'}: {values[suffix]:,} values")
    print(f"{differing:,} differences in {sum(files.values()):,} files of {before}")
    if not files:
        print(f"{before} has no findings")
    return int(differing > 0 or not files)
