"""Every block of the page on training with image pairs runs, in its order, and the model gets better."""

import re
import shlex
from pathlib import Path

import pytest

for library in ("sentence_transformers", "accelerate", "datasets"):
    pytest.importorskip(library)

import pyarrow.parquet as pq  # noqa: E402

from xlingual import Results, compare  # noqa: E402
from xlingual.cli.main import run  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "improve" / "pivot-in-your-training.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|bash)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XLINGUAL_STORE", str(folder / "store"))
        patch.setenv("HF_DATASETS_CACHE", str(folder / "cache"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        for kind, block in BLOCKS:
            if kind == "python":
                exec(compile(block, str(PAGE), "exec"), {})
                continue
            for line in block.splitlines():
                assert run(shlex.split(line)[1:]) == 0, line
    return folder


@pytest.mark.slow
def test_pairs_are_of_different_items_with_weights_from_a_half_to_one(folder):
    assert [kind for kind, _ in BLOCKS] == ["bash", "python", "python", "bash"]
    pairs = pq.read_table(folder / "pairs.parquet").to_pylist()
    named = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", TEXT, re.MULTILINE)
    assert list(pairs[0]) == [name.strip("`") for names in named for name in names.split(", ")]
    assert {pair["kind"] for pair in pairs} == {"near"}
    assert all(pair["anchor_id"] != pair["positive_id"] for pair in pairs)
    weights = sorted(pair["weight"] for pair in pairs)
    assert 0.5 < weights[0] < 0.51
    assert 0.99 < weights[-1] < 1
    for least, share in ((0.6, 0.8), (0.75, 0.5)):  # as the page says of thresholds
        assert sum(weight >= least for weight in weights) / len(weights) == pytest.approx(share, abs=0.01)


@pytest.mark.slow
def test_training_on_them_helps(folder):
    (board,) = [
        one for one in compare(Results.read(folder / "results"), baseline="before").boards if one.overall
    ]
    rows = {row.encoder: row for row in board.rows}
    chance = 10 / 175
    assert rows["before"].value == pytest.approx(chance, abs=0.03)
    assert rows["after"].value > 5 * chance
    assert rows["after"].ci.low > 0.15
