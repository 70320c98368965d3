"""From a command to its first number: one encoder of 730 vectors, against the import of numpy and pyarrow.

Counted are processor seconds of the whole process, so that other programs on the machine matter little.
Python keeps its compiled files in a folder of this run, as an installation does.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.vectors import spectrum
from xlingual import Manifest, backretrieval

ITEMS, ROUNDS, LIMIT = 730, 7, 4.2
BARE = ("-c", "import numpy, pyarrow")
MEASURE = "R@10"


def seconds(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Return the processor's seconds of a fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def written(folder: Path) -> tuple[str, str, str]:
    """Write a manifest and vectors of its texts and images; return their paths."""
    rows = [{"id": f"{i}", "lang": ("en", "de")[i % 2], "text": f"text {i}"} for i in range(ITEMS)]
    data = folder / "data.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    rng = np.random.default_rng(0)
    for name, dim in (("texts", 128), ("images", 256)):
        np.save(folder / f"{name}.npy", spectrum(rng, ITEMS, dim))
    return str(data), f"vectors:{folder}/texts.npy", f"vectors:{folder}/images.npy"


def main() -> None:
    """Print the ratio of the medians, taken in turns; the number is that of the library."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        data, texts, images = written(folder)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        options = ("--pairs", "en-de", "--text-encoder", texts, "--image-encoder", images)
        command = ("-m", "xlingual", "evaluate", "bkr", data, *options, "--threads", "1", "--quiet")
        bare, ours = [], []
        for number in range(-1, ROUNDS):  # the first round compiles
            out = folder / f"results {number}"
            bare.append(seconds(BARE, environment))
            ours.append(seconds((*command, "--out", str(out)), environment))
        made = json.loads((out / "results.json").read_text())["results"]
        results = backretrieval(
            Manifest.read(data), text_encoders=[texts], image_encoder=images, pairs="en-de"
        )
    numbers = {one["measure"]: one["value"] for one in made}
    assert numbers == {one.measure: one.value for one in results.entries}
    least, whole = (sorted(times[1:])[ROUNDS // 2] for times in (bare, ours))
    ratio = whole / least
    print(
        f"{MEASURE} {numbers[MEASURE]:.4f}: {whole:.2f} s, "
        f"numpy and pyarrow alone {least:.2f} s, ratio {ratio:.1f} (limit {LIMIT})"
    )
    assert ratio <= LIMIT
