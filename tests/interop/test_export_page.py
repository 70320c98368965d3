"""The block of docs/how-to/python/export-results.md that needs trackers runs with the real ones."""

import shlex
import shutil
from pathlib import Path

import pytest

for library in ("mlflow", "tensorboard"):
    pytest.importorskip(library)

from tests.pages.blocks import blocks_of, steps  # noqa: E402

from xlingual import Manifest, backretrieval, write_scenes  # noqa: E402
from xlingual.cli.main import run  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python" / "export-results.md"


@pytest.fixture
def files(tmp_path, monkeypatch):
    path = write_scenes(tmp_path / "scenes", n=100, languages=["en", "de"], seed=3)
    shutil.copytree(path.parent / "images", tmp_path / "images")
    shutil.copy(path, tmp_path / "shop.parquet")
    encoders = {"mine": "chargram", "other": "random:?dim=8"}
    backretrieval(Manifest.read(path), encoders, image_encoder="pixels", store=None).write(
        tmp_path / "results"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    return tmp_path


def test_the_block_runs(files, capsys):
    (block,) = (block for block in blocks_of(PAGE) if "not run" in block.remarks)
    for command, _ in steps(block):
        assert run(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert (files / "runs.db").exists()
    assert (files / "all.csv").exists()
    assert len(list((files / "runs").iterdir())) == 1
