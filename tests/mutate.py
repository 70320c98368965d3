"""Make small random errors in source files, and count those that tests see.

    python -m tests.mutate --files 'src/xlingual/ranking/*.py' --tests tests/conformance --number 60

Each mutant has one change: another comparison or operator, a number more or less by 1, a condition turned
round, a call left out. It is tested in a copy of the tree. One that cannot be imported does not count. Lines
marked `# speed`, which only say how much is done at a time, are left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path
from queue import SimpleQueue

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
NAMES = {"min": "max", "minimum": "maximum", "amin": "amax"}
NAMES |= {second: first for first, second in NAMES.items()}
SMALL = 64  # larger numbers are seldom exact
LEFT_OUT = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert)  # raise: the words of errors
SPEED, HIDDEN = "# speed", (".*", "__pycache__", "build", "node_modules")
STARTUP = 20.0  # seconds more than four times the tests' own that a mutant may take


@dataclass(frozen=True)
class Mutant:
    """One change of a file: `new` takes the place of the bytes from `start` to `stop`."""

    path: Path  # relative to the tree
    line: int
    start: int
    stop: int
    new: str

    def apply(self, source: bytes) -> bytes:
        """Change the source."""
        return source[: self.start] + self.new.encode() + source[self.stop :]

    def show(self, source: bytes) -> str:
        """Show the lines that change, before and after."""
        head, tail = source.rfind(b"\n", 0, self.start) + 1, (source + b"\n").find(b"\n", self.stop)
        after = self.apply(source)[head : tail - self.stop + self.start + len(self.new.encode())]
        before, after = (b" ".join(text.split()).decode() for text in (source[head:tail], after))
        return f"{self.path}:{self.line}\n    {before}\n    {after}"


def mutants_of(path: Path, source: bytes) -> list[Mutant]:
    """List all mutants of a file."""
    lines = source.splitlines(keepends=True)
    starts, mutants = [0, *accumulate(map(len, lines))], []
    for node, new in _changes(ast.parse(source)):
        if SPEED.encode() not in lines[node.lineno - 1]:
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[node.end_lineno - 1] + node.end_col_offset
            mutants.append(Mutant(path, node.lineno, start, stop, new))
    return mutants


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Find the changes below a node, as (node, text in its place)."""
    yield from ((node, text) for text in _texts(node))
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.Compare):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_out(child):
                yield from _changes(child)


def _is_left_out(node: ast.AST) -> bool:
    """Decide whether a node is a docstring, an alias of types, __all__, or only for type checkers."""
    match node:
        case ast.Expr(ast.Constant()) | ast.If(ast.Name("TYPE_CHECKING")) | ast.Assign([ast.Name("__all__")]):
            return True
        case ast.AnnAssign(annotation=ast.Name("TypeAlias")):
            return True
    return isinstance(node, LEFT_OUT)


def _texts(node: ast.AST) -> Iterator[str]:
    """Write the changed forms of a node."""
    match node:
        case ast.Compare():
            for i, op in enumerate(node.ops):
                if type(op) in SWAPS:
                    yield _with(node, ops=[*node.ops[:i], SWAPS[type(op)](), *node.ops[i + 1 :]])
        case ast.BinOp() | ast.BoolOp() if type(node.op) in SWAPS:
            yield _with(node, op=SWAPS[type(node.op)]())
        case ast.AugAssign():
            yield "pass"
            if type(node.op) in SWAPS:
                yield _with(node, op=SWAPS[type(node.op)]())
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value) if value <= SMALL:
            yield from (str(value + 1), f"({value - 1})")
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield f"({ast.unparse(node.operand)})"
        case ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Call(func=ast.Attribute(attr="searchsorted")):
            turned = "left" if "side='right'" in ast.unparse(node) else "right"
            others = [word for word in node.keywords if word.arg != "side"]
            yield _with(node, keywords=[*others, ast.keyword("side", ast.Constant(turned))])
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in NAMES:
            called = ast.unparse(node.func)
            yield called.removesuffix(name) + NAMES[name] + ast.unparse(node)[len(called) :]


