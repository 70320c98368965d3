"""Run a command and keep what it prints as the figures of a page: docs/results/PAGE.json.

    python -m benchmarks.keep mlmme python -m benchmarks mlmme_runs
    python -m benchmarks.keep mlmme --from-page

Every number of a page under docs/results comes out of its file. Under each command the file has the version,
the date and the libraries, and the output: tables of Markdown as rows of cells, all else as lines. A command
that is run again replaces what it wrote before; one that fails changes nothing.

Where the page has a place for the output of a part of the command, the output goes there too:

    <!-- tables: mlmme_runs -->
    <!-- end -->

`--from-page` takes over the tables that stand in a page whose commands take hours, as they were printed by an
earlier run. They are marked so, under "page", and go once the command is run.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from xlingual.results.files import write_json
from xlingual.signature import CONVENTIONS

FOLDER = Path("docs/results")
SCHEMA = "xlingual/figures/1"
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def blocks(lines: list[str]) -> list[dict[str, Any]]:
    """Return printed lines as blocks: {"table": rows of cells} or {"line": text}; empty lines are left out.

    >>> blocks(["### T", "| a | b |", "|---|---|", "| 1 | 2 |"])
    [{'line': '### T'}, {'table': [['a', 'b'], ['1', '2']]}]
    """
    found: list[dict[str, Any]] = []
    inside = False
    for line in lines:
        is_row = line.startswith("|") and line.endswith("|")
        if is_row and not inside:
            found.append({"table": []})
        inside = is_row
        if is_row and set(line) - set("|-: "):
            found[-1]["table"].append([cell.strip() for cell in line[1:-1].split("|")])
        elif line.strip() and not is_row:
            found.append({"line": line.strip()})
    return found


def keep(page: str, command: list[str], lines: list[str], folder: Path = FOLDER) -> Path:
    """Write what a command printed into the figures of a page; return their file."""
    path = folder / f"{page}.json"
    content = _known(path)
    content["commands"][shlex.join(command)] = {
        "date": datetime.now(UTC).date().isoformat(),
        "xlingual": version("xlingual"),
        "conventions": CONVENTIONS,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "output": blocks(lines),
    }
    write_json(path, content)
    return path


def put(page: str, command: list[str], lines: list[str], folder: Path = FOLDER) -> list[str]:
    """Put what a command printed where the page has a place for it, and return the names of these places.

    A command that runs several benchmarks says before each which it is: "== mlmme_runs".
    """
    path = folder / f"{page}.md"
    printed: dict[str, list[str]] = {}
    of = printed.setdefault(
        re.sub(r"^(python -m )?benchmarks\.", "", shlex.join(command)).partition(" ")[0], []
    )
    for line in lines:
        if line.startswith("== "):
            of = printed.setdefault(line.removeprefix("== "), [])
        else:
            of.append(line)
    text = path.read_text("utf-8") if path.exists() else ""
    found = []
    for name, output in printed.items():
        place = re.compile(rf"(<!-- tables: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        if output and place.search(text):
            inside = "\n".join(output).strip("\n")
            text = place.sub(lambda match: f"{match[1]}{inside}\n{match[2]}", text)  # noqa: B023  (used at once)
            found.append(name)
    if found:
        path.write_text(text, encoding="utf-8")
    return found


def take_over(page: str, folder: Path = FOLDER) -> Path:
    """Write the tables of a page into its figures, marked as those of an earlier run; return their file."""
    path = folder / f"{page}.json"
    content = _known(path)
    lines = (folder / f"{page}.md").read_text("utf-8").splitlines()
    content["page"] = {
        "origin": "printed by the commands of the page in an earlier run, and not run again since",
        "output": [block for block in blocks(lines) if "table" in block],
    }
    write_json(path, content)
    return path


def _known(path: Path) -> dict[str, Any]:
    """Return what a file of figures holds so far."""
    if not path.exists():
        return {"schema": SCHEMA, "commands": {}}
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def main() -> None:
    """Run the command that the arguments give after the page's name."""
    if len(sys.argv) < 3:
        raise SystemExit("usage: python -m benchmarks.keep PAGE COMMAND… (or --from-page)")
    page, command = sys.argv[1], sys.argv[2:]
    if command == ["--from-page"]:
        print(f"kept in {take_over(page)}")
        return
    executable = [sys.executable if command[0] == "python" else command[0], *command[1:]]
    process = subprocess.Popen(executable, stdout=subprocess.PIPE, text=True)
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line.rstrip("\n"))
    if process.wait() != 0:
        raise SystemExit(f"{shlex.join(command)} failed: {FOLDER / page}.json is as it was")
    print(f"kept in {keep(page, command, lines)}")
    for name in put(page, command, lines):
        print(f"the tables of {name} stand in {FOLDER / page}.md")


if __name__ == "__main__":
    main()
