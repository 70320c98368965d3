"""Time and memory of every task and built-in encoder at 1,000 to a million rows: docs/results/growth.md.

    python -m benchmarks growth_tasks                        # measures what is missing, then fills the page
    python -m benchmarks.growth_tasks --only chargram sts --again
    python -m benchmarks.growth_tasks --most 10000           # up to so many rows
    python -m benchmarks.growth_tasks --tables               # fills the page alone

Each run has a process of its own. A size is measured where the formula of the smaller sizes expects at most
`--until` seconds of processor time and `--memory` MiB; larger ones are reckoned by the formula. What is
measured is kept at once in docs/results/growth.json, so a command that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import growth_data, growth_page
from benchmarks.figures import fill, read
from benchmarks.growth_formula import fitted
from benchmarks.growth_page import FILE, SHOWN, degree_of, series
from benchmarks.keep import LIBRARIES, SCHEMA
from xlingual.results.files import write_json
from xlingual.signature import CONVENTIONS

SIZES = (
    1_000,
    3_000,
    10_000,
    30_000,
    100_000,
    300_000,
    1_000_000,
)  # of tasks; of encoders those that are shown
UNTIL, MEMORY = 180.0, 4096.0  # seconds and MiB of a run
ALWAYS = 3_000  # rows up to which nothing is expected, but measured
SHORT = 5.0  # seconds; shorter runs are measured twice, and the faster one counts


def sizes_of(name: str) -> tuple[int, ...]:
    """Return the sizes at which a task or an encoder may be measured."""
    return SIZES if name in growth_data.TASKS else SHOWN


def run(name: str, folder: Path) -> tuple[float, float]:
    """Return seconds of processor time and the peak of memory in MiB of one process.

    Of a task it is the whole command. Of an encoder the time is that of encoding, fitting included; the
    memory is that of the process, with the manifest.
    """
    task = growth_data.TASKS.get(name)
    command = ["benchmarks.growth_data", name]
    if task is not None:
        command = [
            "xlingual",
            "evaluate",
            name,
            *task.split(),
            "--no-store",
            "--out",
            f"out-{name}",
            "--quiet",
        ]
    root = Path(__file__).resolve().parents[1]
    path = os.pathsep.join([str(root), str(root / "src")])
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    shutil.rmtree(folder / f"out-{name}", ignore_errors=True)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{name} failed: {' '.join(command)}")
    whole = used.ru_utime + used.ru_stime
    return whole if task else float(printed.splitlines()[-1]), used.ru_maxrss / 1024


@contextmanager
def folders(n: int) -> Iterator[dict[str, Path]]:
    """Yield an empty map from kinds of data to their folders of this size, which go afterwards."""
    with tempfile.TemporaryDirectory(prefix=f"growth-{n}-") as folder:

        class Made(dict[str, Path]):
            def __missing__(self, kind: str) -> Path:
                self[kind] = Path(folder, kind)
                self[kind].mkdir()
                growth_data.make(self[kind], n, kind)
                return self[kind]

        yield Made()


def data_of(name: str) -> str:
    """Return the kind of data that a task or an encoder reads."""
    return name if name in {"sts", "retrieval", "multilingual-pool", "pixels"} else "manifest"


def expected(content: Mapping[str, Any], name: str, n: int) -> tuple[float, float]:
    """Return the seconds and MiB that the formulas of the smaller sizes expect."""
    found = []
    for what in ("seconds", "memory"):
        smaller = {size: value for size, value in series(content, name, what).items() if size < n}
        found.append(fitted(smaller, degree_of(name, what))(n) if smaller else 0.0)
    return found[0], found[1]


def measure(name: str, n: int, folder: Path) -> dict[str, Any]:
    """Return what is kept of one size."""
    seconds, memory = run(name, folder)
    if seconds < SHORT:
        again = run(name, folder)
        seconds, memory = min(seconds, again[0]), max(memory, again[1])
    today = datetime.now(UTC).date().isoformat()
    return {"seconds": float(f"{seconds:.3g}"), "memory": round(memory), "date": today}


def kept(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the page's file with the versions of now."""
    versions = {name: version(name) for name in ("xlingual", *LIBRARIES)}
    return {"schema": SCHEMA, "commands": {}} | content | {"conventions": CONVENTIONS, "versions": versions}


def main(
    only: tuple[str, ...] = (),
    most: int = SIZES[-1],
    until: float = UNTIL,
    memory: float = MEMORY,
    again: bool = False,
) -> None:
    """Measure what is missing, size by size; then fill the page."""
    names = [name for name in growth_page.NAMES if not only or name in only]
    content = kept(read(FILE))
    measured: dict[str, dict[str, Any]] = content.setdefault("measured", {})
    if again:
        measured |= {name: {} for name in names}
    for n in (size for size in SIZES if size <= most):
        with folders(n) as made:
            for name in names:
                rows = measured.setdefault(name, {})
                if str(n) in rows or n not in sizes_of(name):
                    continue
                seconds, peak = expected(content, name, n)
                if n > ALWAYS and (seconds > until or peak > memory):
                    print(f"{name} {n:,}: by the formula, {seconds:.0f} s and {peak:.0f} MiB", flush=True)
                    continue
                rows[str(n)] = measure(name, n, made[data_of(name)])
                print(
                    f"{name} {n:,}: {rows[str(n)]['seconds']:g} s, {rows[str(n)]['memory']} MiB", flush=True
                )
                write_json(FILE, content)
    growth_page.draw(content)
    for line in fill("growth"):
        print(line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=growth_page.NAMES, default=[], metavar="NAME")
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--until", type=float, default=UNTIL)
    parser.add_argument("--memory", type=float, default=MEMORY)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    rows = 0 if options.tables else options.most
    main(tuple(options.only), rows, options.until, options.memory, options.again)
