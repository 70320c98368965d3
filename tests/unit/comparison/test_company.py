"""What other encoders and other ways to name folders must not change: outcomes, p, what is retrieved."""

import os
from dataclasses import replace

import numpy as np

from xlingual.comparison.compare import compare
from xlingual.comparison.outcome import EncoderTest, Rules, decide
from xlingual.comparison.queries import NO_LABEL
from xlingual.comparison.ranks import pairwise_p, rank_intervals
from xlingual.comparison.reading import read_aligned
from xlingual.comparison.rows import _without_gaps
from xlingual.results import comparison as record
from xlingual.stats.paired import t_test


def test_one_folder_named_in_several_ways_is_one(folders, monkeypatch, tmp_path):
    path = folders.xlr("o1", [folders.given("x", 0.2), folders.given("y", 0.4, 1)])
    os.symlink(path, tmp_path / "link")
    monkeypatch.chdir(tmp_path)
    for other in (path, "link", "../" + tmp_path.name + "/o1"):
        found = compare(["o1"], baseline=f"{other}#x", measures=["R@1"])
        assert {row.encoder for row in found.boards[0].rows} == {"x", "y"}
        assert found.boards[0].baseline == "x"


def test_an_encoder_that_retrieves_nothing_leaves_the_others_their_targets(folders):
    class Constant(folders.given):
        def encode(self, batch):
            return np.ones_like(super().encode(batch))

    given = [folders.given("good", 0.2), folders.given("bad", 0.5, 1)]
    alone = read_aligned([folders.bkr("two", given)]).queries[0]
    found = read_aligned([folders.bkr("three", [*given, Constant("constant", 0.0)])]).queries[0]
    np.testing.assert_array_equal(found.retrieved[:2], alone.retrieved)
    nodes = found.retrieved[2]
    assert (nodes < 0).all() and len(np.unique(nodes)) == len(nodes)


def test_labels_that_change_with_the_company_change_no_p(folders):
    given = [folders.given("good", 0.2), folders.given("bad", 0.3, 1)]
    one, more = folders.xlr("one", given), folders.xlr("more", [folders.given("bad", 0.25, 5)])
    before = compare([one], baseline=f"{one}#good", measures=["R@1"]).boards[0]
    after = compare([one, more], baseline=f"{one}#good", measures=["R@1"]).boards[0]
    p = {row.encoder: (row.p, row.ci) for row in before.rows}
    assert {row.encoder: (row.p, row.ci) for row in after.rows}["one#bad"] == p["bad"]


def test_a_label_like_the_one_of_queries_without_is_told_apart():
    labels = _without_gaps(np.array([0, 1, -1]), ["a", NO_LABEL])
    assert len(set(labels.words)) == 3 and labels.words[labels.code[2]] != NO_LABEL


def test_table_and_ranks_say_the_same_against_a_leader(folders):
    noise = {"a": 0.28, "b": 0.3, "c": 0.32, "d": 0.34, "e": 0.38, "f": 0.45}
    given = [folders.given(name, size, i) for i, (name, size) in enumerate(noise.items())]
    board = compare([folders.xlr("r", given)], measures=["R@1"]).boards[0]
    assert board.n_tests == board.n_rank_tests == 15
    for row in board.rows[1:]:
        assert row.top or row.rank_low > 1
        assert not (row.top and row.outcome == record.WORSE)
    worse = sum(row.outcome == record.WORSE for row in board.rows)
    assert board.rows[0].rank_high == len(board.rows) - worse


def test_an_encoder_worse_than_a_named_baseline_is_not_at_the_top():
    row = record.Compared("x", 0.4, -0.1, None, 0.04, 0.04, None, record.WORSE, 1, 3)
    assert not row.top


def test_tests_that_are_not_shown_count(folders):
    rules = Rules("holm", 0.05, None)
    path = folders.xlr("r", [folders.given("a", 0.2), folders.given("b", 0.35, 1)])
    queries = read_aligned([path], measures=["R@1"]).queries[0]
    pairs = pairwise_p(queries, {"b": 0.02}, "a", rules, lambda a, b: 1.0)
    assert pairs.pairs == (("a", "b"),)
    assert pairs.low.tolist() == pairs.high.tolist() == [0.02]
    assert rank_intervals(queries, pairs, rules) == {"a": (1, 1), "b": (2, 2)}
    untested = EncoderTest("x", 0.5, 0.1, None, "why")
    ((shown,),) = decide([[untested]], rules, np.ones(2))
    assert shown.outcome == record.CANNOT_TELL


def test_one_text_retrieved_by_all_queries_tells_nothing(folders):
    path = folders.bkr("r", [folders.given("good", 0.2), folders.given("bad", 0.5, 1)])
    queries = read_aligned([path]).queries[0]
    assert queries.one_retrieved("good", "bad") is None
    queries.retrieved[1] = 7
    assert not queries.agree("good", "bad")


def test_nodes_numbered_anew_give_the_same_tests(folders):
    given = [folders.given("good", 0.2), folders.given("bad", 0.5, 1)]
    queries = read_aligned(
        [folders.bkr("r", given, manifest=folders.manifest(cluster=lambda i: i // 2))]
    ).queries[0]
    data = queries.paired("good", "bad")
    plain = replace(data, own=queries.own, retrieved_a=queries.retrieved[0], retrieved_b=queries.retrieved[1])
    assert t_test(data) == t_test(plain)
    both = np.concatenate([data.own, data.retrieved_a, data.retrieved_b])
    assert both.min() == 0 and len(np.unique(both)) == both.max() + 1
