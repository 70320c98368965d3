"""Who computes the tiles changes no number, keeps the user's settings, and says what it cannot do."""

import subprocess
import sys
import threading
from unittest.mock import Mock

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from xlingual.cli.ranking import chosen_ranker
from xlingual.errors import DataWarning, InputError
from xlingual.ranking import Cosine, Counts, Cpu, Top, Torch, UnitVectors, rank, rankers
from xlingual.requests.ranking import Ranking


def cosine(n=2500, m=700, dim=16):
    """Return a similarity with many ties, over three blocks of queries."""
    rng = np.random.default_rng(0)
    return Cosine(*(UnitVectors(rng.integers(-2, 3, (size, dim)).astype(np.float32)) for size in (n, m)))


def answers(ranker):
    similarity = cosine()
    pairs = np.arange(2500), np.arange(2500) % 700
    counts, top = Counts.of(similarity, *pairs), Top(3, similarity.shape)
    rank(similarity, [counts, top], ranker)
    found = top.result()
    return [a.tolist() for a in (counts.above, counts.tied, found.query, found.candidate, found.above)]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def expected():
    return answers(Cpu())


def test_threads_and_torch_give_the_same(torch, expected):
    assert answers(Cpu(3)) == answers(Torch("cpu")) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_few_blocks_are_begun_and_not_taken(monkeypatch, threads):
    begun, lock = [], threading.Lock()

    def scan_block(similarity, watchers, rows, device):
        with lock:
            begun.append(rows)
        assert all(library["num_threads"] == 1 for library in threadpool_info())
        return []

    monkeypatch.setattr(rankers, "scan_block", scan_block)
    blocks = [slice(i, i + 1) for i in range(9)]
    for taken, (rows, _) in enumerate(Cpu(threads).map(cosine(), [], blocks)):
        assert rows == blocks[taken]
        assert len(begun) <= taken + threads + 1


def test_smaller_tiles_follow_on_a_lack_of_memory(torch, monkeypatch, expected):
    scan, sizes = rankers.scan_block, []

    def scan_block(similarity, watchers, rows, device):
        sizes.append(device.tile_bytes)
        if device.tile_bytes > 1 << 26:
            raise RuntimeError("CUDA out of memory")
        return scan(similarity, watchers, rows, device)

    monkeypatch.setattr(rankers, "scan_block", scan_block)
    with pytest.warns(DataWarning, match="cpu ran out of memory") as told:
        assert answers(Torch("cpu")) == expected
    assert sizes == [1 << 28, 1 << 27, 1 << 26, 1 << 26, 1 << 26] and len(told) == 1


def test_a_device_with_too_little_memory_is_refused(torch, monkeypatch):
    monkeypatch.setattr(rankers, "scan_block", Mock(side_effect=RuntimeError("CUDA out of memory")))
    with pytest.warns(DataWarning), pytest.raises(InputError, match="cpu has too little memory"):
        answers(Torch("cpu"))


def test_settings_of_torch_are_exact_inside_and_the_users_outside(torch, monkeypatch):
    matmul, seen = torch.backends.mkldnn.matmul, []

    def scan_block(*arguments):
        seen.append((matmul.fp32_precision, torch.is_autocast_enabled("cpu")))
        return []

    monkeypatch.setattr(rankers, "scan_block", scan_block)
    before, matmul.fp32_precision = matmul.fp32_precision, "bf16"
    try:
        with torch.autocast("cpu"):
            list(Torch("cpu").map(cosine(), [], [slice(0, 9)]))
            assert torch.is_autocast_enabled("cpu")
        assert (seen, matmul.fp32_precision) == ([("ieee", False)], "bf16")
    finally:
        matmul.fp32_precision = before


def test_a_device_that_multiplies_badly_is_refused(torch):
    class Rounded(Cosine):
        def panel(self, columns, device):
            screen = super().panel(columns, device)
            return lambda rows, room: screen(rows, room).bfloat16().float()

    similarity = cosine()
    bad = Rounded(similarity.queries, similarity.candidates)
    with pytest.raises(InputError, match="cpu multiplies less exactly"):
        rank(bad, [], Torch("cpu"))
    assert bad.screened == 0


@pytest.mark.parametrize(
    ("backend", "options", "message"),
    [
        ("cpu", {"device": "cuda"}, "leave out --device cuda"),
        ("cpu", {"address": "auto"}, "add --backend ray"),
        ("ray", {"device": "cuda"}, "leave out --device"),
        ("torch", {"device": "mps"}, "'mps' cannot rank"),
        ("torch", {"device": "gpu"}, "write cpu, cuda or cuda:1"),
        ("auto", {"device": "cuda:1"}, "'cuda:1' is not there: no CUDA device was found; take --backend cpu"),
    ],
)
def test_options_that_do_not_fit_are_refused(torch, monkeypatch, backend, options, message):
    monkeypatch.setattr(rankers, "_DRIVERS", ())
    with pytest.raises(InputError, match=message):
        chosen_ranker(Ranking(backend=backend, **options), None, quiet=True)


def test_auto_takes_the_processor_without_a_driver_and_imports_no_torch():
    script = (
        "import sys; from xlingual.ranking import rankers; rankers._DRIVERS = ();"
        "from xlingual.cli.ranking import chosen_ranker; from xlingual.requests.ranking import Ranking;"
        "print(chosen_ranker(Ranking(threads=2), None, quiet=True), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{Cpu(2)} False\n"
