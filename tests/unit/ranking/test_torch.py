"""Torch: the bound on its errors, memory that does not suffice, settings of the library, devices."""

import subprocess
import sys
import warnings
from contextlib import nullcontext
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed")

from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.ranking import Adjusted, Cosine, Counts, Cpu, Offsets, Top, Transposed, UnitVectors  # noqa: E402
from xlingual.ranking.choice import choose  # noqa: E402
from xlingual.ranking.torch import TorchRanker, arithmetic, best, blocks, bounds, devices  # noqa: E402
from xlingual.ranking.torch.arithmetic import PRECISIONS, Arithmetic  # noqa: E402
from xlingual.ranking.torch.blocks import Loader  # noqa: E402
from xlingual.ranking.torch.pairs import Pairs, PairTile, SettledTally  # noqa: E402
from xlingual.ranking.torch.pieces import Partition, cut  # noqa: E402

CPU_DEVICE = torch.device("cpu")


def pair_of_sides(seed, spread, shift, d):
    """Return vectors whose components differ by up to `spread` orders of magnitude, some of them zero."""
    rng = np.random.default_rng(seed)
    sides = []
    for size in (30, 40):
        side = (rng.standard_normal((size, d)) + shift) * 10.0 ** -rng.uniform(0, spread, (size, d))
        sides.append((side * (rng.random((size, 1)) < 0.95)).astype(np.float32))
    return sides


def cosines(a, b):
    """Return the cosines in extended precision; those of a zero vector are 0."""
    sides = []
    for vectors in (a, b):
        wide = vectors.astype(np.longdouble)
        norms = np.sqrt((wide**2).sum(axis=1, keepdims=True))
        sides.append(np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0))
    return sides[0] @ sides[1].T


def tile_of(arithmetic, a, b, *, fine=False, product=None):
    similarity = Cosine(UnitVectors(a), UnitVectors(b))
    left, right = (
        Loader(side, arithmetic).load(slice(0, len(side)))
        for side in (similarity.queries, similarity.candidates)
    )
    if fine:
        left, right = left.fine(), right.fine()
    error = arithmetic.fine_error(left.dim) if fine else arithmetic.error(left.dim)
    scores = (product or arithmetic.product)(left.low, right.low)
    whole = Pairs(left, right, similarity.exact, scores.numel(), SettledTally())
    return PairTile(left, right, similarity.exact, whole.most, whole.tally, whole, scores, *error)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.floats(0, 12),
    st.sampled_from([0.0, 1.0, 30.0]),
    st.sampled_from([1, 2, 17, 300]),
    st.sampled_from([*PRECISIONS, "narrowed"]),
)
def test_no_score_errs_by_more_than_the_bound(seed, spread, shift, d, precision):
    a, b = pair_of_sides(seed, spread, shift, d)
    fine = precision == "narrowed"
    tile = tile_of(Arithmetic(CPU_DEVICE, "fp16" if fine else precision), a, b, fine=fine)
    for one, expected in ((tile, cosines(a, b)), (tile.turned, cosines(b, a))):
        off = np.abs(one.scores.numpy().astype(np.longdouble) - expected)
        assert (off <= one.error().numpy()[:, None]).all()


@pytest.mark.parametrize(("precision", "expected"), [("fp16", 5e-4), ("bf16", 4e-3), ("fp32", 2e-5)])
def test_the_bound_is_not_much_wider_than_it_must_be(precision, expected):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((200, 300)).astype(np.float32) for _ in range(2))
    assert tile_of(Arithmetic(CPU_DEVICE, precision), a, b).error().max() < 1.1 * expected


def cut_off(numbers, exponent):
    """Cut numbers to the 24 bits that a number of this exponent has."""
    step = 2.0 ** (exponent - 23)
    return np.trunc(numbers / step) * step