def _with(node: ast.AST, **fields: object) -> str:
    """Write a node with other fields."""
    changed = copy.copy(node)
    vars(changed).update(fields)
    text = ast.unparse(ast.fix_missing_locations(changed))
    return f"({text})" if isinstance(node, ast.BoolOp) else text


class Trees:
    """Copies of a tree, in each of which one mutant at a time is tested."""

    def __init__(self, root: Path, folder: Path, number: int, tests: list[str]) -> None:
        self.tests, self.limit, self.free, self.clock = tests, 3600.0, SimpleQueue[Path](), count(1)
        for i in range(number):
            shutil.copytree(root, folder / str(i), ignore=shutil.ignore_patterns(*HIDDEN))
            self.free.put(folder / str(i))

    def try_out(self, mutant: Mutant) -> str | None:
        """Test a mutant: "survived", "killed", or None where it cannot be imported."""
        tree, module = self.free.get(), mutant.path.with_suffix("").parts
        path, name = tree / mutant.path, ".".join(module[module[0] == "src" :])
        source = path.read_bytes()
        try:
            self._write(path, mutant.apply(source))
            return self.test(tree) if self._run(tree, "-c", f"import {name}") == 0 else None
        finally:
            self._write(path, source)
            self.free.put(tree)

    def _write(self, path: Path, source: bytes) -> None:
        """Write a file with a time that no version had: compiled files are recognised by it."""
        path.write_bytes(source)
        os.utime(path, (1e9 + next(self.clock),) * 2)

    def test(self, tree: Path) -> str:
        """Run the tests in a tree."""
        options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        status = self._run(tree, "-m", "pytest", *options, *self.tests)
        return "killed (time ran out)" if status is None else "killed" if status else "survived"

    def _run(self, tree: Path, *arguments: str) -> int | None:
        """Run Python in a tree; None where the time ran out, after which nothing of it is left."""
        places = {"cwd": tree, "env": os.environ | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}}
        with (tree / "log.txt").open("w") as log:
            streams = {"stdout": log, "stderr": subprocess.STDOUT, "start_new_session": True}
            process = subprocess.Popen([sys.executable, *arguments], **places, **streams)
        try:
            return process.wait(self.limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def main(arguments: list[str] | None = None) -> int:
    """Try mutants, print what became of each, and give 1 where fewer than --least are killed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--files", nargs="+", required=True, help="source files, as patterns")
    parser.add_argument("--tests", nargs="+", required=True, help="files or folders of tests")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the tree that is copied")
    for name, value in (("number", 60), ("seed", 0), ("least", 0), ("jobs", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args(arguments)
    paths = sorted({path for pattern in options.files for path in options.root.glob(pattern)})
    sources = {path.relative_to(options.root): path.read_bytes() for path in paths}
    drawn = [mutant for path, source in sources.items() for mutant in mutants_of(path, source)]
    random.Random(options.seed).shuffle(drawn)
    tally = Counter[str]()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        trees, began = Trees(options.root, Path(folder), options.jobs, options.tests), time.monotonic()
        if trees.test(plain := Path(folder) / "0") != "survived":
            print((plain / "log.txt").read_text(), "the tests fail without any mutant", sep="\n")
            return 2
        trees.limit = STARTUP + 4 * (time.monotonic() - began)
        while drawn and (missing := options.number - tally.total()) > 0:
            batch, drawn = drawn[:missing], drawn[missing:]
            for mutant, outcome in zip(batch, pool.map(trees.try_out, batch), strict=True):
                if outcome is not None:
                    tally[outcome.split()[0]] += 1
                    print(f"{outcome:<10} {mutant.show(sources[mutant.path])}", flush=True)
    print(f"{tally['killed']} of {tally.total()} mutants killed")
    return int(tally["killed"] < options.least)


if __name__ == "__main__":
    sys.exit(main())
