"""`budgets.csv` has the size of each room and its goal: a room may shrink towards its goal, never grow.

`python tests/architecture/test_budgets.py` lowers the sizes in the file to today's; it never raises one.
"""

import csv
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("budgets.csv")
SLACK = 150  # lines or words by which a room may lie below its size in the file, before the file follows


@cache
def sizes():
    """Return the lines of each room, of tests and of benchmarks, and the words of the docs."""
    source = ROOT / "src" / "xlingual"
    counts = Counter()
    for path in source.rglob("*.py"):
        inside = path.relative_to(source).parts
        room = (
            inside[0]
            if len(inside) > 1
            else {"options.py": "options", "context.py": "options"}.get(inside[0], "floor")
        )
        counts["options" if path.name in ("options.py", "context.py") and room == "floor" else room] += (
            _lines(path)
        )
        counts["source"] += _lines(path)
    for folder in ("tests", "benchmarks"):
        counts[folder] = sum(map(_lines, (ROOT / folder).rglob("*.py")))
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    counts["words of docs"] = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    return counts


def _lines(path):
    return path.read_text(encoding="utf-8").count("\n")


@cache
def budgets():
    """Return (size in the file, goal) of each room."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return {row["room"]: (int(row["size"]), int(row["goal"])) for row in csv.DictReader(lines)}


@pytest.mark.parametrize("room", sorted(budgets().keys() | sizes().keys()))
def test_a_room_only_shrinks_towards_its_goal(room):
    assert room in budgets(), f"{room} has no budget in {FILE.name}"
    size, goal = budgets()[room]
    today = sizes()[room]
    assert today <= max(size, goal), f"{room} grew from {size} to {today}; its goal is {goal}"
    assert size <= max(goal, today + SLACK), f"{room} shrank to {today}: run python {Path(__file__).name}"


def lower():
    """Write today's sizes where they are below those in the file."""
    before, today = budgets(), sizes()
    with FILE.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("room", "size", "goal"))
        for room, (size, goal) in before.items():
            out.writerow((room, min(size, today[room]), goal))


if __name__ == "__main__":
    lower()