def tensor_core(a, b):
    """Return the dot products of rows as a tensor core forms them: four at a time, cut and not rounded."""
    total = np.zeros(len(a))
    for start in range(0, a.shape[1], 4):
        terms = np.concatenate(
            [total[:, None], a[:, start : start + 4].astype(float) * b[:, start : start + 4]], axis=1
        )
        largest = np.abs(terms).max(axis=1)
        exponent = np.floor(np.log2(np.where(largest > 0, largest, 1)))
        total = cut_off(terms, exponent[:, None]).sum(axis=1)
        exponent = np.floor(np.log2(np.where(total != 0, np.abs(total), 1)))
        total = cut_off(total, exponent)
    return total


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([1, 5, 64, 1000]), st.booleans())
def test_the_bound_covers_sums_that_are_cut_off(seed, d, positive):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 20, d))
    a, b = (np.abs(side) if positive else side for side in (a, b))
    a, b = (
        (side / np.linalg.norm(side, axis=1, keepdims=True)).astype(np.float16).astype(float)
        for side in (a, b)
    )
    exact = (a.astype(np.longdouble) * b).sum(axis=1)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    assert (np.abs(tensor_core(a, b) - exact) <= bounds.truncated_sum(d) * lengths).all()


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_the_bound_covers_an_output_in_16_bits(precision):
    """Where a device multiplies 16-bit vectors and returns 16 bits, that is rounded once more."""
    arithmetic = Arithmetic(CPU_DEVICE, precision)
    arithmetic.cores, arithmetic.wide_output = True, False  # what it errs by, without the device
    kept = {"fp16": torch.float16, "bf16": torch.bfloat16}[precision]
    a, b = pair_of_sides(0, 3, 1.0, 100)
    arithmetic.width = lambda d: d
    tile = tile_of(arithmetic, a, b, product=lambda x, y: torch.mm(x, y.T).to(kept).float())
    off = np.abs(tile.scores.numpy() - cosines(a, b).astype(float))
    assert (off <= tile.error().numpy()[:, None]).all()
    assert off.max() > tile.error().max() / 20


def problem(n=150, m=170, d=24, kind=0.0):
    rng = np.random.default_rng(3)
    sides = [(rng.standard_normal((size, d)) + kind).astype(np.float32) for size in (n, m)]
    similarity = Cosine(*map(UnitVectors, sides))
    made = [
        Counts.of(similarity, np.arange(n), np.arange(n)),
        Top(3, (n, m)),
        Transposed(Top(1, (m, n))),
    ]
    return similarity, made


def answer(ranker, kind=0.0):
    similarity, made = problem(kind=kind)
    ranker.scan(similarity, made)
    tops = [one.result() for one in (made[1], made[2].inner)]
    return [made[0].above.tolist(), made[0].tied.tolist()] + [
        getattr(top, name).tolist() for top in tops for name in ("query", "candidate", "above", "tied")
    ]


def failing_over(monkeypatch, size, error=None):
    """Let products of more numbers than `size` run out of memory; return the sizes of those that did not."""
    product, made = Arithmetic.product, []

    def limited(self, rows, columns):
        if len(rows) * len(columns) > size:
            raise error or torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        made.append(len(rows) * len(columns))
        return product(self, rows, columns)

    monkeypatch.setattr(Arithmetic, "product", limited)
    return made


@pytest.mark.parametrize(
    "error", [None, RuntimeError("DefaultCPUAllocator: can't allocate memory"), MemoryError()]
)
@pytest.mark.cases(1)
def test_out_of_memory_halves_the_tile_says_so_once_and_goes_on(monkeypatch, error):
    expected = answer(Cpu())
    made = failing_over(monkeypatch, 3000, error)
    ranker = TorchRanker("cpu", precision="fp16", memory=1 << 22)
    with pytest.warns(DataWarning, match="ran out of memory: ranking goes on with half the tile") as caught:
        assert [answer(ranker), answer(ranker)] == [expected, expected]
    assert len(caught) == 1
    assert 1000 < max(made) <= 3000


def test_memory_that_runs_out_midway_counts_nothing_twice(monkeypatch):
    """The block of queries in which it happens is begun again."""
    expected = answer(Cpu())
    product, calls = Arithmetic.product, []

    def sometimes(self, rows, columns):
        calls.append(len(rows))
        if len(calls) in (3, 11):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return product(self, rows, columns)

    monkeypatch.setattr(Arithmetic, "product", sometimes)
    ranker = TorchRanker("cpu", precision="fp16", memory=1 << 18)
    similarity, made = problem()
    with pytest.warns(DataWarning):
        ranker.scan(similarity, made)
    assert similarity.screened == 150 * 170
    with pytest.warns(DataWarning) if len(calls) < 11 else warnings.catch_warnings():
        assert answer(ranker) == expected
    assert len(calls) > 11


@pytest.mark.parametrize("later", [False, True])
def test_a_device_that_breaks_the_bound_is_found_out(monkeypatch, later):
    """By the first tile; and by the score of every target, should only later ones be wrong."""
    product, calls = Arithmetic.product, []

    def wrong(self, rows, columns):
        calls.append(1)
        return product(self, rows, columns) + (2e-3 if len(calls) > later else 0)

    monkeypatch.setattr(Arithmetic, "product", wrong)
    with pytest.raises(InputError, match="multiplies less exactly than its precision promises"):
        answer(TorchRanker("cpu", precision="fp16", memory=1 << 19))


