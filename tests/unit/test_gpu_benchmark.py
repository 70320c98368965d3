"""The benchmark of `make gpu`: it runs at a small size on CPU tensors, and fails where there is no device."""

import re

import pytest
from benchmarks import gpu, torch_speed

torch = pytest.importorskip("torch", reason="torch is not installed")


def test_it_compares_all_precisions_and_states_shares_of_measured_rates(monkeypatch, capsys):
    monkeypatch.setattr(torch_speed, "rate", lambda ranker, size, depth: 1e15 if size == depth else 1e14)
    gpu.run(["60", "--dim", "16", "--device", "cpu"])
    printed = capsys.readouterr().out
    assert printed.startswith("device: cpu\n60 x 60, 16-d")
    for precision in ("fp32", "fp16", "bf16"):
        lines = re.findall(rf"torch {precision}.*", printed)
        assert len(lines) == 2  # targets near the top, and random ones


def test_the_rate_is_that_of_a_product():
    ranker = torch_speed.TorchRanker("cpu", precision="fp32")
    assert 1e8 < torch_speed.rate(ranker, 64, 256) < 1e15
