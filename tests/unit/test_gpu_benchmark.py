"""The benchmark of `make gpu`: it runs at a small size on CPU tensors, and fails where there is no device."""

import re

import numpy as np
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
        assert all("of the peak that was measured (1000.00 T/s)" in line for line in lines)
        assert all("of bare products of this depth (100.00 T/s)" in line for line in lines)


def test_many_queries_are_compared_with_the_processor_on_a_sample(monkeypatch, capsys):
    monkeypatch.setattr(torch_speed, "rate", lambda ranker, size, depth: 1e14)
    monkeypatch.setattr(torch_speed, "WHOLE", 50)
    monkeypatch.setattr(torch_speed, "SAMPLE", 7)
    gpu.main([60], 16, "cpu")
    assert capsys.readouterr().out.count("equal to the processor on 7 queries") == 2
    found = torch_speed.Found(1.0, np.ones(60), np.ones(60), np.ones(60))
    queries, candidates = torch_speed.sides(60, 16)
    similarity = torch_speed.Cosine(torch_speed.UnitVectors(queries), torch_speed.UnitVectors(candidates))
    with pytest.raises(AssertionError):
        torch_speed.on_a_sample(similarity, np.arange(60), found)


def test_the_rate_is_that_of_a_product():
    ranker = torch_speed.TorchRanker("cpu", precision="fp32")
    assert 1e8 < torch_speed.rate(ranker, 64, 256) < 1e15


def test_no_device_is_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    with pytest.raises(SystemExit) as ended:
        gpu.run([])
    assert str(ended.value.code).startswith(
        "error: the benchmark of a GPU did not run: device 'cuda' is not there"
    )
