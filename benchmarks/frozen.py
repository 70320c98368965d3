"""What every command finds and shows, kept before the code is rearranged and compared after.

    python -m benchmarks.frozen run BEFORE          before a refactor
    python -m benchmarks.frozen run AFTER           after it
    python -m benchmarks.frozen compare BEFORE AFTER

`run` runs the steps of `frozen_steps` at 120 and at 80 columns, in a folder for each width (OUT/120, OUT/80).
What is finished is not run again, so that an interrupted run goes on. `run OUT STEP…` runs these steps only,
also where they are finished. PYTHONPATH=TREE/src makes it run the code of another tree. In `printed` lies
what a terminal shows (.ansi), what goes to standard error (.err) and, where a command prints JSON, that
(.json); `help` has the help of all commands; exit codes are in codes.json. Libraries work on one thread.
Data is looked for in XLINGUAL_DATA; steps whose data or packages are absent are left out, with a line that
says so.

`compare` compares every value of every JSON file, every cell of every Parquet file and every byte of other
data to the last digit, and exits with 1 where one differs or is missing. Keys, columns and files may be
added. What people read (.ansi, .err, .html, .md) it does not compare: its changes are to be read, in a diff.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import shlex
import struct
import sys
import termios
import time
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import click

from benchmarks.frozen_compare import compare
from benchmarks.frozen_steps import STEPS, Step

WIDTHS = (120, 80)
LINES = 50
# imported once: every step is a fork of this process
PRELOADED = (
    "numpy",
    "scipy.stats",
    "pyarrow.parquet",
    "rich.table",
    "jinja2",
    "PIL.Image",
    "xlingual.cli.main",
)
DATA = "data"


def folder_of_data() -> Path:
    """Return where the shared data is: XLINGUAL_DATA, else ../shared/data beside the repository."""
    return Path(os.environ.get("XLINGUAL_DATA") or "../shared/data").resolve()


def lacking(step: Step, data: Path) -> list[str]:
    """Return which data and packages a step needs that are not there."""
    return [name for name in step.needs if not ((data / name).is_dir() or find_spec(name))]


def in_terminal(words: Sequence[str], folder: Path, width: int) -> tuple[int, str, str]:
    """Run a command line in a folder, its output to a terminal; return exit code, output and errors."""
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, width, 0, 0))
    mode = termios.tcgetattr(inner)
    mode[1] &= ~termios.OPOST  # line ends stay as they are
    termios.tcsetattr(inner, termios.TCSANOW, mode)
    errors = folder / ".errors"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(terminal)
        _become(words, folder, width, inner, errors)
    os.close(inner)
    out = b"".join(_read(terminal))
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    err = errors.read_text("utf-8", errors="replace")
    errors.unlink()
    code, here = os.waitstatus_to_exitcode(status), str(folder.parent)
    return code, out.decode("utf-8", errors="replace").replace(here, "OUT"), err.replace(here, "OUT")


def _become(words: Sequence[str], folder: Path, width: int, out: int, errors: Path) -> NoReturn:
    """Run the command line in this process, a fork, and end it."""
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        os.environ |= {"COLUMNS": str(width), "LINES": str(LINES), "TERM": "xterm"}
        code = import_module("xlingual.cli.main").run(list(words))
    except BaseException:  # a fork that goes on would run the other steps too
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _read(terminal: int) -> Iterator[bytes]:
    """Give what is written to a terminal until its other end is closed."""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError as error:
            if error.errno == errno.EIO:
                return
            raise
        if not part:
            return
        yield part


def run_step(step: Step, folder: Path, width: int) -> int:
    """Run a step, keep what it prints, and return its exit code."""
    if step.prepare:
        os.chdir(folder)
        step.prepare()
    code, out, err = in_terminal(shlex.split(step.words), folder, width)
    name = folder / "printed" / step.name
    name.with_suffix(".ansi").write_text(out, encoding="utf-8")
    name.with_suffix(".err").write_text(err, encoding="utf-8")
    try:
        json.loads(out)
    except ValueError:
        return code
    name.with_suffix(".json").write_text(out, encoding="utf-8")
    return code


def help_pages(folder: Path, width: int) -> int:
    """Keep the help of every command; return how many there are."""
    root = import_module("xlingual.cli.main").xlingual
    names = list(_commands(root, ()))
    for words in names:
        _, out, err = in_terminal((*words, "--help"), folder, width)
        (folder / "help" / f"{'-'.join(('xlingual', *words))}.ansi").write_text(out + err, encoding="utf-8")
    return len(names)


def _commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from _commands(found, (*words, name))


def run(out: Path, wanted: Sequence[str] = ()) -> None:
    """Run all steps that are not finished, or the wanted ones, at every width."""
    data, out = folder_of_data(), out.resolve()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ |= {"XLINGUAL_STORE": "../store"}
    for name in PRELOADED:
        import_module(name)
    print(f"code: {Path(sys.modules['xlingual'].__file__ or '').parent}")
    for width in WIDTHS:
        folder = out / str(width)
        for name in ("printed", "help"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        if not (folder / DATA).is_symlink():
            (folder / DATA).symlink_to(data)
        os.environ["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
        _run_at(width, folder, data, wanted)


def _run_at(width: int, folder: Path, data: Path, wanted: Sequence[str]) -> None:
    path = folder / "codes.json"
    codes: dict[str, int] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for step in STEPS:
        if (step.name not in wanted) if wanted else (step.name in codes):
            continue
        if step.once and width != WIDTHS[0]:
            continue
        if missing := lacking(step, data):
            print(f"{width} {step.name}: left out, needs {', '.join(missing)}", flush=True)
            continue
        begun = time.perf_counter()
        codes[step.name] = run_step(step, folder, width)
        took = time.perf_counter() - begun
        print(f"{width} {step.name}: exit code {codes[step.name]}, {took:.1f} s", flush=True)
        path.write_text(json.dumps(codes, indent=1), encoding="utf-8")
    if not wanted:
        print(f"{width} help: {help_pages(folder, width)} pages", flush=True)


def main(words: Sequence[str]) -> int:
    """Run or compare, as the arguments say."""
    if len(words) >= 2 and words[0] == "run":
        known = {step.name for step in STEPS}
        if unknown := [name for name in words[2:] if name not in known]:
            raise SystemExit(f"no step {unknown[0]!r}: expected some of {', '.join(sorted(known))}")
        run(Path(words[1]), words[2:])
        return 0
    if len(words) == 3 and words[0] == "compare":
        return compare(Path(words[1]), Path(words[2]))
    raise SystemExit("usage: python -m benchmarks.frozen run OUT [STEP…] | compare BEFORE AFTER")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
