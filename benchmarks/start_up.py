"""Starting the program: `xlingual --help` against a bare click program."""

from __future__ import annotations

import subprocess
import sys
import time

BARE = "import click\n@click.group()\ndef main(): 'A program.'\nmain(['--help'])"
ROUNDS = 15
LIMIT = 2.0


def seconds(arguments: list[str]) -> float:
    """Return how long a fresh interpreter takes."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    assert "Usage:" in done.stdout
    return time.perf_counter() - begun


def main() -> None:
    """Print the ratio of the medians, taken in turns."""
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(seconds(["-c", BARE]))
        ours.append(seconds(["-m", "xlingual", "--help"]))
    ratio = sorted(ours)[ROUNDS // 2] / sorted(bare)[ROUNDS // 2]
    print(f"bare click {sorted(bare)[ROUNDS // 2] * 1000:.0f} ms, ratio {ratio:.2f} (limit {LIMIT})")
    assert ratio <= LIMIT
