"""Lines of TREC files: runs ("query Q0 candidate rank score tag") and qrels ("query 0 candidate grade").

The qrels of BEIR have no second field, and may have a header.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.data.runs.lines import RunLines
from xlingual.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

RUN = ("query", "Q0", "candidate", "rank", "score", "tag")
QRELS = ("query", "iteration", "candidate", "grade")
BEIR_QRELS = ("query", "candidate", "grade")


def run_lines(path: Path, raw: bytes) -> RunLines:
    """Return the lines of a run; raise InputError naming the first that is broken."""
    table = _table(path, raw, RUN, {"rank": "float64", "score": "float64"}, ("Q0", "tag"))
    query, candidate = (table[name].combine_chunks() for name in ("query", "candidate"))
    return RunLines(query, candidate, table["score"].to_numpy(), table["rank"].to_numpy())


def qrels_lines(path: Path, raw: bytes) -> pa.Table:
    """Return query, candidate and grade (int64) of each judgement; raise InputError for a broken line."""
    first, _, rest = raw.partition(b"\n")
    fields = first.split()
    names = BEIR_QRELS if len(fields) == len(BEIR_QRELS) else QRELS
    if names is BEIR_QRELS and not fields[-1].lstrip(b"+-").isdigit() and rest.strip():
        raw = b"\n" + rest  # without the header; lines keep their numbers
    return _table(path, raw, names, {"grade": "int64"}, ("iteration",) if names is QRELS else ())


def _table(
    path: Path, raw: bytes, names: tuple[str, ...], numbers: dict[str, str], unread: tuple[str, ...]
) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    if not raw.strip():
        raise InputError(f"{path}: holds no lines: expected {' '.join(names)}")
    strings = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.type_for_alias(numbers[name]) if name in numbers else strings for name in names}
    try:
        return csv.read_csv(
            pa.py_buffer(_plain(raw)),
            read_options=csv.ReadOptions(column_names=list(names), block_size=1 << 24),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=[name for name in names if name not in unread],
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _broken(path, raw, names, numbers) or InputError(
            f"{path}: cannot be read as lines of {' '.join(names)}: {' '.join(str(error).split())}"
        ) from None


def _plain(raw: bytes) -> bytes:
    """Return the lines with one space between fields; files that have that already are not copied."""
    odd = b"\t", b"  ", b"\r", b" \n", b"\n "
    if not any(part in raw for part in odd) and raw.strip(b" ") == raw:
        return raw
    lines = (b" ".join(line.split()) for line in raw.splitlines())
    return b"\n".join(line for line in lines if line)


def _broken(path: Path, raw: bytes, names: tuple[str, ...], numbers: dict[str, str]) -> InputError | None:
    """Return the error of the first line that is none of the file's, None where each is one."""
    for number, line in enumerate(raw.splitlines(), start=1):
        try:
            fields = line.decode("utf-8").split()
        except UnicodeDecodeError:
            return InputError(f"{path}: line {number} is not UTF-8: write the file as UTF-8")
        if not fields:
            continue
        if len(fields) != len(names):
            return InputError(
                f"{path}: line {number} has {len(fields)} fields, {' '.join(fields)[:80]!r}: expected "
                f"{len(names)}, {' '.join(names)}"
            )
        for name, kind in numbers.items():
            value = fields[names.index(name)]
            try:
                (int if kind == "int64" else float)(value)
            except ValueError:
                what = "a whole number" if kind == "int64" else "a number"
                return InputError(f"{path}: line {number}: the {name} is {value!r}: expected {what}")
    return None
