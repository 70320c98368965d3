"""Arrow files with flipped bits, read and checked in children: no crash, no traceback.

`python -m benchmarks.damaged_arrow 5000 [seed]` prints how many were read, refused, and anything else.
"""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import pyarrow as pa

from xlingual.data.checks.check import check
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError

ROWS = 120


def arrow_file(stream: bool, compression: str | None) -> bytes:
    """Return a small manifest as an Arrow file or stream."""
    table = pa.table(
        {
            "id": [str(i) for i in range(ROWS)],
            "lang": ["en", "de"] * (ROWS // 2),
            "text": [f"some text number {i}" if i % 7 else None for i in range(ROWS)],
            "item": [i // 2 for i in range(ROWS)],
            "kind": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
            "image": [{"bytes": b"ab", "path": "x"}] * ROWS,
            "vector": [[1.0, 2.0]] * ROWS,
        }
    )
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=50)
    return sink.getvalue()


def read_in_child(path: Path) -> str:
    """Return how a child that reads and checks a manifest ended."""
    child = os.fork()
    if child == 0:
        code = 2
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            warnings.simplefilter("ignore")
            check(Manifest.read(path))
            code = 0
        except InputError:
            code = 1
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return ("read", "refused", "traceback")[os.WEXITSTATUS(status)]


def main() -> None:
    """Flip 1 to 5 bits of a file, or cut it off, as often as is asked for."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rng = random.Random(seed)
    whole = [arrow_file(stream, kind) for stream in (False, True) for kind in (None, "lz4", "zstd")]
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.arrow"
        for _ in range(count):
            raw = bytearray(rng.choice(whole))
            for place in rng.choices(range(8 * len(raw)), k=rng.choice([1, 1, 2, 5])):
                raw[place // 8] ^= 1 << place % 8
            path.write_bytes(raw if rng.random() > 0.05 else raw[: rng.randrange(len(raw))])
            found[read_in_child(path)] += 1
    print(dict(found))
    assert set(found) <= {"read", "refused"}, found


if __name__ == "__main__":
    main()
