"""The command line with other rankers: the same numbers, other diagnostics; what is not there is refused."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="torch is not installed")


def numbers(folder):
    """Return results.json but for what may differ, and the table of queries."""
    content = json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))
    diagnostics = content.pop("diagnostics")
    del content["timings"], content["costs"], content["run"]
    return content, pq.read_table(Path(folder) / "per_query.parquet"), diagnostics


@pytest.mark.parametrize("precision", ["fp16", "bf16", "fp32"])
@pytest.mark.cases(1)
def test_backretrieval_is_the_same(bkr, precision):
    assert bkr("--backend", "cpu", "--measure", "R@5", "--measure", "MedR").code == 0
    plain = numbers("out")
    options = ("--backend", "torch", "--device", "cpu", "--precision", precision, "--memory", "2MiB")
    outcome = bkr(*options, "--measure", "R@5", "--measure", "MedR", "--report")
    assert (outcome.code, outcome.warnings) == (0, [])
    found = numbers("out")
    assert found[0] == plain[0]
    assert found[1].equals(plain[1])
    assert plain[2]["ranking"] == {"backend": "cpu"}
    ranking = found[2]["ranking"]
    assert (ranking["backend"], ranking["device"], ranking["precision"]) == ("torch", "cpu", precision)
    assert 0 < ranking["decided_in_float64"] <= ranking["undecided"] < 1
    assert found[2]["pairs_screened"] == plain[2]["pairs_screened"]
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert f"cpu, {precision}" in page and "undecided after the first pass" in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--backend", "torch", "--device", "mps"], ["'mps'", "--backend cpu"]),
        (["--device", "cuda:77"], ["'cuda:77'"]),
        (["--backend", "cpu", "--device", "cuda"], ["--backend cpu", "--device cuda"]),
        (["--backend", "tpu"], ["'tpu'"]),
        (["--backend", "torch", "--memory", "much"], ["'much'"]),
    ],
)
def test_refusals(bkr, options, words):
    outcome = bkr(*options)
    assert outcome.code == 2
    message = outcome.err.strip().splitlines()[-1]
    assert all(word in message for word in words)
    assert "Traceback" not in outcome.err
    assert not Path("out").exists()
