"""Small built-in data, vectors for it, and the command line: in this process, or in one of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xlingual as package
from xlingual.cli.main import run
from xlingual.demo_data.scenes import write_scenes
from xlingual.encoders import pixels

LANGUAGES = ("en", "de", "es")
ITEMS = 120


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("warning: ")]


Command = Callable[..., Outcome]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with scenes (`s`), vectors of texts (`v/good`, `v/bad`) and of images (`img.npy`)."""
    folder = tmp_path_factory.mktemp("prepared")
    write_scenes(folder / "s", n=ITEMS, languages=LANGUAGES)
    rng = np.random.default_rng(0)
    ideal = rng.standard_normal((ITEMS, 16))
    (folder / "v").mkdir()
    np.save(folder / "img.npy", ideal.astype(np.float32))
    for name, noise in (("good", 0.3), ("bad", 5.0)):
        for language in LANGUAGES:
            vectors = ideal + noise * rng.standard_normal(ideal.shape)
            np.save(folder / "v" / f"{name}.{language}.npy", vectors.astype(np.float32))
    images = {path: path.read_bytes() for path in (folder / "s" / "images").iterdir()}
    yield folder
    changed = [path for path, content in images.items() if path.read_bytes() != content]
    assert not changed, f"a test wrote into {changed}, which all tests share: remove an image before writing"


@pytest.fixture(scope="session", autouse=True)
def _images_described_once() -> Iterator[None]:
    """Keep what `pixels` makes of the images that most tests share."""
    describe = pixels.describe
    kept: dict[bytes, Any] = {}

    def described(rgb: Any) -> Any:
        key = sha256(rgb.tobytes()).digest()
        if key not in kept:
            kept[key] = describe(rgb)
        return kept[key].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixels, "describe", described)
        yield


@pytest.fixture
def work(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, empty but for `s`, `v` and `img.npy`; a test may change them.

    An image is shared with other tests: to change it, remove it first.
    """
    shutil.copytree(prepared, tmp_path, copy_function=_shared_or_copied, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _shared_or_copied(source: str, to: str) -> None:
    (os.link if source.endswith(".png") else shutil.copyfile)(source, to)


_ADD_UP = ("--text-encoder", "--system")


@pytest.fixture
def xlingual(work: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return the command line in this process: `xlingual("data", "check", "s")`.

    Options `instead`, with their values, take the place of those among the arguments; encoders add up.
    """

    def command(*arguments: object, instead: Sequence[object] = ()) -> Outcome:
        capsys.readouterr()
        once = [word for word in instead if str(word).startswith("--") and word not in _ADD_UP]
        places = [place for place, word in enumerate(arguments) if word in once]
        kept = [word for place, word in enumerate(arguments) if not {place, place - 1} & {*places}]
        code = run([str(argument) for argument in (*kept, *instead)])
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return command


@pytest.fixture
def bkr(xlingual: Command) -> Command:
    """Return Backretrieval of the prepared data into `out`; keywords replace parts of it."""

    def command(
        *more: object, manifest: str = "s", text: str = "v/good.{lang}.npy", image: str = "img.npy"
    ) -> Outcome:
        given = ("--text-encoder", text, "--image-encoder", image, "--out", "out", "--threads", "1")
        return xlingual("evaluate", "bkr", manifest, *given, instead=more)

    return command


_START = "from xlingual.cli.main import main; print('ready', flush=True); main()"


@pytest.fixture
def spawn(work: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Return a function that starts the command line in a process of its own.

    `ready=True`: it prints "ready" when it has been imported, just before it begins. Other keywords are those
    of `Popen`; `variables` are added to the environment.
    """

    def start(
        *arguments: str, ready: bool = False, variables: dict[str, str] | None = None, **popen: Any
    ) -> subprocess.Popen[bytes]:
        found = {"PYTHONPATH": str(Path(package.__file__).parents[1]), "PYTHONUTF8": "1"}
        how = ["-c", _START] if ready else ["-m", "xlingual"]
        channels = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, *how, *arguments],
            env=os.environ | found | (variables or {}),
            **(channels | popen),
        )

    return start


@pytest.fixture
def process(spawn: Callable[..., subprocess.Popen[bytes]]) -> Command:
    """Return the command line in a process of its own, run to its end."""

    def command(*arguments: str, **more: Any) -> Outcome:
        with spawn(*arguments, **more) as running:
            out, err = running.communicate(timeout=300)
        return Outcome(running.returncode, (out or b"").decode(), err.decode())

    return command
