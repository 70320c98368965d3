"""CORR: pairs drawn by seed, and the variance of rows and columns, from a loop over pairs of pairs."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import rankdata
from scipy.stats import t as student

from xlingual.data.manifest import Manifest
from xlingual.evaluation import distance_correlation as corr
from xlingual.ranking import UnitVectors
from xlingual.stats import RankedTable, spearman, spearman_influence

HERE = Path(__file__)
shared = SimpleNamespace(**run_path(str(HERE.with_name("cases.py"))))
cosines = shared.oracle.cosines
dyads = SimpleNamespace(**run_path(str(HERE.parents[1] / "stats" / "dyads.py")))


@pytest.fixture(scope="module")
def case():
    """Fourteen English items and twelve German ones: no item has both, so every seed has the same sample."""
    rng = np.random.default_rng(2)
    rows = [{"id": f"e{i}", "lang": "en", "text": "e", "item": f"e{i}"} for i in range(14)]
    rows += [{"id": f"d{i}", "lang": "de", "text": "d", "item": f"d{i}"} for i in range(12)]
    images = rng.standard_normal((26, 3)).astype(np.float32)
    near, far = (images + noise * rng.standard_normal((26, 3)) for noise in (0.8, 2.0))
    return shared.Case(Manifest.of(rows), {"a": near, "b": far}, images)


def run(case, **options):
    return corr.distance_correlation(
        case.manifest,
        text_encoders=case.encoders(),
        image_encoder=case.image_encoder,
        pairs="en-de",
        **options,
    ).entries


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")  # equal samples are meant
def test_each_seed_draws_its_own_pairs_from_equal_samples(case, monkeypatch):
    monkeypatch.setattr(corr, "EXACT_PAIRS", 100)
    monkeypatch.setattr(corr, "SAMPLED_PAIRS", 90)
    both = {(entry.encoder, entry.seed): entry for entry in run(case, seeds=2)}
    assert len(both) == 4
    for seed in (0, 1):
        for entry in run(case, seed=seed):
            assert both[entry.encoder, seed] == entry
            assert entry.note.startswith("from 90 of 168 pairs")
    for name in ("a", "b"):
        assert both[name, 0].value != both[name, 1].value


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")  # equal samples are meant
def test_all_pairs_of_equal_samples_are_the_same_for_every_seed(case):
    first, second = ([e for e in run(case, seeds=2) if e.seed == seed] for seed in (0, 1))
    assert [(e.value, e.ci) for e in first] == [(e.value, e.ci) for e in second]


def test_pairs_that_share_a_source_or_a_target_count_once(case):
    images, manifest = case.images, case.manifest
    source, target = manifest.rows_of("en"), manifest.rows_of("de")
    keys = list(product(range(14), range(12)))
    for entry in run(case):
        tables = [
            RankedTable.of(cosines(v[source], v[target]).ravel()) for v in (case.texts[entry.encoder], images)
        ]
        rho = spearman(*tables)
        share = (spearman_influence(*tables, rho) / len(keys)).tolist()
        # rows and columns: every pair of pairs with a source or a target in common; the factor is that of
        # the 26 items, and a pair's own square, which is in its row and in its column, is taken off
        twice = dyads.total([(share, keys)], lambda a, b: (a[0] == b[0]) + (a[1] == b[1]))
        own = sum(r * r for r in share)
        var = twice * 26 / 25 - own
        once = dyads.total([(share, keys)], lambda a, b: a[0] == b[0] or a[1] == b[1])
        assert twice - own == pytest.approx(once)
        p, quantile = (rho + 1) / 2, student.ppf(0.975, 25)
        wanted = dyads.wilson(p, p * (1 - p) / (var / 4), quantile)
        assert entry.value == pytest.approx(rho)
        assert (entry.ci.low, entry.ci.high) == pytest.approx([2 * end - 1 for end in wanted], abs=1e-8)


@pytest.mark.parametrize("threads", [1, 3])
def test_samples_that_share_a_product_have_the_ranks_of_each_alone(threads):
    """In any order and in several threads at a time; some texts are equal, one is opposite, one is empty."""
    rng = np.random.default_rng(4)
    vectors = np.round(rng.standard_normal((150, 2)), 1).astype(np.float32)
    vectors[7], vectors[8] = 0, -vectors[9]
    drawn = [rng.permutation(150) for _ in range(8)]
    sides = [(order[:60], order[60:133]) for order in drawn]
    tables = corr.RankedTables(UnitVectors(vectors).take, sides, [corr.SamplePairs((60, 73))] * 8)
    with ThreadPoolExecutor(threads) as workers:
        found = list(workers.map(lambda number: (number, tables[number].twice), [*range(8)] * 3))
    for number, twice in found:
        assert (twice == 2 * rankdata(cosines(*(vectors[side] for side in sides[number])).ravel()) - 1).all()