def test_what_is_mostly_open_is_narrowed_in_float32_first():
    ranker = TorchRanker("cpu", precision="bf16")
    assert answer(ranker, kind=5.0) == answer(Cpu(), kind=5.0)
    about = ranker.about()
    assert 10 * about["decided_in_float64"] < about["undecided"] < 1
    assert (about["backend"], about["device"], about["precision"]) == ("torch", "cpu", "bf16")


def test_settings_of_torch_are_exact_inside_and_as_before_afterwards(monkeypatch):
    product, seen = Arithmetic.product, []

    def settings_now():
        matmul = torch.backends.cuda.matmul
        switches = [matmul.allow_fp16_reduced_precision_reduction, matmul.allow_fp16_accumulation]
        both = (matmul.fp32_precision, torch.backends.mkldnn.matmul.fp32_precision)
        return [*both, torch.get_num_threads(), *switches, torch.is_autocast_enabled("cpu")]

    def watched(self, rows, columns):
        seen.append(settings_now())
        return product(self, rows, columns)

    monkeypatch.setattr(Arithmetic, "product", watched)
    if not hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        pytest.skip("this version of torch has other names for these settings")
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with torch.autocast("cpu"):
            outside = settings_now()
            assert answer(TorchRanker("cpu", threads=2)) == answer(Cpu())
            assert settings_now() == outside
    finally:
        torch.set_float32_matmul_precision(before)
    assert seen and all(one == ["ieee", "ieee", 2, False, False, False] for one in seen)


class OnTheWay:
    """A stand-in for a CUDA stream and its events, which notes what is done with it."""

    def __init__(self):
        self.noted = []

    def record_event(self):
        return len(self.noted)

    def wait_event(self, event):
        self.noted.append(("waits for", event))


def test_the_next_block_is_on_its_way_while_the_caller_works(monkeypatch):
    current, loaded, used = OnTheWay(), [], []
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: OnTheWay())
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: current)
    tensor = SimpleNamespace(device="cuda:0", record_stream=used.append)

    def load(self, rows):
        loaded.append(rows)
        return SimpleNamespace(rows=rows, stored=tensor, tensors=lambda: [tensor, tensor])

    monkeypatch.setattr(Loader, "load", load)
    loader = Loader(UnitVectors(np.eye(4)), SimpleNamespace(device=torch.device("cuda", 0)))
    parts = list(cut(0, 4, 1))
    for number, block in enumerate(loader.stream(parts)):
        assert block.rows == parts[number]
        assert len(current.noted) == number + 1  # work on it waits until it is there
        assert used == [current] * 2 * (number + 1)  # and its memory is not given away before
        assert len(loaded) <= number + 2
    assert loaded == parts


def test_what_is_chosen_and_why(monkeypatch):
    monkeypatch.setattr(devices, "_DRIVERS", ())
    auto = choose("auto", threads=2)
    assert isinstance(auto.ranker, Cpu) and auto.why.startswith("on the processor, 2 threads: no CUDA")
    asked = choose("torch", device="cpu", precision="bf16", memory=1 << 24, threads=2)
    assert isinstance(asked.ranker, TorchRanker) and asked.ranker.memory == 1 << 24
    monkeypatch.setattr(devices, "cuda_at_hand", lambda: True)
    monkeypatch.setattr(devices, "ranking_device", lambda name: CPU_DEVICE)
    choose("auto")
    assert isinstance(choose("auto", device="cpu").ranker, Cpu)
    assert isinstance(choose("cpu").ranker, Cpu)


@pytest.mark.parametrize("options", [{"device": "cuda"}, {"precision": "fp16"}])
def test_the_processor_takes_no_options_of_a_device(options):
    with pytest.raises(InputError, match=r"--backend cpu .*leave out"):
        choose("cpu", **options)


