"""Every block of docs/integrations.md runs, in a folder that has the files it names."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest

for library in ("sentence_transformers", "accelerate", "datasets", "mteb", "mlflow", "tensorboard"):
    pytest.importorskip(library)

from xlingual import Manifest, backretrieval, write_scenes  # noqa: E402
from xlingual.cli.main import run  # noqa: E402
from xlingual.data.pools.mix import mix_pool  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
BLOCKS = re.findall(
    r"^```(python|bash)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.fixture
def files(copied, tmp_path, monkeypatch):
    copied("sentence_plain", "my-model")
    path = write_scenes(tmp_path / "scenes", n=100, languages=["en", "de"], seed=3)
    manifest = Manifest.read(path)
    shutil.copytree(path.parent / "images", tmp_path / "images")
    shutil.copy(path, tmp_path / "shop.parquet")
    mix_pool(manifest).write(tmp_path / "pool")
    encoders = {"mine": "chargram", "other": "random:?dim=8"}
    backretrieval(manifest, text_encoders=encoders, image_encoder="pixels", store=None).write(
        tmp_path / "results"
    )
    with (tmp_path / "pairs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["anchor", "positive"], *([f"a {i}", f"b {i}"] for i in range(16))])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    return tmp_path


def test_the_blocks_run(files, capsys):
    assert [kind for kind, _ in BLOCKS] == ["python", "bash", "python", "python"]
    for kind, block in BLOCKS:
        if kind == "python":
            exec(compile(block, str(PAGE), "exec"), {})
            continue
        for line in block.splitlines():
            assert run(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    card = (files / "my-model" / "README.md").read_text(encoding="utf-8")
    assert "BkR R@10 (95% interval" in card
    assert (files / "mteb-results/org__mine/no_revision_available/Backretrieval-shop.json").exists()
    assert len(list((files / "runs").iterdir())) == 1
    assert next((files / "out" / "eval").iterdir()).name == "Backretrieval_evaluation_shop_results.csv"
