"""Measures are values: they print and parse both ways, compare equal, and refuse what is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.measures import (
    NDCG,
    AveragePrecision,
    Bpref,
    DistanceCorrelation,
    JudgedAt,
    MeanImageSimilarity,
    MedianRank,
    PrecisionAt,
    RecallAt,
    RecallShare,
    ReciprocalRank,
    StrongAlignment,
    SuccessAt,
    SuccessShare,
    WeakAlignment,
    as_recall,
    as_success,
    parse_measure,
    parse_pool_measures,
    parse_rank_measures,
    parse_retrieval_measures,
)
from xlingual.records import RankCounts

MEASURES = st.one_of(
    *(
        st.builds(kind, st.integers(1, 10**9))
        for kind in (RecallAt, SuccessAt, PrecisionAt, ReciprocalRank, AveragePrecision)
    ),
    st.builds(AveragePrecision, st.integers(1, 10**9), of_least=st.just(True)),
    st.builds(RecallShare, st.sampled_from([0.001, 0.1, 1.0, 2.5, 99.9])),
    st.builds(SuccessShare, st.sampled_from([0.001, 0.1, 1.0, 2.5, 99.9])),
)


@given(MEASURES)
def test_printing_and_parsing_are_inverse(measure):
    for name in (measure.name, measure.name.lower(), f" {measure.name.upper()} "):
        assert parse_measure(name) == measure
        assert parse_measure(name).name == measure.name
        assert hash(parse_measure(name)) == hash(measure)


@pytest.mark.parametrize(
    "measure",
    [
        *(ReciprocalRank(), MedianRank(), MedianRank(floor=True), MeanImageSimilarity(), AveragePrecision()),
        *(WeakAlignment(), StrongAlignment(), StrongAlignment("strict"), StrongAlignment("strict-own")),
    ],
)
def test_others_print_and_parse(measure):
    assert parse_measure(measure.name) == measure
    assert parse_measure(measure.name.upper()) == measure
    assert parse_measure(measure) is measure


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *(("MRR", "RR"), ("median-rank", "MedR"), ("median_rank/floor", "MedR/floor"), ("mAP", "AP")),
        *((f"{word}@3", "R@3") for word in ("recall", "Recall")),
        *(
            (f"{word}@3", "Success@3")
            for word in ("hit", "hits", "hit-rate", "hit_rate", "accuracy", "success")
        ),
        *(("MAP@10", "AP@10"), ("map@10/MIN", "AP@10/min"), ("average_precision@5", "AP@5")),
        *(("weak_alignment", "WeakAlignment"), ("Weak", "WeakAlignment"), ("STRONG", "StrongAlignment")),
        *(
            (f"{word}/{kind}", f"StrongAlignment/{kind}")
            for word in ("strong", "strong-alignment")
            for kind in ("strict", "strict-own")
        ),
        *(("mrr@10", "RR@10"), ("precision@5", "P@5"), ("hit_rate@1%", "Success@1%")),
    ],
)
def test_usual_words(word, name):
    assert parse_measure(word).name == name


def test_hit_rate_and_set_recall_are_two_measures():
    assert parse_measure("recall@10") == RecallAt(10) != SuccessAt(10) == parse_measure("hit_rate@10")
    assert as_recall([SuccessAt(3), RecallAt(3), MedianRank()]) == [RecallAt(3), MedianRank()]
    assert as_success([RecallShare(1.0), RecallAt(3)]) == [SuccessShare(1.0), SuccessAt(3)]


@pytest.mark.parametrize("k", [0, -1, 2.5, 10.0, True, "10"])
def test_recall_needs_a_whole_number(k):
    with pytest.raises(ValueError, match="at least 1"):
        RecallAt(k)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        *(("recal@10", "R@10"), ("simm", "SIM"), ("rrr", "RR"), ("medra", "MedR"), ("R@0", "R@1")),
        *(("R5", "R@5"), ("recall", "R@10"), ("recal@5", "R@5"), ("hit-3", "Success@3"), ("P_5", "P@5")),
        *(("week-alignment", "WeakAlignment"), ("strong/stric", "StrongAlignment")),
        *(("map@5/max", "AP@5/min"), ("recal@3", "R@3"), ("recall_at_10", "R@10")),
        *(
            ("map_at_5", "AP@5"),
            ("mrr10", "RR@10"),
            ("week-alignment", "WeakAlignment"),
            ("succes@5", "Success@5"),
            ("accuracy", "Success@10"),
        ),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(word, near):
    with pytest.raises(InputError, match=f"unknown measure '{word}'.*Did you mean '{near}'"):
        parse_measure(word)


@pytest.mark.parametrize("word", ["err@10", "inst"])
def test_far_fetched_measures_are_not_suggested(word):
    with pytest.raises(InputError, match=r"Bpref or Judged@k$"):
        parse_measure(word)


@pytest.mark.parametrize("word", ["", "R@", "R@-1", "R@1.5", "R@ten", "R@10,RR", "R@10/min", "AP@0/min"])
def test_malformed_names_are_refused(word):
    with pytest.raises(InputError, match="unknown measure"):
        parse_measure(word)


def test_lists_of_measures():
    assert parse_rank_measures(["R@5", "recall@5", "RR"]) == [RecallAt(5), ReciprocalRank()]
    assert parse_rank_measures([]) == [RecallAt(10)]
    assert parse_rank_measures(["SIM"], beside=[MeanImageSimilarity()]) == []
    assert parse_rank_measures("R@5, MedR") == [RecallAt(5), MedianRank()]
    with pytest.raises(InputError, match="SIM is no measure of this task"):
        parse_rank_measures(["SIM"])
    with pytest.raises(InputError, match="CORR is no measure of this task"):
        parse_rank_measures([DistanceCorrelation()], beside=[MeanImageSimilarity()])
    with pytest.raises(InputError, match=r"AP is no measure .*all relevant .*evaluate multilingual-pool"):
        parse_rank_measures("R@5,AP")
    with pytest.raises(InputError, match=r"P@5 is no measure .*all relevant .*evaluate multilingual-pool"):
        parse_rank_measures(["P@5"])
    with pytest.raises(InputError, match=r"WeakAlignment is no measure .*evaluate multilingual-pool"):
        parse_rank_measures(["weak"])
    with pytest.raises(ValueError, match="pairs, strict or strict-own"):
        StrongAlignment("own")
    with pytest.raises(InputError, match="expected R@k, Success@k or RR@k with k of at least 1, R@p% or"):
        parse_rank_measures("err")
    with pytest.raises(InputError, match=r"nDCG is no measure .*graded judgements: evaluate retrieval"):
        parse_rank_measures("ndcg")


def test_lists_of_measures_of_a_pool():
    assert parse_pool_measures([]) == [AveragePrecision()]
    assert parse_pool_measures("map, AP, RR, MedR, R@5, recall@5, hit@5") == [
        *(AveragePrecision(), ReciprocalRank(), MedianRank(), RecallAt(5), SuccessAt(5)),
    ]
    assert parse_pool_measures(["AP@20/min", "AP@20", PrecisionAt(3), "mrr@9"]) == [
        AveragePrecision(20, of_least=True),
        *(AveragePrecision(20), PrecisionAt(3), ReciprocalRank(9)),
    ]
    assert parse_pool_measures("weak,strong/strict") == [WeakAlignment(), StrongAlignment("strict")]
    for measure in (MeanImageSimilarity(), DistanceCorrelation()):
        with pytest.raises(InputError, match=rf"{measure.name} is no measure of this task.*expected AP"):
            parse_pool_measures([measure])
    with pytest.raises(
        InputError, match="unknown measure 'err': expected AP, AP@k, AP@k/min, R@k, Success@k"
    ):
        parse_pool_measures(["err"])
    assert parse_pool_measures(["ndcg@10"]) == [NDCG(10)]
    with pytest.raises(InputError, match=r"Bpref is no measure .*judged irrelevant: evaluate retrieval"):
        parse_pool_measures(["bpref"])


def test_lists_of_measures_of_judgements():
    assert parse_retrieval_measures([]) == [NDCG(10)]
    assert parse_retrieval_measures("nDCG(dcg='exp-log2')@5, judged@10 bpref mrr@10 map") == [
        *(NDCG(5, "exp-log2"), JudgedAt(10), Bpref(), ReciprocalRank(10), AveragePrecision()),
    ]
    with pytest.raises(InputError, match=r"WeakAlignment is no measure .*evaluate multilingual-pool"):
        parse_retrieval_measures("weak")


@pytest.mark.parametrize(
    "name", ["R@0%", "R@0.0001%", "R@100%", "R@-1%", "AP@5%", "R@5%/min", "P@5%", "Success@0%"]
)
def test_shares_that_cannot_be(name):
    with pytest.raises(InputError, match="unknown measure"):
        parse_measure(name)


def test_recall_of_a_share_rounds_up_and_takes_each_pool_for_itself():
    assert [RecallShare(0.1).k(pool) for pool in (1, 1000, 1001, 3000, 123_456)] == [1, 1, 2, 3, 124]
    counts = RankCounts(*(np.array(a) for a in ([1, 1, 9], [1, 1, 2], [1, 1, 1], [100, 200, 1000])))
    np.testing.assert_array_equal(RecallShare(1.0).per_query(counts), [0, 1, 0.5])
    with pytest.raises(ValueError, match="a share from"):
        RecallShare(100)
    with pytest.raises(ValueError, match="Success@p% needs a share from"):
        SuccessShare(0.0)
