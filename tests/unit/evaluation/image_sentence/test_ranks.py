"""Ranks both ways against a slow loop in float64, ties and several captions included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.evaluation.image_sentence import rank_both_ways, sum_of_recalls, sum_of_recalls_between
from xlingual.measures import MedianRank, ReciprocalRank, SuccessAt
from xlingual.records import RankCounts
from xlingual.stats import mean_interval

MEASURES = (SuccessAt(1), SuccessAt(5), ReciprocalRank(), MedianRank())


def slow_counts(
    queries: np.ndarray, query_item: np.ndarray, candidates: np.ndarray, candidate_item: np.ndarray
) -> list[tuple[int, int, int, int]]:
    """Return (above, tied, relevant, pool) of each query that has a relevant candidate, in float64."""
    kept = [j for j in range(len(candidates)) if candidate_item[j] in query_item]
    found = []
    for i in range(len(queries)):
        if query_item[i] not in candidate_item:
            continue
        scores = [round(_cosine(queries[i], candidates[j]), 9) for j in kept]
        own = [score for j, score in zip(kept, scores, strict=True) if candidate_item[j] == query_item[i]]
        best = max(own)
        above, tied = sum(s > best for s in scores), sum(s == best for s in scores)
        found.append((above, tied, sum(s == best for s in own), len(kept)))
    return found


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    x, y = a.astype(np.float64), b.astype(np.float64)
    length = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return float(x @ y) / length if length else 0.0


def as_rows(counts: RankCounts) -> list[tuple[int, int, int, int]]:
    columns = (counts.above, counts.tied, counts.relevant, counts.pool)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@st.composite
def sides(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of few different values, so that many tie, and items of which some have one side only."""
    n, m, d = draw(st.integers(1, 14)), draw(st.integers(1, 10)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    items = draw(st.integers(1, 8))
    return (
        rng.integers(-1, 2, (n, d)).astype(np.float32),
        rng.integers(0, items, n),
        rng.integers(-1, 2, (m, d)).astype(np.float32),
        rng.integers(0, items, m),
    )


@settings(max_examples=150, deadline=None)
@given(sides())
def test_both_ways_equal_the_slow_loop(
    given_sides: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    texts, text_item, images, image_item = given_sides
    if not np.isin(text_item, image_item).any():
        with pytest.raises(InputError, match="nothing to rank"):
            rank_both_ways(texts, text_item, images, image_item)
        return
    to_image, to_sentence = rank_both_ways(texts, text_item, images, image_item)
    assert as_rows(to_image) == slow_counts(texts, text_item, images, image_item)
    assert as_rows(to_sentence) == slow_counts(images, image_item, texts, text_item)


def test_without_ties_equal_an_argsort() -> None:
    """Five captions an image, as in the usual test sets: the rank is the best caption's place."""
    rng = np.random.default_rng(3)
    images = rng.standard_normal((60, 16)).astype(np.float32)
    item = np.repeat(np.arange(60), 5)
    texts = images[item] + 1.5 * rng.standard_normal((300, 16)).astype(np.float32)
    to_image, to_sentence = rank_both_ways(texts, item, images, np.arange(60))
    unit = [
        x.astype(np.float64) / np.linalg.norm(x.astype(np.float64), axis=1)[:, None] for x in (texts, images)
    ]
    scores = unit[0] @ unit[1].T
    to_image_rank = [
        int(np.flatnonzero(np.argsort(-row) == i)[0]) for row, i in zip(scores, item, strict=True)
    ]
    to_sentence_rank = [
        min(int(np.flatnonzero(np.argsort(-scores[:, i]) == t)[0]) for t in range(5 * i, 5 * i + 5))
        for i in range(60)
    ]
    assert to_image.above.tolist() == to_image_rank
    assert to_sentence.above.tolist() == to_sentence_rank
    recalls = [np.mean(np.array(r) < k) for r in (to_image_rank, to_sentence_rank) for k in (1, 5, 10)]
    assert sum_of_recalls(to_image, to_sentence) == pytest.approx(100 * sum(recalls), abs=1e-9)


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_a_constant_encoder_scores_exactly_chance(constant: float) -> None:
    texts, images = np.full((20, 4), constant, np.float32), np.eye(10, 4, dtype=np.float32) * 0
    to_image, to_sentence = rank_both_ways(texts, np.arange(20) % 10, images, np.arange(10))
    assert SuccessAt(3).aggregate(SuccessAt(3).per_query(to_image)) == pytest.approx(0.3)
    # two of the twenty sentences are right: hit unless the first three are among the other eighteen
    missed = 18 * 17 * 16 / (20 * 19 * 18)
    assert SuccessAt(3).aggregate(SuccessAt(3).per_query(to_sentence)) == pytest.approx(1 - missed)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
def test_the_order_of_the_rows_does_not_matter(measure: SuccessAt) -> None:
    rng = np.random.default_rng(5)
    texts, images = (
        rng.standard_normal((40, 8)).astype(np.float32),
        rng.standard_normal((9, 8)).astype(np.float32),
    )
    item = rng.integers(0, 9, 40)
    order = rng.permutation(40)
    straight = rank_both_ways(texts, item, images, np.arange(9))
    mixed = rank_both_ways(texts[order], item[order], images, np.arange(9))
    # every item has a text here, so that no query is left out
    assert measure.per_query(straight[0])[order].tolist() == measure.per_query(mixed[0]).tolist()
    assert measure.per_query(straight[1]).tolist() == measure.per_query(mixed[1]).tolist()


def test_between_two_languages_is_symmetric_and_perfect_for_equal_vectors() -> None:
    vectors = np.random.default_rng(0).standard_normal((30, 6)).astype(np.float32)
    item = np.arange(30) // 2
    other = np.random.default_rng(1).standard_normal((15, 6)).astype(np.float32)
    assert sum_of_recalls_between(vectors, item, vectors, item) == 600
    one = sum_of_recalls_between(vectors, item, other, np.arange(15))
    assert one == pytest.approx(sum_of_recalls_between(other, np.arange(15), vectors, item))
    assert one < 600


def test_the_interval_of_an_encoder_to_which_nearly_all_are_equal_has_a_width() -> None:
    n = 5000
    texts, images = np.ones((n, 2), np.float32), np.ones((n, 2), np.float32)
    texts[::100, 0] = images[::2, 1] = 0.9
    to_image, _ = rank_both_ways(texts, np.arange(n), images, np.arange(n))
    recall = SuccessAt(1)
    values = recall.per_query(to_image)
    found = mean_interval(values, bounds=recall.bounds)
    assert found.low < 0.99 * values.mean() and found.high > 1.01 * values.mean()
