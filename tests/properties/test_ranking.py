"""Any tiles, blocks, threads and orders give the reference's answers; a pass goes on where it was ended."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rankings import (
    SIMILARITIES,
    FunctionScores,
    Questions,
    answer,
    constants,
    cosine,
    counted,
    problems,
    setting,
    tally_of,
)

from xlingual.ranking import (
    Cosine,
    Counts,
    Cpu,
    Top,
    UnitVectors,
    counts,
    passes,
    rank,
    top,
)
from xlingual.ranking.top import _by_hash, hash_of

EXAMPLE = np.array([[9, 7, 7, 1], [5, 5, 5, 5], [0, 3, 1, 2]])  # scores of three queries and four candidates


def example():
    return FunctionScores(EXAMPLE.shape, lambda rows, columns: EXAMPLE[np.ix_(rows, columns)])


def lines(best):
    rows = zip(best.query, best.candidate, best.above, best.tied, strict=True)
    return [tuple(map(int, row)) for row in rows]


def test_the_best_by_hand():
    (best,) = top(example(), 2)
    assert lines(best) == [
        *[(0, 0, 0, 1), (0, 1, 1, 2), (0, 2, 1, 2)],
        *[(1, 0, 0, 4), (1, 1, 0, 4), (1, 2, 0, 4), (1, 3, 0, 4)],
        *[(2, 1, 0, 1), (2, 3, 1, 1)],
    ]
    odd, even = top(example(), 1, groups=np.array([0, 1, 0, 1]))
    assert lines(odd) == [(0, 0, 0, 1), (1, 0, 0, 2), (1, 2, 0, 2), (2, 2, 0, 1)]
    assert lines(even) == [(0, 1, 0, 1), (1, 1, 0, 2), (1, 3, 0, 2), (2, 1, 0, 1)]
    (sampled,) = top(example(), 2, cap=1)
    assert sampled.unlisted.tolist() == [1, 3, 0]
    assert sampled.tied.tolist() == [1, 2, 4, 1, 1]
    back = Top(1, (3, 4), weights=np.array([1, 2, 1]), columns=True)
    rank(example(), [back], Cpu())
    assert lines(back.result()) == [(0, 0, 0, 1), (1, 0, 0, 1), (2, 0, 0, 1), (3, 1, 0, 2)]
    assert back.result().weight.tolist() == [1, 1, 1, 2]


def test_counts_by_hand():
    pairs = np.array([0, 0, 1, 2]), np.array([1, 3, 2, 0])
    above, tied = counts(example(), *pairs)
    assert (above.ravel().tolist(), tied.ravel().tolist()) == ([1, 3, 0, 3], [2, 1, 4, 1])
    above, tied = counts(example(), *pairs, groups=np.array([0, 1, 0, 1]))
    assert above.tolist() == [[1, 0], [2, 1], [0, 0], [1, 2]]
    assert tied.tolist() == [[1, 1], [0, 1], [2, 2], [1, 0]]
    back = Counts(pairs[1], pairs[0], example().keys(*pairs), weights=np.array([1, 2, 3]), columns=True)
    rank(example(), [back], Cpu())
    assert (back.above.tolist(), back.tied.tolist()) == ([0, 5, 1, 3], [1, 1, 2, 3])


@settings(max_examples=80)
@given(problems(), constants(), st.integers(1, 3), st.integers(1, 12), st.sampled_from([1, 2, 7, 1000]))
def test_no_tiling_and_no_threads_change_an_answer(problem, chosen, threads, k, cap):
    rng, similarity, keys = problem
    with setting(**chosen):
        Questions(keys, rng, k=k, cap=cap).check(similarity, Cpu(threads))


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(4, 1 << 20))
def test_tiles_fit_their_bytes(n, m, tile_bytes):
    height, width = passes.tile_shape(n, m, tile_bytes)
    assert 1 <= height <= n and 1 <= width <= m
    assert height * width <= tile_bytes // 4
    assert height == n or width == m or 2 * height * width > tile_bytes // 4


def test_hashes_of_many_owners_stay_in_order():
    owner = np.array([2**62, 5, 2**62, 2**62, 5])
    for entry in (np.array([4, 1, 3, 9, 2]), np.array([9, 2, 4, 3, 1])):
        order = _by_hash(owner, entry, 7)
        assert order.tolist() == np.lexsort((hash_of(entry, 7), owner)).tolist()


def test_weights_beyond_float32_are_added_exactly():
    similarity, keys = cosine("whole", np.random.default_rng(6), 20, 30, 4)
    weights = np.full(30, (1 << 24) + 1)
    query, candidate = np.arange(20), np.arange(20)
    for groups in (np.arange(30) % 2, np.arange(30)[:, None] >= [0, 29]):
        watcher = Counts(query, candidate, keys[query, candidate], weights=weights, groups=groups)
        rank(similarity, [watcher], Cpu())
        assert answer(watcher) == counted(keys, query, candidate, groups, weights)


def questions(keys, seed=0, **options):
    return Questions(keys, np.random.default_rng(seed), **options)


@settings(max_examples=40)
@given(problems(["float32", "float64"]), st.data())
def test_orders_and_lengths_do_not_matter(problem, data):
    rng, similarity, _ = problem
    rows, columns = (np.array(data.draw(st.permutations(range(n)))) for n in similarity.shape)
    query, candidate = (rng.integers(0, n, 20) for n in similarity.shape)
    expected = counts(similarity, query, candidate)
    left, right = (side.raw.astype(np.float64) for side in (similarity.queries, similarity.candidates))
    lengths = 2.0 ** rng.integers(-8, 9, len(right))[:, None]
    shuffled = Cosine(UnitVectors(left[rows] * 4), UnitVectors((right * lengths)[columns]))
    places = np.argsort(rows)[query], np.argsort(columns)[candidate]
    np.testing.assert_array_equal(counts(shuffled, *places), expected)
    longer = Cosine(similarity.queries, UnitVectors(np.concatenate([right, right[:1]])))
    again = counts(longer, query, candidate * 0)
    np.testing.assert_array_equal(again[1], counts(similarity, query, candidate * 0)[1] + 1)


@settings(max_examples=40)
@given(problems(["float32", "float64"]), st.integers(1, 5))
def test_columns_are_the_rows_of_the_sides_exchanged(problem, k):
    rng, similarity, keys = problem
    (n, m), turned = keys.shape, Cosine(similarity.candidates, similarity.queries)
    query, candidate = rng.integers(0, n, 20), rng.integers(0, m, 20)
    key = keys[query, candidate]
    one_way = [Counts(candidate, query, key, columns=True), Top(k, (n, m), columns=True)]
    other_way = [Counts(candidate, query, key), Top(k, (m, n))]
    rank(similarity, one_way, Cpu())
    rank(turned, other_way, Cpu())
    assert list(map(answer, one_way)) == list(map(answer, other_way))


class Stored(dict):
    """Blocks in memory; the pass ends after some of them."""

    def __init__(self, most=1000):
        self.most = most
        self.hits = 0

    def read(self, name):
        self.hits += name in self
        return self.get(name)

    def write(self, name, arrays):
        if len(self) == self.most:
            raise KeyboardInterrupt
        self[name] = pickle.loads(pickle.dumps(dict(arrays)))

    def forget(self):
        self.clear()


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr(passes, "LONG", 30 * 40)
    with setting(BLOCK=7, tile_bytes=600):
        yield


@pytest.mark.parametrize("form", ["float32", "sparse dot", "maxsim", "corrected"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_pass_that_was_ended_goes_on(many_blocks, form, threads):
    blocks = Stored(2)
    similarity, keys = SIMILARITIES[form]("whole", np.random.default_rng(1), 30, 40, 5)
    with pytest.raises(KeyboardInterrupt):
        questions(keys).check(similarity, Cpu(threads, blocks))
    assert len(blocks) == 2
    blocks.most = 1000
    questions(keys).check(similarity, Cpu(threads, blocks))
    assert (blocks.hits, len(blocks)) == (2, 5)
    screened = tally_of(similarity).screened
    questions(keys).check(similarity, Cpu(threads, blocks))
    assert (blocks.hits, tally_of(similarity).screened) == (7, screened)


def test_blocks_of_something_else_are_not_taken(many_blocks):
    rng = np.random.default_rng(2)
    raw = [rng.integers(-1, 2, (n, 4)).astype(np.float32) for n in (60, 80)]
    rows = {"plain": [np.arange(30), np.arange(40)]}
    rows["other queries"] = [np.arange(1, 31), np.arange(40)]
    rows["other candidates"] = [np.arange(30), np.arange(1, 41)]
    rows["other order"] = [np.arange(30)[::-1], np.arange(40)]
    blocks = Stored()
    for name, (left, right) in rows.items():
        similarity = Cosine(UnitVectors(raw[0], left), UnitVectors(raw[1], right))
        keys = similarity.key_block(np.arange(30), np.arange(40)).astype(np.int64)
        questions(keys).check(similarity, Cpu(1, blocks))
        assert blocks.hits == 0, name
    similarity = Cosine(
        *(UnitVectors(side[:n].astype(np.float64)) for side, n in zip(raw, (30, 40), strict=True))
    )
    for options in ({}, {"seed": 1}, {"k": 4}, {"cap": 2}):
        keys = similarity.key_block(np.arange(30), np.arange(40)).astype(np.int64)
        questions(keys, **options).check(similarity, Cpu(1, blocks))
        assert blocks.hits == 0, options


def test_a_question_is_identified_by_all_of_its_parts():
    pairs, key, ones = (np.arange(3), np.arange(3)), np.arange(3), np.ones(3, np.int64)
    watchers = [
        *(
            Counts(*pairs, key, **more)
            for more in ({}, {"weights": 2 * ones}, {"groups": key}, {"columns": True})
        ),
        *(Counts(*pairs, key, groups=np.eye(3) > 0, within=within) for within in (key, key[::-1])),
        *(
            Counts(*pairs, key + 1),
            Counts(pairs[0], pairs[1][::-1], key),
            Counts(pairs[0][::-1], pairs[1], key),
        ),
        *(Top(k, (3, 3), cap=cap) for k in (1, 2) for cap in (1, 2)),
        *(Top(1, (3, 3), **more) for more in ({"weights": ones}, {"queries": ones[:1]}, {"columns": True})),
        *(Top(1, shape, seed=seed) for shape, seed in (((4, 3), 0), ((3, 3), 1))),
    ]
    assert len({watcher.identity() for watcher in watchers}) == len(watchers)


def test_short_passes_and_functions_store_nothing(many_blocks):
    blocks, rng = Stored(), np.random.default_rng(3)
    for form, sizes in (("float32", (29, 41)), ("function", (40, 40))):
        similarity, keys = SIMILARITIES[form]("random", rng, *sizes, 4)
        questions(keys).check(similarity, Cpu(1, blocks))
    assert not blocks


def test_progress_counts_the_pairs(many_blocks):
    similarity, keys = cosine("random", np.random.default_rng(4), 30, 40, 8)
    steps = []
    rank(similarity, [Top(1, keys.shape)], Cpu(), progress=lambda *step: steps.append(step))
    assert steps == [(rows * 40, 1200) for rows in (7, 14, 21, 28, 30)]
    assert similarity.screened == 1200


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_nothing_to_rank(shape):
    similarity = Cosine(*(UnitVectors(np.ones((n, 3), np.float32)) for n in shape))
    watchers = [Top(2, shape), Top(2, shape, columns=True)]
    rank(similarity, watchers, Cpu())
    assert [lines(watcher.result()) for watcher in watchers] == [[], []]
    assert [len(watcher.result().unlisted) for watcher in watchers] == list(shape)


def test_a_similarity_and_its_watchers_travel(many_blocks):
    for form in SIMILARITIES:
        similarity, keys = SIMILARITIES[form]("whole", np.random.default_rng(5), 30, 40, 5)
        asked = pickle.loads(pickle.dumps((similarity, questions(keys))))
        asked[1].check(asked[0], Cpu())
