"""The code blocks of a page of the documentation, and how they are run, one after the other, in one folder.

What a page says about its blocks stands in comments, which readers do not see:

    <!-- files: products, vectors -->     at the top: what lies in the folder (tests/pages/files.py)
    <!-- needs: torch, onnx -->           at the top: libraries without which the page is not run
    <!-- run by: tests/interop/FILE.py --> at the top: another test runs the page, which needs more libraries
    <!-- exit: 1 -->                      before a block: its last command ends with this code
    <!-- not run: needs a model hub -->   before a block: it is not run, and why

A block of the kind `console` has commands after `$ `, and what they print: each line of it must be printed,
in this order; `…` stands for anything. Blocks of the kinds `bash` and `python` are run, `text` is not. Blocks
of other kinds are files: with `title="NAME"` they are written, in TOML and JSON they must be readable.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"(?P<comments>(?:^[ ]*<!-- [^\n]* -->\n\s*)*)"
    r"^(?P<indent>[ ]*)```(?P<kind>\w*)(?P<info>[^\n]*)\n(?P<content>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"<!-- (?P<key>[a-z ]+): (?P<value>[^\n]*?) -->")
TITLE = re.compile(r'title="([^"]+)"')
IN_A_SHELL = re.compile(r"[|><;&*$`]")
NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?")
INSTALLS = ("pip install", "python -m pip install", "python -m venv", "source ")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    line: int
    kind: str
    title: str | None
    content: str
    remarks: dict[str, str] = field(default_factory=dict)


def files_of(page: Path, key: str = "files") -> list[str]:
    """Return what the page says lies in its folder, or another list of it (`needs`)."""
    for found in COMMENT.finditer(page.read_text(encoding="utf-8")):
        if found["key"] == key:
            return [name.strip() for name in found["value"].split(",")]
    return []


def run_by(page: Path) -> str | None:
    """Return the test that runs the page in place of this one, if there is one."""
    for found in COMMENT.finditer(page.read_text(encoding="utf-8")):
        if found["key"] == "run by":
            return found["value"]
    return None


def blocks_of(page: Path) -> Iterator[Block]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        indent = found["indent"]
        title = TITLE.search(found["info"])
        yield Block(
            line=text.count("\n", 0, found.start("kind")) + 1,
            kind=found["kind"],
            title=title[1] if title else None,
            content="".join(line.removeprefix(indent) for line in found["content"].splitlines(keepends=True)),
            remarks={each["key"]: each["value"] for each in COMMENT.finditer(found["comments"])},
        )


def prose(text: str) -> str:
    r"""Return the text of a page without its code blocks, comments and the targets of links.

    >>> prose("Read [this](page.md).\n\n```bash\nxlingual demo\n```\n<!-- end -->\nIt is short.").split()
    ['Read', 'this.', 'It', 'is', 'short.']
    """
    text = BLOCK.sub("", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def steps(block: Block) -> Iterator[tuple[str, str]]:
    """Return the commands of a block, each with what the page says it prints."""
    text = re.sub(r"[ ]*\\\n\s*", " ", block.content)
    if block.kind == "bash":
        yield from ((line, "") for line in text.splitlines() if line.strip() and not line.startswith("#"))
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


@dataclass
class Runner:
    """Runs the blocks of one page in the current folder.

    `run` runs the words of a command line of xlingual and returns its exit code; `printed` returns what was
    printed since it was called last.
    """

    run: Callable[[list[str]], int]
    printed: Callable[[], str]
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def block(self, block: Block) -> None:
        """Run a block; raise AssertionError where it does not do what the page says."""
        if "not run" in block.remarks:
            assert len(block.remarks["not run"]) > 5, "say why it is not run"
        elif block.kind in {"console", "bash"}:
            self.commands(block)
        elif block.kind == "python":
            exec(compile(block.content, f"block at line {block.line}", "exec"), self.names)
            self.printed()
        elif block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.content, encoding="utf-8")
        elif block.kind in {"toml", "json"}:
            {"toml": tomllib.loads, "json": json.loads}[block.kind](block.content)
        else:
            assert block.kind in {"text", "csv", "tsv", "yaml", "html", "bibtex"}, (
                f"kind of block: {block.kind!r}"
            )

    def commands(self, block: Block) -> None:
        todo = list(steps(block))
        assert todo, "no command: a block of the kind console begins with $"
        for i, (command, expected) in enumerate(todo):
            code = self.command(command)
            found = self.printed()
            wanted = int(block.remarks.get("exit", 0)) if i == len(todo) - 1 else 0
            assert code == wanted, f"{command}\nended with {code}, not {wanted}:\n{found}"
            check_printed(expected, found, command)

    def command(self, command: str) -> int:
        command = re.sub(r"\s+#\s.*", "", command).strip()
        if command.startswith(INSTALLS):
            return 0
        if command.startswith("xlingual ") and not IN_A_SHELL.search(unquoted(command)):
            return self.run(shlex.split(command)[1:])
        return subprocess.run(["sh", "-c", command], check=False, stdin=subprocess.DEVNULL).returncode


def unquoted(command: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", command)


def check_printed(expected: str, found: str, command: str) -> None:
    """Raise AssertionError where a command did not print what the page shows.

    Numbers may be off a little: other processors round otherwise, and a rank may change by it.
    """
    rest = words(found)
    for piece in expected.split("…"):
        if shown := words(piece):
            end = place_of(shown, rest)
            assert end is not None, f"{command}\nthe page shows\n{piece}\nbut it printed\n{found}"
            rest = rest[end:]


def place_of(shown: str, text: str) -> int | None:
    """Return where words end in a text that has them, with numbers that are nearly the same; None if nowhere.

    >>> place_of("mean 0.501 of 12", "the mean 0.500 of 12 texts"), place_of("mean 0.7", "the mean 0.5")
    (20, None)
    """
    pattern = re.escape(NUMBER.sub("\0", shown)).replace(re.escape("\0"), rf"({NUMBER.pattern})")
    wanted = [number(each) for each in NUMBER.findall(shown)]
    for match in re.finditer(pattern, text):
        if all(
            abs(number(is_) - want) <= max(0.03, 0.03 * want)
            for is_, want in zip(match.groups(), wanted, strict=True)
        ):
            return match.end()
    return None


def number(text: str) -> float:
    return float(text.replace(",", ""))


def words(text: str) -> str:
    """Return a text as words with one space between each two: lines break elsewhere in a page."""
    return " ".join(text.split())
