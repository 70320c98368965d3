"""Fill README and the pages of results from the figures beside them; nothing is run.

    python -m benchmarks.figures        or: make figures

`python -m benchmarks.keep PAGE COMMAND…` keeps what a command prints in docs/results/PAGE.json. The page
shows it in places between comments: as tables and lines of Markdown, or as commands with what they printed.

    <!-- tables: mlmme_runs -->
    <!-- end -->
    <!-- output: compare, gate -->
    <!-- end -->

A place has the name of a benchmark, or of a command of xlingual: its first word, or all of it where a page
has several ("cite out/ikea"). README's figures are in docs/results/readme.json, those of
docs/results/README.md (the index, with claims) in claims.json.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path("docs/results")
WIDTH = 120  # columns of a command that stands in a page
OPENING = re.compile(r"^<!-- (tables|output): ", re.MULTILINE)
PLACE = re.compile(
    r"(?P<start><!-- (?P<kind>tables|output): (?P<names>[^\n]+?) -->\n)"
    r"(?:(?!<!-- ).*\n)*?(?P<end><!-- end -->)"
)
Block = dict[str, Any]
Kept = dict[str, tuple[str, list[Block]]]


def blocks(lines: list[str]) -> list[Block]:
    """Return printed lines as blocks: {"table": rows of cells} or {"line": text}; empty lines are left out.

    >>> blocks(["### T", "| a | b |", "|---|---|", "| 1 | 2 |"])
    [{'line': '### T'}, {'table': [['a', 'b'], ['1', '2']]}]
    """
    found: list[Block] = []
    inside = False
    for line in lines:
        is_row = line.startswith("|") and line.endswith("|")
        if is_row and not inside:
            found.append({"table": []})
        inside = is_row
        if is_row and set(line) - set("|-: "):
            found[-1]["table"].append([cell.strip() for cell in line[1:-1].split("|")])
        elif line.strip() and not is_row:
            found.append({"line": line.rstrip()})
    return found


def markdown(found: list[Block]) -> str:
    """Return blocks as Markdown, with an empty line between each two.

    >>> print(markdown([{"table": [["a", "b"], ["1", "2"]]}]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    texts = []
    for block in found:
        rows = ["| " + " | ".join(row) + " |" for row in block.get("table", [])]
        rows[1:1] = ["|" + "---|" * len(block["table"][0])] if rows else []
        texts.append("\n".join(rows) if rows else block["line"])
    return "\n\n".join(texts)


def terminal(command: str, found: list[Block]) -> str:
    """Return a command and the lines that it printed as they stand in a terminal, then an empty line."""
    lines = ["$"]
    for part in re.split(r" (?=--)", command):
        if len(lines[-1]) + len(part) > WIDTH - 3:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {part}"
    return "\n".join(lines + [block["line"] for block in found] + [""] * bool(found)) + "\n"


def page_of(name: str, folder: Path = FOLDER) -> Path:
    """Return the path of a page of results, of their index ("claims"), or of README."""
    if name == "readme":
        return folder.parents[1] / "README.md"
    return folder / ("README.md" if name == "claims" else f"{name}.md")


def names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all pages: their files of figures are called so."""
    stems = sorted(path.stem for path in folder.glob("*.md"))
    return ["readme", *("claims" if stem == "README" else stem for stem in stems)]


def read(path: Path) -> dict[str, Any]:
    """Return what a file of figures holds; where there is none, nothing."""
    content: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return content


def kept(name: str, folder: Path = FOLDER) -> Kept:
    """Return the figures of a page by the names that its places may have, each with its command.

    A command that runs several benchmarks says before each which it is: "== mlmme_runs".
    """
    content = read(folder / f"{name}.json")
    found: Kept = {}
    for command, entry in content.get("commands", {}).items():
        short = re.sub(r"^((python -m )?benchmarks\.|xlingual )", "", command).partition(" ")[0]
        own: Kept = {short: (command, [])}
        for block in entry["output"]:
            if block.get("line", "").startswith("== "):
                short = block["line"].removeprefix("== ")
                own[short] = (command, [])
            else:
                own[short][1].append(block)
        found |= own
        if command.startswith("xlingual "):
            found[command.removeprefix("xlingual ")] = own[short]
    if name == "pivot" and "records" in content:
        from benchmarks.pivot_tables import TABLES

        made = {table: make() for table, make in TABLES.items()}
        command = "python -m benchmarks pivot_tables"
        found |= {table: (command, [{"table": rows}]) for table, rows in made.items() if len(rows) > 1}
    if name == "growth" and "measured" in content:
        from benchmarks.growth_page import places

        command = "python -m benchmarks growth_tasks"
        found |= {place: (command, shown) for place, shown in places(content).items()}
    return found


def filled(name: str, folder: Path = FOLDER) -> tuple[str, list[str]]:
    """Return a page with all its places filled, and what is wrong with those that cannot be."""
    page = page_of(name, folder)
    text = page.read_text("utf-8")
    known = kept(name, folder)
    wrong = []
    if len(OPENING.findall(text)) != len(list(PLACE.finditer(text))):
        wrong.append(f"{page}: a place does not end; write <!-- end --> before the next one begins")

    def inside(place: re.Match[str]) -> str:
        names = place["names"].split(", ")
        missing = [each for each in names if each not in known]
        for each in missing:
            command = f"xlingual {each} …" if place["kind"] == "output" else f"python -m benchmarks {each}"
            remedy = f"run python -m benchmarks.keep {name} {command}"
            wrong.append(f"{page}: {name}.json has no figures of {each}; {remedy}")
        if missing:
            return place[0]
        if place["kind"] == "tables":
            output = "\n\n".join(markdown(known[each][1]) for each in names)
        else:
            output = "".join(terminal(*known[each]) for each in names)
            output = f"```\n{output.rstrip()}\n```"
        return f"{place['start']}{output}\n{place['end']}"

    return PLACE.sub(inside, text), wrong


def fill(name: str, folder: Path = FOLDER) -> list[str]:
    """Fill the places of a page; return what is wrong with those that stay as they are."""
    text, wrong = filled(name, folder)
    page = page_of(name, folder)
    if text != page.read_text("utf-8"):
        page.write_text(text, encoding="utf-8")
        print(f"filled {page}")
    return wrong


def main() -> None:
    """Fill README and all pages of results."""
    wrong = [line for name in names() for line in fill(name)]
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