def test_auto_imports_torch_only_where_a_driver_is():
    script = (
        "import sys; from xlingual.ranking.torch import devices; devices._DRIVERS = ();"
        "from xlingual.ranking.choice import choose; choose('auto'); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@given(
    st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 5000), st.integers(0, 1 << 40), st.booleans()
)
def test_a_cut_covers_every_pair_once(n, m, each, budget, few_rows):
    partition = Partition((n, m), each, budget, few_rows)
    columns = partition.columns()
    assert [column.start for column in columns] == [0, *(column.stop for column in columns[:-1])]
    assert columns[-1].stop == m
    assert 1 <= partition.tile[0] <= n and 1 <= partition.tile[1] <= m
    assert len(columns) == 1 or not partition.resident
    assert list(cut(0, n, partition.rows()))[-1].stop == n
    halves = 0
    while (smaller := partition.halved()) is not None:
        partition, halves = smaller, halves + 1
    assert halves <= 40


def test_vectors_come_in_parts_of_memory_that_the_device_reads(monkeypatch):
    monkeypatch.setattr(blocks, "_STAGED", 100)
    monkeypatch.setattr(blocks, "_PREPARED", 300)
    rng = np.random.default_rng(0)
    raw, rows = rng.standard_normal((50, 7)).astype(">f4"), rng.permutation(50)[:40]
    loader = Loader(UnitVectors(raw, rows), Arithmetic(CPU_DEVICE, "fp16"))
    block = loader.load(slice(5, 33))
    assert (block.first, len(block), block.dim) == (5, 28, 7)
    np.testing.assert_array_equal(block.stored.numpy(), raw[rows[5:33]])
    unit = cosines(raw[rows[5:33]], np.eye(7)).astype(float)
    np.testing.assert_allclose(block.low.numpy(), unit, atol=2**-11)
    np.testing.assert_allclose(block.fine().low.numpy(), unit, atol=2**-24)
    assert (block.residual.numpy() >= np.linalg.norm(block.low.numpy() - unit, axis=1)).all()


def test_settings_of_two_parts_come_back_whole():
    matmul = torch.backends.cuda.matmul
    name = "allow_fp16_reduced_precision_reduction"
    if not hasattr(matmul, f"{name}_split_k"):
        pytest.skip("this version of torch has one part")
    before = arithmetic._setting(matmul, name)
    try:
        setattr(matmul, name, (False, False))
        with arithmetic.exact_settings(CPU_DEVICE, 1):
            assert arithmetic._setting(matmul, name) == (False, True)
        assert arithmetic._setting(matmul, name) == (False, False)
    finally:
        setattr(matmul, name, before)


@pytest.mark.parametrize("kind", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("memory", [1 << 15, 1 << 22])
@pytest.mark.cases(3)
def test_any_device_that_keeps_its_bound_gives_the_same_ranks(monkeypatch, kind, memory):
    """Scores are off by nearly all that the bound allows, up or down at random."""
    product, allowed = Arithmetic.product, 1e-3
    drawn = torch.Generator().manual_seed(0)

    def off(self, rows, columns):
        lengths = torch.outer(rows.double().norm(dim=1), columns.double().norm(dim=1))
        sign = torch.randint(0, 2, lengths.shape, generator=drawn) * 2 - 1
        return (product(self, rows, columns).double() + 0.999 * allowed * sign * lengths).float()

    monkeypatch.setattr(Arithmetic, "error", lambda self, d: (allowed, bounds.TINY))
    monkeypatch.setattr(Arithmetic, "product", off)
    ranker = TorchRanker("cpu", precision="fp32", memory=memory)
    assert answer(ranker, kind=kind) == answer(Cpu(), kind=kind)
    assert ranker.about()["undecided"] > 0.002


def test_what_waits_is_scored_before_it_is_too_much(monkeypatch):
    """Every tile brings better candidates, so that more wait than a tile has; offsets stay with them."""
    monkeypatch.setattr(best, "DENSE", 0)  # nothing is scored at once
    angles = np.linspace(np.pi / 2, 0.2, 600)
    candidates = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    queries = np.float32([[1, 0]]) * np.arange(1, 71, dtype=np.float32)[:, None]
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    shape, rng = similarity.shape, np.random.default_rng(0)
    offsets = Offsets(2, rng.integers(0, 10**5, 600))
    flushed, found = mock.Mock(side_effect=best.DeviceBest.flush), []
    monkeypatch.setattr(best.DeviceBest, "flush", lambda *given: flushed(*given))
    for ranker in (Cpu(), TorchRanker("cpu", precision="fp32", memory=80_000)):
        plain, less = Top(10, shape), Top(10, shape)
        ranker.scan(similarity, [plain, Adjusted(less, offsets)])
        found.append([plain.result(), less.result()])
    assert flushed.call_count > 8  # once at the end for each of the two, and before
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.candidate, other.candidate)
        np.testing.assert_array_equal(one.above, other.above)
