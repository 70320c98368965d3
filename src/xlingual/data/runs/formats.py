"""Which reader a file of a run needs, by its ending and its first characters; compressed with gzip or not."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from pathlib import Path

from xlingual.data.runs.lines import RunLines
from xlingual.data.runs.records import json_lines, lines_of_mapping, parquet_lines
from xlingual.data.runs.trec import RUN, run_lines
from xlingual.errors import InputError, why
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

EXPECTED = (
    "a TREC run (query Q0 candidate rank score tag), JSON lines or Parquet (query_id, candidate_id, score or "
    "rank), or ranx' JSON"
)


def read_lines(path: Path) -> RunLines:
    """Return the lines of a run, whatever its format; raise InputError where it has none of them."""
    name = regular_file(path, "run").name.lower().removesuffix(".gz")
    note_file("run", path)
    if name.endswith((".parquet", ".pq")):
        return parquet_lines(path)
    raw = read_bytes(path)
    if not raw.strip() and name.endswith((".json", ".jsonl", ".ndjson")):
        raise InputError(f"{path}: holds no results: expected {EXPECTED}")
    if raw[:200].lstrip()[:1] not in (b"{", b"["):
        first = raw.lstrip().partition(b"\n")[0]
        if b"," in first and len(first.split()) != len(RUN) and (name.endswith(".csv") or b" " not in first):
            raise InputError(f"{path}: CSV is not read as a run: expected {EXPECTED}")
        return run_lines(path, raw)
    if name.endswith((".jsonl", ".ndjson")):
        return json_lines(path, raw)
    try:
        content = json.loads(raw)
    except ValueError:
        return json_lines(path, raw)
    except RecursionError:
        raise InputError(f"{path} is no run: expected {EXPECTED}") from None
    if isinstance(content, dict) and all(isinstance(results, dict | list) for results in content.values()):
        return lines_of_mapping(str(path), content)
    raise InputError(f"{path} is no run: expected {EXPECTED}")


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, decompressed and without a mark; raise InputError where it is broken."""
    try:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        return raw.removeprefix(codecs.BOM_UTF8)  # Windows writes one
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: is not whole: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {why(error)}") from None
