"""Ranks from a sample of candidates: their intervals, by the literature and by simulation."""

import numpy as np
import pytest

from xlingual.evaluation.approximation.sampled import SampledRanks, estimated_ranks, sampled_score
from xlingual.measures import MedianRank, RecallAt, RecallShare

MILLION = 1_000_000


def test_none_of_ten_thousand_above_still_means_rank_301():
    ranks = SampledRanks(np.ones(50), 10_000, MILLION)
    assert int(np.ceil(ranks.ends(np.ones(1))[1][0])) == 301
    found = sampled_score(MedianRank(), ranks, [])
    assert found.score is None
    assert found.note.startswith("MedR is at most 301 (95%)")
    assert "raise --candidates" in found.note


def test_ends_are_those_of_clopper_and_pearson():
    """10 of 100: 4.90 % to 17.62 % (their paper's example of the method, in every textbook)."""
    ranks = SampledRanks(np.ones(1), 100, 1001)
    low, high = ranks.ends(np.array([1 + 0.1 * 1000]))
    assert (low[0], high[0]) == pytest.approx((1 + 49.0, 1 + 176.2), abs=0.1)
    low, high = ranks.ends(np.array([1001.0]))
    assert low[0] < 1001.0 == high[0]


def test_all_candidates_drawn_leave_nothing_open():
    rank = np.array([1.0, 2.5, 40.0])
    low, high = SampledRanks(rank, 40, 40).ends(rank)
    assert (low == rank).all() and (high == rank).all()


def test_a_share_needs_enough_candidates():
    found = sampled_score(RecallShare(0.1), SampledRanks(np.ones(50), 2000, MILLION), [])
    assert found.score is None and "raise --candidates to 5,000" in found.note
    with pytest.raises(TypeError):
        sampled_score(RecallAt(10), SampledRanks(np.ones(50), 2000, MILLION), [])


def test_texts_that_may_be_wrong_widen_the_interval():
    rank = np.random.default_rng(0).integers(1, 40_000, 2000).astype(float)
    for measure in (MedianRank(), RecallShare(1.0)):
        sure = sampled_score(measure, SampledRanks(rank, 10_000, MILLION), [])
        unsure = sampled_score(measure, SampledRanks(rank, 10_000, MILLION, missed=0.05), [])
        assert unsure.score.value == sure.score.value and unsure.error > sure.error
        assert unsure.score.fixed.low < sure.score.fixed.low < sure.score.fixed.high < unsure.score.fixed.high


@pytest.mark.parametrize("measure", [MedianRank(), RecallShare(1.0)])
@pytest.mark.cases(1)
def test_the_truth_is_covered(measure):
    """A pool of 100,000 of which 2,000 are drawn for all queries; skewed ranks; 200 times."""
    rng = np.random.default_rng(3)
    pool, drawn, n, covered = 100_000, 2000, 300, 0
    populations = np.floor(pool ** rng.beta(2, 1, 100_000))
    truth = np.median(populations) if measure.name == "MedR" else np.mean(populations <= measure.k(pool))
    for _ in range(200):
        rank = rng.choice(populations, n)
        places = np.sort(rng.choice(pool, drawn, replace=False))  # candidate j is above all of rank > j + 1
        above = np.searchsorted(places, rank - 1).astype(float)
        found = sampled_score(measure, SampledRanks(estimated_ranks(above, drawn, pool - 1), drawn, pool), [])
        covered += found.score.fixed.low <= truth <= found.score.fixed.high
    assert covered / 200 >= 0.95
