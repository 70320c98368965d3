"""A million rows: time and memory of `xlingual data check`, for each format and form of a manifest.

Each file is checked in a process of its own, whose largest resident size and processor time are printed; what
is read is compared, on its first rows, with the same rows given in memory. Image paths lead nowhere, since
opening images takes as long as decoding them does. `python -m benchmarks.manifest_scale 1000000` takes
minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from xlingual import Manifest

LIMIT_SECONDS, LIMIT_BYTES = 60, 2 << 30  # of processor time and memory, for a million rows
SAMPLE = 1000
SHARDS = 8
SHAPES = ("long", "long with images", "wide", "wide with images")
FORMATS = (".parquet", " shards", ".arrow", ".csv", ".jsonl")


def texts(n: int, seed: int) -> list[str]:
    """Return n texts of 3 to 12 words, some of them equal, some with quotes and letters beyond ASCII."""
    rng = np.random.default_rng(seed)
    known = [f"w{k:04x}" for k in range(20_000)] + [f"größe{k},“" for k in range(2_000)]
    words = np.array(known, dtype=object)
    lengths = rng.integers(3, 13, n)
    drawn = words[rng.zipf(1.3, lengths.sum()) % len(words)]
    ends = np.cumsum(lengths)
    return [" ".join(drawn[a:b]) for a, b in zip(ends - lengths, ends, strict=True)]


def table(shape: str, n: int) -> pa.Table:
    """Return the table of n rows: long (n texts of n / 2 items) or wide (2 n texts of n items)."""
    ids = [f"row-{i:08}" for i in range(n)]
    label = [f"kind {i % 17}" for i in range(n)]
    item = np.arange(n) // (1 if shape.startswith("wide") else 2)
    columns: dict[str, list[str]] = {"id": ids}
    if shape.startswith("wide"):
        columns |= {"text_en": texts(n, 0), "text_de": texts(n, 1)}
    else:
        columns |= {"lang": [("en", "de")[i % 2] for i in range(n)], "text": texts(n, 0)}
        columns |= {"item": [f"item-{i}" for i in item]}
    if shape.endswith("images"):
        columns |= {"image": [f"photos/{i % 1000:03}/{i}.jpg" for i in item]}
    return pa.table(columns | {"kind": label})


def written(folder: Path, content: pa.Table, form: str) -> Path:
    """Write a table in a format; return what to name on the command line."""
    if form == " shards":
        place, size = folder / "shards", -(-len(content) // SHARDS)
        place.mkdir()
        for number in range(SHARDS):
            part = content.slice(number * size, size)
            pq.write_table(part, place / f"data-{number:05}-of-{SHARDS:05}.parquet")
        return place
    path = folder / f"manifest{form}"
    if form == ".parquet":
        pq.write_table(content, path)
    elif form == ".arrow":
        with pa.ipc.new_file(str(path), content.schema) as writer:
            writer.write_table(content, max_chunksize=1 << 16)
    elif form == ".csv":
        pyarrow.csv.write_csv(content, path)
    else:
        with path.open("w", encoding="utf-8") as file:
            for block in content.to_batches(1 << 14):
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in block.to_pylist())
    return path


def assert_same(path: Path, content: pa.Table) -> None:
    """Assert that the first rows are read as the same rows given in memory are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = Manifest.read(path, rows=f":{SAMPLE}")
        given = Manifest.of(content.slice(0, SAMPLE).to_pylist(), folder=read.folder)
    assert read.digest == given.digest
    assert read.labels == given.labels
    assert read.image_source == given.image_source


def checked(path: Path) -> tuple[float, float, int]:
    """Return seconds on the clock and of the processor, and bytes at most, of one check."""
    script = (
        "import runpy, sys, time\n"
        f"sys.argv = ['xlingual', 'data', 'check', '--quiet', {str(path)!r}]\n"
        "try:\n    runpy.run_module('xlingual', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "status = open('/proc/self/status').read()\n"
        "print(time.process_time(), status.partition('VmHWM:')[2].split()[0])\n"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    processor, kib = done.stdout.splitlines()[-1].split()
    return time.perf_counter() - start, float(processor), int(kib) * 1024


def main(n: int = 100_000) -> None:
    """Print a line for each shape and format, and assert the limits (scaled to n rows)."""
    print(f"{n:,} rows{'':24}     clock processor      memory")
    for shape in SHAPES:
        content = table(shape, n)
        for form in FORMATS:
            with tempfile.TemporaryDirectory() as folder:
                path = written(Path(folder), content, form)
                assert_same(path, content)
                clock, processor, memory = checked(path)
            used = f"{clock:7.1f} s {processor:7.1f} s {memory / 2**20:7.0f} MiB"
            print(f"{shape + ',' + form:34} {used}", flush=True)
            share = n / 1_000_000
            assert processor < LIMIT_SECONDS * share + 5, (shape, form, processor)
            assert memory < LIMIT_BYTES * share + (1 << 28), (shape, form, memory)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
