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

from xlingual import InputError, multilingual_pool
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
@given(graded(), st.integers(1, 5), st.integers(1, 5), st.integers(1, 12))
def test_grades_of_languages_multiply_those_of_the_pool(case, own, other, k):
    pool, vectors = case
    whole = plain.Plain(pool, *vectors)
    name = f"nDCG@{k}"
    found = multilingual_pool(
        pool, made.Given(*vectors), measures=[name], grades={"own": own, "other": other}, store=None
    )
    gains = np.zeros(whole.keys.shape)
    for q, c in np.argwhere(whole.relevant):
        same = pool.questions.language[q] == pool.candidates.language[c]
        gains[q, c] = grade_of(pool, q, c) * (own if same else other)
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


def a_pool(grades=None):
    pool, *vectors = made.drawn(np.random.default_rng(5), 8, 40, levels=9)
    if grades is not None:
        own = [tuple(grades for _ in keys) for keys in pool.candidates.keys]
        pool = replace(pool, candidates=replace(pool.candidates, grades=own))
    return pool, made.Given(*vectors)


def evaluated(pool, encoder, grades=None, **more):
    options = {"measures": ["nDCG@10", "AP"], "store": None, "views": "none"} | more
    found = multilingual_pool(pool, encoder, grades=grades, **options)
    return {entry.measure: entry for entry in found.entries}


def conditions(entry):
    return dict(Signature.parse(entry.signature).conditions)


def test_only_graded_measures_name_the_grades():
    given = a_pool()
    before, after = evaluated(*given), evaluated(*given, "own=2, other=1")
    assert after["AP"].signature == before["AP"].signature
    assert after["AP"].value == before["AP"].value
    assert "grades" not in conditions(before["nDCG@10"])
    assert conditions(after["nDCG@10"]) == conditions(before["nDCG@10"]) | {"grades": "own=2,other=1"}
    equal = evaluated(*given, "own=1,other=1")
    assert equal["nDCG@10"].signature == before["nDCG@10"].signature
    assert equal["nDCG@10"].value == before["nDCG@10"].value


@pytest.mark.parametrize(
    ("grades", "more", "message"),
    [
        ("own=2", {}, "expected two whole numbers, .* as in own=2,other=1"),
        ("own=2,other=1,third=1", {}, "expected two whole numbers"),
        ("own=2,own=1", {}, "expected two whole numbers"),
        ({"own": 2, "other": 0.5}, {}, "expected two whole numbers"),
        ("own=1,other=0", {}, "expected 1 to 50; where only .* policy='prefer-own'"),
        ("own=51,other=1", {}, "expected 1 to 50"),
        ("own=2,other=1", {"measures": ["AP"]}, "changes nDCG, which is not among the measures: add it"),
        ("own=2,other=1", {"policy": "prefer-own", "views": "all"}, "whatever they are worth: leave one of"),
    ],
)
def test_grades_that_cannot_be(grades, more, message):
    with pytest.raises(InputError, match=message):
        evaluated(*a_pool(), grades, **more)
