"""Lists of a system give the counts that its full ranking gives, as far as they reach."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xlingual.evaluation.lists import Lists

SCORES = st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=5)


def lists_of(scores, lengths, ended):
    """Return the first `lengths[i]` of each row's candidates by falling score."""
    rows = []
    for query, (row, length) in enumerate(zip(scores, lengths, strict=True)):
        best = sorted(range(len(row)), key=lambda c: -row[c])[:length]
        rows += [(query, c, -row[c]) for c in best]
    query, candidate, level = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Lists(query, candidate, level, np.array(ended), len(scores[0]))


def pairs(n, m):
    query, candidate = np.divmod(np.arange(n * m), m)
    return query, candidate


@given(SCORES)
def test_whole_lists_give_the_counts_of_the_scores(scores):
    lists = lists_of(scores, [6] * len(scores), [False] * len(scores))
    table = np.array(scores)
    query, candidate = pairs(*table.shape)
    above, tied = lists.counts(query, candidate)
    own = table[query, candidate][:, None]
    np.testing.assert_array_equal(above, (table[query] > own).sum(axis=1))
    np.testing.assert_array_equal(tied, (table[query] == own).sum(axis=1))
    assert not lists.unsettled(None).any()


@given(SCORES, st.lists(st.integers(0, 6), min_size=5, max_size=5), st.booleans())
def test_what_is_not_listed_ties_or_is_missed(scores, lengths, ended):
    lengths = lengths[: len(scores)]
    lists = lists_of(scores, lengths, [ended] * len(scores))
    query, candidate = pairs(len(scores), 6)
    above, tied = lists.counts(query, candidate)
    listed = np.zeros((len(scores), 6), dtype=bool)
    listed[lists.query, lists.candidate] = True
    behind = ~listed[query, candidate]
    length = np.array(lengths)[query][behind]
    np.testing.assert_array_equal(above[behind], 6 if ended else length)
    np.testing.assert_array_equal(tied[behind], 1 if ended else 6 - length)
    assert (above[~behind] < np.array(lengths)[query][~behind]).all()
    np.testing.assert_array_equal(lists.unsettled(3), [not ended and length < 3 for length in lengths])


def test_no_list_at_all():
    none = np.empty(0, dtype=np.int64)
    lists = Lists(none, none, none, np.array([True, False]), 3)
    above, tied = lists.counts(np.array([0, 1]), np.array([2, 2]))
    assert above.tolist() == [3, 0]
    assert tied.tolist() == [1, 3]
