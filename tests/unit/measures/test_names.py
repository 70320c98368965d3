"""Measures are values: they print and parse both ways, compare equal, and refuse what is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.measures import (
    AveragePrecision,
    DistanceCorrelation,
    MedianRank,
    PictureSimilarity,
    RecallAt,
    RecallShare,
    ReciprocalRank,
    SetRecallAt,
    parse_measure,
    parse_pool_measures,
    parse_rank_measures,
)
from xlingual.records import RankCounts


@given(st.integers(1, 10**9))
def test_recall_prints_and_parses(k):
    measure = RecallAt(k)
    assert parse_measure(measure.name) == measure
    assert parse_measure(f" recall@{k} ") == measure
    assert hash(parse_measure(measure.name.lower())) == hash(measure)


@given(st.integers(1, 10**9))
def test_measures_of_every_relevant_candidate_print_and_parse(k):
    for measure in (AveragePrecision(k), SetRecallAt(k)):
        assert parse_measure(measure.name) == parse_measure(measure.name.lower()) == measure
        assert hash(parse_measure(measure.name.upper())) == hash(measure)
    assert parse_measure(f"map@{k}/MIN") == AveragePrecision(k)
    assert parse_measure(f"Set-Recall@{k}") == SetRecallAt(k) != RecallAt(k)


@pytest.mark.parametrize(
    "measure",
    [ReciprocalRank(), MedianRank(), MedianRank(floor=True), PictureSimilarity(), AveragePrecision()],
)
def test_others_print_and_parse(measure):
    assert parse_measure(measure.name) == measure
    assert parse_measure(measure.name.upper()) == measure
    assert parse_measure(measure) is measure


@pytest.mark.parametrize(
    ("word", "name"),
    [("MRR", "RR"), ("hit@3", "R@3"), ("success@1", "R@1"), ("median-rank", "MedR"), ("mAP", "AP")],
)
def test_usual_words(word, name):
    assert parse_measure(word).name == name


@pytest.mark.parametrize("k", [0, -1, 2.5, 10.0, True, "10"])
def test_recall_needs_a_whole_number(k):
    with pytest.raises(ValueError, match="at least 1"):
        RecallAt(k)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        *(("recal@10", "R@10"), ("simm", "SIM"), ("rrr", "RR"), ("medra", "MedR"), ("R@0", "R@1")),
        *(("MRR@10", "RR"), ("R5", "R@5"), ("recall", "R@10"), ("recal@5", "R@5"), ("hit-3", "R@3")),
        *(("AP@20", "AP@20/min"), ("map@5/max", "AP@5/min"), ("setr", "SetR@10"), ("set-recal@3", "SetR@3")),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(word, near):
    with pytest.raises(InputError, match=f"unknown measure '{word}'.*Did you mean '{near}'"):
        parse_measure(word)


@pytest.mark.parametrize("word", ["ndcg@10", "p@5", "bpref"])
def test_far_fetched_measures_are_not_suggested(word):
    with pytest.raises(InputError, match=r"MedR or SIM\.$"):
        parse_measure(word)


@pytest.mark.parametrize("word", ["", "R@", "R@-1", "R@1.5", "R@ten", "R@10,RR", "R@10/min", "AP@0/min"])
def test_malformed_names_are_refused(word):
    with pytest.raises(InputError, match="unknown measure"):
        parse_measure(word)


def test_lists_of_measures():
    assert parse_rank_measures(["R@5", "recall@5", "RR"]) == [RecallAt(5), ReciprocalRank()]
    assert parse_rank_measures([]) == [RecallAt(10)]
    assert parse_rank_measures(["SIM"], beside=[PictureSimilarity()]) == []
    assert parse_rank_measures("R@5, MedR") == [RecallAt(5), MedianRank()]
    with pytest.raises(InputError, match="SIM is no measure of this task"):
        parse_rank_measures(["SIM"])
    with pytest.raises(InputError, match="CORR is no measure of this task"):
        parse_rank_measures([DistanceCorrelation()], beside=[PictureSimilarity()])
    with pytest.raises(InputError, match=r"AP is no measure .*all relevant .*evaluate multilingual-pool"):
        parse_rank_measures("R@5,AP")
    with pytest.raises(
        InputError, match="expected R@k with k of at least 1, R@p% with p below 100, RR or MedR"
    ):
        parse_rank_measures("ndcg")


def test_lists_of_measures_of_a_pool():
    assert parse_pool_measures([]) == [AveragePrecision()]
    assert parse_pool_measures("map, AP, RR, MedR, R@5") == [
        *(AveragePrecision(), ReciprocalRank(), MedianRank(), RecallAt(5)),
    ]
    assert parse_pool_measures(["AP@20/min", SetRecallAt(3)]) == [AveragePrecision(20), SetRecallAt(3)]
    for measure in (PictureSimilarity(), DistanceCorrelation()):
        with pytest.raises(InputError, match=rf"{measure.name} is no measure of this task.*expected AP"):
            parse_pool_measures([measure])
    with pytest.raises(InputError, match="unknown measure 'ndcg': expected AP, AP@k/min, R@k or SetR@k"):
        parse_pool_measures(["ndcg"])


@pytest.mark.parametrize("percent", [0.001, 0.1, 1.0, 2.5, 50.0])
def test_recall_of_a_share_parses_back(percent):
    measure = RecallShare(percent)
    assert parse_measure(measure.name) == measure
    assert parse_measure(f"recall@{percent:g}%") == measure


@pytest.mark.parametrize("name", ["R@0%", "R@0.0001%", "R@100%", "R@-1%", "AP@5%", "R@5%/min"])
def test_shares_that_cannot_be(name):
    with pytest.raises(InputError, match="unknown measure"):
        parse_measure(name)


def test_recall_of_a_share_rounds_up_and_takes_each_pool_for_itself():
    assert [RecallShare(0.1).k(pool) for pool in (1, 1000, 1001, 3000, 123_456)] == [1, 1, 2, 3, 124]
    counts = RankCounts(*(np.array(a) for a in ([1, 1, 9], [1, 1, 2], [1, 1, 1], [100, 200, 1000])))
    np.testing.assert_array_equal(RecallShare(1.0).per_query(counts), [0, 1, 0.5])
    with pytest.raises(ValueError, match="a share from"):
        RecallShare(100)
