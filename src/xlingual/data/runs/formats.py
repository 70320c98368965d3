"""Which reader a file of a run needs, by its ending and its first characters; compressed with gzip or not."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xlingual.data.runs.answers import answer_lines, is_answer, refuse_error, several_answers
from xlingual.data.runs.lines import RunLines
from xlingual.data.runs.records import json_lines, lines_of_mapping, parquet_lines
from xlingual.data.runs.trec import RUN, run_lines
from xlingual.errors import InputError, why
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

EXPECTED = (
    "a TREC run (query Q0 candidate rank score tag), JSON lines or Parquet (query_id, candidate_id, score or "
    "rank), ranx' JSON, or answers of _msearch"
)


def read_lines(path: Path, ids: str | Path | None = None) -> RunLines:
    """Return the lines of a run, whatever its format; raise InputError where it has none of them."""
    name = regular_file(path, "run").name.lower().removesuffix(".gz")
    note_file("run", path)
    if name.endswith((".parquet", ".pq")):
        found = parquet_lines(path)
    else:
        text = _of_text(path, name, read_bytes(path))
        if isinstance(text, list):
            return answer_lines(path, text, ids)
        found = text
    if ids is not None:
        raise InputError(f"{path}: ids= is for answers of _msearch; its lines name their queries")
    return found


def _of_text(path: Path, name: str, raw: bytes) -> RunLines | list[Mapping[str, Any]]:
    """Return the lines of a file of text, or its answers of `_msearch`."""
    start = raw[:200].lstrip()[:1]
    if not raw.strip() and name.endswith((".json", ".jsonl", ".ndjson")):
        raise InputError(f"{path}: holds no results: expected {EXPECTED}")
    if start not in (b"{", b"["):
        first = raw.lstrip().partition(b"\n")[0]
        if b"," in first and len(first.split()) != len(RUN) and (name.endswith(".csv") or b" " not in first):
            raise InputError(f"{path}: CSV is not read as a run: expected {EXPECTED}")
        return run_lines(path, raw)
    if name.endswith((".jsonl", ".ndjson")):
        return several_answers(path, raw) or json_lines(path, raw)
    try:
        found = json.loads(raw)
    except ValueError:
        return several_answers(path, raw) or json_lines(path, raw)
    except RecursionError:
        raise InputError(f"{path} is no run: expected {EXPECTED}") from None
    if is_answer(found):
        return [found]
    refuse_error(str(path), found)
    if isinstance(found, dict) and all(isinstance(one, dict | list) for one in found.values()):
        return lines_of_mapping(str(path), found)
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
