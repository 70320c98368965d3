"""Every ranker answers every question as the reference does, for every similarity and hostile vectors.

A new back end is added to `RANKERS`, a new similarity to those of `rankings`.
"""

import numpy as np
import pytest
from tests.rankings import CASES, SETTINGS, SIMILARITIES, Questions, cosine, setting

from xlingual.ranking import reference
from xlingual.ranking.rankers import Cpu, Torch
from xlingual.ranking.similarity import Cosine
from xlingual.ranking.vectors import UnitVectors


def torch():
    pytest.importorskip("torch", reason="torch is not installed")
    return Torch("cpu")


def cuda():
    library = pytest.importorskip("torch", reason="torch is not installed")
    if not library.cuda.is_available():
        pytest.skip("no CUDA device on this machine: its tiles are tested where there is one")
    return Torch("cuda")


def ray():
    pytest.importorskip("ray", reason="Ray is not installed")
    from xlingual.ranking.ray import Ray

    return Ray(threads=2)


RANKERS = {
    "cpu": Cpu,
    "threads": lambda: Cpu(3),
    "torch": torch,
    "cuda": cuda,
    "ray": ray,
}
SLOW = [pytest.param(name, marks=[pytest.mark.slow] * (name in ("cuda", "ray"))) for name in RANKERS]


RUNS = [(name, chosen) for name in ("cpu", "threads", "torch") for chosen in SETTINGS]
RUNS += [pytest.param(name, "usual", marks=pytest.mark.slow) for name in ("cuda", "ray")]


@pytest.mark.parametrize(("ranker", "chosen"), RUNS)
@pytest.mark.parametrize(("form", "kind"), CASES)
@pytest.mark.cases(130)
def test_answers_are_those_of_the_reference(form, kind, ranker, chosen):
    rng, made = np.random.default_rng(CASES.index((form, kind))), RANKERS[ranker]()
    with setting(**SETTINGS[chosen]):
        similarity, keys = SIMILARITIES[form](kind, rng, 13, 27, 5)
        k, cap = int(rng.integers(1, 5)), int(rng.choice([1, 2, 1000]))
        Questions(keys, rng, k=k, cap=cap).check(similarity, made)


@pytest.mark.parametrize("ranker", SLOW)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 40, 3), (40, 1, 3), (5, 9, 1), (20, 30, 1500)])
def test_small_and_long_sides(ranker, sizes):
    rng = np.random.default_rng(0)
    similarity, keys = cosine("random", rng, *sizes)
    Questions(keys, rng).check(similarity, RANKERS[ranker]())


@pytest.mark.parametrize("ranker", SLOW)
def test_scores_that_only_float64_tells_apart(ranker):
    rng = np.random.default_rng(1)
    angle = np.pi / 4 + np.concatenate([np.arange(50) * 1.5e-9, rng.random(50) * 1e-7])
    sides = [np.stack([np.cos(a), np.sin(a)], axis=1) for a in (angle[:20] - 0.7, angle)]
    similarity = Cosine(*map(UnitVectors, sides))
    Questions(reference.cosine(*sides), rng).check(similarity, RANKERS[ranker]())
    if ranker != "ray":  # which tallies no pairs
        assert similarity.screened == 2000
        assert similarity.decided >= 20


@pytest.mark.parametrize("ranker", SLOW)
def test_rows_of_a_larger_mapped_file(ranker, tmp_path):
    rng = np.random.default_rng(2)
    np.save(tmp_path / "vectors.npy", rng.standard_normal((90, 6)).astype(">f4"))
    raw = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    rows, columns = rng.permutation(90)[:40], rng.permutation(90)[:50]
    similarity = Cosine(UnitVectors(raw, rows), UnitVectors(raw, columns))
    Questions(reference.cosine(raw[rows], raw[columns]), rng).check(similarity, RANKERS[ranker]())
