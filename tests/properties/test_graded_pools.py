"""nDCG and grades in a multilingual pool, its views by language, and what is among the first k."""

from dataclasses import replace
from math import log2
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import multilingual_pool
from xlingual.results.document import plain as as_json
from xlingual.signature import Signature

UNIT = Path(__file__).parents[1] / "unit" / "evaluation" / "multilingual_pool"
plain = SimpleNamespace(**run_path(str(UNIT / "plain.py")))
made = SimpleNamespace(**run_path(str(UNIT / "drawn.py")))
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


def ndcg(keys, gains, k):
    """Return nDCG@k with ties in expectation: every place of a group of equal keys holds its mean gain."""
    at_place = np.empty(len(keys))
    order = np.argsort(-keys, kind="stable")
    for key in set(keys.tolist()):
        at_place[keys[order] == key] = gains[keys == key].mean()
    dcg, best = (
        sum(gain / log2(rank + 1) for rank, gain in enumerate(given[:k], start=1))
        for given in (at_place.tolist(), sorted(gains.tolist(), reverse=True))
    )
    return dcg / best


@st.composite
def graded(draw):
    """Draw a pool, its candidates' own grades or none, and the vectors of an encoder."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 8)), draw(st.integers(4, 40))
    pool, *vectors = made.drawn(rng, n, m, levels=draw(st.sampled_from([0, 1, 9])))
    if draw(st.booleans()):
        own = [tuple(rng.integers(1, 4, len(keys)).tolist()) for keys in pool.candidates.keys]
        pool = replace(pool, candidates=replace(pool.candidates, grades=own))
    return pool, vectors


def grade_of(pool, q, c):
    if pool.candidates.grades is None:
        return 1
    return dict(zip(pool.candidates.keys[c], pool.candidates.grades[c], strict=True))[pool.questions.key[q]]


@settings(max_examples=50)
@given(graded(), st.integers(1, 12))
def test_ndcg_equals_a_plain_sum(case, k):
    pool, vectors = case
    whole = plain.Plain(pool, *vectors)
    found = multilingual_pool(pool, made.Given(*vectors), measures=[f"nDCG@{k}"], store=None)
    gains = np.zeros(whole.keys.shape)
    for q, c in np.argwhere(whole.relevant):
        gains[q, c] = grade_of(pool, q, c)
    expected = np.array([ndcg(keys, g, k) for keys, g in zip(whole.keys, gains, strict=True)])
    assert found.per_query["value"].to_numpy() == pytest.approx(expected, abs=1e-9)
    (entry,) = found.entries
    assert entry.views.by_question_language == pytest.approx(whole.by_language(expected), abs=1e-9)
    alone = np.full(whole.n, np.nan)
    for q in range(whole.n):
        here = whole.language == whole.asked_in[q]
        if (whole.relevant[q] & here).any():
            alone[q] = ndcg(whole.keys[q][here], gains[q][here], k)
    assert (entry.views.monolingual_pool or {}) == pytest.approx(whole.by_language(alone), abs=1e-9)


@settings(max_examples=30)
@given(graded(), st.integers(1, 12))
def test_what_is_among_the_first_equals_a_plain_count(case, k):
    pool, vectors = case
    whole = plain.Plain(pool, *vectors)
    found = multilingual_pool(pool, made.Given(*vectors), measures=[f"R@{k}", "AP"], store=None)
    views = as_json(next(e for e in found.entries if e.measure == f"R@{k}").views)
    if k >= whole.m:  # all are
        assert "found" not in views
        return
    chances = [plain.within(keys, k) for keys in whole.keys]
    table = whole.by_answer_language(lambda q, c: chances[q][c])
    assert views["found_at"] == k
    assert views["found"] == pytest.approx(whole.by_pair(table), abs=1e-9)
    own, other = whole.own_and_other(table)
    if len(own):
        expected = {"own": own.mean(), "other": other.mean(), "gap": own.mean() - other.mean()}
        assert views["found_summary"] == pytest.approx(expected, abs=1e-9)


def test_only_graded_measures_name_the_grades():
    pool, *vectors = made.drawn(np.random.default_rng(5), 8, 40, levels=9)
    twice = replace(pool.candidates, grades=[tuple(2 for _ in keys) for keys in pool.candidates.keys])
    (ap, ndcg), (same, graded) = (
        multilingual_pool(
            each, made.Given(*vectors), measures=["AP", "nDCG@10"], store=None, views=False
        ).entries
        for each in (pool, replace(pool, candidates=twice))
    )
    assert same.signature == ap.signature and same.value == ap.value and ndcg.value == graded.value
    before, after = (dict(Signature.parse(entry.signature).conditions) for entry in (ndcg, graded))
    assert "grades" not in before and after.keys() == before.keys() | {"grades"}
