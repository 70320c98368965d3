"""Run a command and keep what it prints as the figures of a page: docs/results/PAGE.json.

    python -m benchmarks.keep mlmme python -m benchmarks mlmme_runs
    python -m benchmarks.keep mlmme --from-page

Every number of a page under docs/results comes out of its file. Under each command the file has the version,
the date and the libraries, and the output: tables of Markdown as rows of cells, all else as lines. A command
that is run again replaces what it wrote before; one that fails changes nothing.

Where the page has a place for the output of the command, or of a part of it, the output goes there too
(`benchmarks/figures.py`, `make figures`). Of a command that README shows the verdict is kept: what is printed
up to the first empty line.

`--from-page` takes over the tables that stand in a page whose commands take hours, as they were printed by an
earlier run. They are marked so, under "page", and go once the command is run.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.figures import FOLDER, PLACE, WIDTH, blocks, fill, page_of, read
from xlingual.results.files import write_json
from xlingual.signature import CONVENTIONS

SCHEMA = "xlingual/figures/1"
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def keep(page: str, command: list[str], lines: list[str], folder: Path = FOLDER) -> Path:
    """Write what a command printed into the figures of a page; return their file."""
    path = folder / f"{page}.json"
    content = {"schema": SCHEMA, "commands": {}} | read(path)
    content["commands"].pop(shlex.join(command), None)  # the newest is the last, and fills the place
    content["commands"][shlex.join(command)] = {
        "date": datetime.now(UTC).date().isoformat(),
        "xlingual": version("xlingual"),
        "conventions": CONVENTIONS,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "output": blocks(shown(command, lines)),
    }
    write_json(path, content)
    return path


def shown(command: list[str], lines: list[str]) -> list[str]:
    """Return what a page shows of what a command printed: all, or the verdict (of a suite three)."""
    if command[0] != "xlingual":
        return lines
    return verdict(lines, 3 if command[1] == "run" else 1)


def verdict(lines: list[str], paragraphs: int = 1) -> list[str]:
    """Return the first paragraphs that a command printed, and a mark where it printed more.

    >>> verdict(["", " A is best.", "", " rank  encoder"])
    [' A is best.', ' …']
    """
    parts = "\n".join(lines).strip("\n").split("\n\n")
    return "\n".join(parts[:paragraphs]).split("\n") + [" …"] * (len(parts) > paragraphs)


def take_over(page: str, folder: Path = FOLDER) -> Path:
    """Keep the tables outside of places, marked as those of an earlier run; return the file of figures."""
    path = folder / f"{page}.json"
    content = {"schema": SCHEMA, "commands": {}} | read(path)
    lines = PLACE.sub("", page_of(page, folder).read_text("utf-8")).splitlines()
    content["page"] = {
        "origin": "printed by the commands of the page in an earlier run, and not run again since",
        "output": [block for block in blocks(lines) if "table" in block],
    }
    write_json(path, content)
    return path


def main() -> None:
    """Run the command that the arguments give after the page's name."""
    if len(sys.argv) < 3:
        raise SystemExit("usage: python -m benchmarks.keep PAGE COMMAND… (or --from-page)")
    page, command = sys.argv[1], sys.argv[2:]
    if command == ["--from-page"]:
        print(f"kept in {take_over(page)}")
        return
    executable = [sys.executable if command[0] == "python" else command[0], *command[1:]]
    wide = os.environ | {"COLUMNS": str(WIDTH)}
    process = subprocess.Popen(executable, stdout=subprocess.PIPE, text=True, env=wide)
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line.rstrip("\n"))
    if process.wait() != 0:
        raise SystemExit(f"{shlex.join(command)} failed: {FOLDER / page}.json is as it was")
    print(f"kept in {keep(page, command, lines)}")
    for line in fill(page) if page_of(page).exists() else []:
        print(line)


if __name__ == "__main__":
    main()
