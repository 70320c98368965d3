"""What parts of `Top` begin with, of the k-th best that is known, and what they keep of ties."""

import threading

import numpy as np
import pytest

from xlingual.ranking import (
    UNIT,
    Adjusted,
    Cosine,
    GivenScores,
    Offsets,
    Tile,
    Top,
    Transposed,
    UnitVectors,
    scan,
)

HALF = 5 * 10**8  # the key of a score of one half


def decides_by(keys):
    return lambda queries, candidates: keys[queries, candidates]


def exact_tile(keys, columns):
    return Tile(keys[:, columns] * UNIT, 0, columns.start, 0.0, decides_by(keys))


def screened_tile(scores, column, band, keys):
    return Tile(np.array(scores, dtype=np.float32), 0, column, band, decides_by(keys))


def listed(found):
    return sorted(zip(found.query.tolist(), found.candidate.tolist(), found.above.tolist(), strict=True))


def test_a_part_for_a_separate_pass_does_not_depend_on_other_parts():
    """Its state is kept for whoever asks the same, who may not have seen the others."""
    rng = np.random.default_rng(0)
    queries, candidates = (UnitVectors(rng.standard_normal((n, 4)).astype(np.float32)) for n in (60, 20))
    later = slice(40, 60), slice(0, 20)
    states = []
    for seen in (False, True):
        top = Top(2, (20, 60))
        if seen:
            scan(Cosine(queries.take(np.arange(40)), candidates), [Transposed(top)], budget=400)
        request = Transposed(top).alone(*later)
        scan(Cosine(queries.take(np.arange(40, 60)), candidates), [request])
        states.append(request.state())
    for name, array in states[0].items():
        np.testing.assert_array_equal(array, states[1][name])


def test_the_state_of_a_part_holds_what_is_above_the_exact_score_of_a_screened_best():
    keys = np.array([[HALF - 10, HALF - 10, HALF]])
    top = Top(2, keys.shape)
    top.update(screened_tile([[0.5 + 1e-7, 0.5 + 1e-7]], 0, 4e-7, keys))
    part = top.within(slice(0, 1), slice(2, 3))
    part.update(screened_tile([[0.5]], 2, 4e-7, keys))
    again = top.within(slice(0, 1), slice(2, 3))
    again.restore(part.state())
    top.merge([again])
    assert listed(top.result()) == [(0, 0, 1), (0, 1, 1), (0, 2, 0)]


def test_exact_ties_are_not_sampled_while_the_kth_best_is_open():
    """Three scores of query 0 tie above its fourth, which a screen puts before them."""
    keys = np.full((2, 30), -2 * HALF)
    keys[0, :4] = [HALF, HALF, HALF, HALF - 30]
    keys[1] = HALF // 2  # so many ties that they are decided at once
    top = Top(4, keys.shape, cap=1)
    top.update(exact_tile(keys, slice(0, 3)))
    scores = keys[:, 3:] * UNIT
    scores[0, 0] += 9e-8
    top.update(screened_tile(scores, 3, 4e-7, keys))
    found = top.result()
    assert [line for line in listed(found) if line[0] == 0] == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 3)]
    assert found.unlisted.tolist() == [0, 29]


def test_ties_above_the_cap_take_no_more_room_with_more_parts():
    keys = np.full((1, 500), HALF)
    top = Top(1, keys.shape, cap=1)
    for start in range(0, 500, 2):
        part = top.within(slice(0, 1), slice(start, start + 2))
        part.update(exact_tile(keys, slice(start, start + 2)))
        top.merge([part])
    assert len(top.lines) < 10
    assert top.result().unlisted.tolist() == [499]


@pytest.mark.parametrize("threads", [1, 3])
def test_parts_begin_in_the_thread_that_merges_them(threads):
    """They copy what is known of each query, which merging changes."""
    used = set()

    class Watched(Top):
        def within(self, rows, columns):
            used.add(threading.get_ident())
            return super().within(rows, columns)

        def merge(self, others):
            used.add(threading.get_ident())
            super().merge(others)

    rng = np.random.default_rng(0)
    sides = [UnitVectors(rng.standard_normal((40, 3)).astype(np.float32)) for _ in range(2)]
    scan(Cosine(*sides), [Watched(2, (40, 40))], threads=threads, budget=400)
    assert used == {threading.get_ident()}


@pytest.mark.parametrize("size", [1.0, 3e7, 4e8])
def test_adjusted_scores_of_any_size_are_told_apart(size):
    """Offsets of some units of the keys order candidates of equal scores."""
    rng = np.random.default_rng(0)
    similarity = GivenScores(
        (4, 50), lambda queries, candidates: np.full((len(queries), len(candidates)), size)
    )
    offset = rng.permutation(50)
    top = Top(3, similarity.shape)
    scan(similarity, [Adjusted(top, Offsets(2, offset))], budget=400)
    best = np.argsort(offset)[:3].tolist()
    assert listed(top.result()) == [
        (q, c, i) for q in range(4) for c, i in sorted(zip(best, range(3), strict=True))
    ]
