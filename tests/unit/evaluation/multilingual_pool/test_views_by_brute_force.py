"""Every view equals what building, sorting and tie-breaking each changed pool gives."""

from itertools import combinations
from pathlib import Path
from runpy import run_path
from statistics import fmean
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xlingual.evaluation.multilingual_pool.alignment import SUMMARY, alignment_counts
from xlingual.evaluation.multilingual_pool.language_bias import (
    agnostic_views,
    monolingual_average_precision,
    single_language_precision,
)
from xlingual.evaluation.multilingual_pool.prefer_own import own_language_targets, prefer_own
from xlingual.evaluation.multilingual_pool.relevant_ranks import relevant_ranks
from xlingual.evaluation.multilingual_pool.views import question_languages, record_of
from xlingual.measures import AveragePrecision
from xlingual.results.document import plain

HERE = Path(__file__)
oracle = SimpleNamespace(**run_path(str(HERE.with_name("oracle.py"))))
pools = SimpleNamespace(**run_path(str(HERE.with_name("pools.py"))))
LANGUAGES = ("ar", "de", "en")
AP = AveragePrecision()


@st.composite
def random_pools(draw):
    """Draw a pool of three languages and its counts: ragged answers, questions without some, many ties."""
    n, m = draw(st.integers(1, 5)), draw(st.integers(3, 7))
    levels = draw(st.sampled_from([1, 2, 3, 50]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(0, levels, (n, m))
    asked_in, language = rng.integers(0, 3, n), rng.integers(0, 3, m)
    relevant = rng.random((n, m)) < draw(st.sampled_from([0.2, 0.5, 1.0]))
    relevant[np.arange(n), rng.integers(0, m, n)] = True
    return pool_and_counts(scores, asked_in, language, relevant)


def pool_and_counts(scores, asked_in, language, relevant, **more):
    pool = oracle.Pool(
        np.asarray(scores).tolist(),
        [LANGUAGES[code] for code in asked_in],
        [LANGUAGES[code] for code in language],
        [set(np.flatnonzero(row).tolist()) for row in relevant],
    )
    return pool, pools.pool_counts(scores, LANGUAGES, asked_in, language, relevant, **more)


ALL_TIED = pool_and_counts([[0] * 6] * 2, [0, 1], [0, 0, 1, 1, 2, 2], [[1, 1, 1, 0, 1, 0]] * 2)


def found(counts, view, subsets=()):
    """Return what one view writes, and check that its intervals are nested like its values."""
    written = plain(record_of(counts.languages, agnostic_views(relevant_ranks(counts), [view], subsets)))
    intervals = written.pop("ci")
    assert written.pop("languages") == list(counts.languages) and written.pop("task")
    without = ("loss", "monolingual_pool_questions", "alignment_chance")
    shown = {k: v for k, v in written.items() if k not in without}
    if "remove_one" in shown:
        shown["remove_one"] = {k: v for k, v in shown["remove_one"].items() if k != "n_questions"}
    assert_intervals_hold(shown, intervals)
    return written


def assert_intervals_hold(values, intervals):
    if isinstance(values, dict):
        assert values.keys() == intervals.keys()
        for key, value in values.items():
            assert_intervals_hold(value, intervals[key])
    else:
        assert intervals["low"] <= values + 1e-12 and values - 1e-12 <= intervals["high"]


def close(expected):
    """Return the expected nested values with a tolerance of 1e-9."""
    if isinstance(expected, dict):
        return {key: close(value) for key, value in expected.items()}
    return pytest.approx(expected, abs=1e-9)


@given(random_pools())
@example(ALL_TIED)
def test_average_precision_by_question_language(case):
    pool, counts = case
    expected = oracle.agnostic(pool)
    by_language = oracle.by_question_language(pool, expected)
    result = question_languages(counts, AP, AP.per_query(counts.whole_pool()))
    assert result.overall.value == pytest.approx(fmean(expected.values()), abs=1e-9)
    written = plain(record_of(counts.languages, [result.view()]))
    assert_intervals_hold({k: written[k] for k in ("by_question_language", "macro")}, written["ci"])
    assert written["by_question_language"] == close(by_language)
    assert written["macro"] == pytest.approx(fmean(by_language.values()), abs=1e-9)


@given(random_pools())
@example(ALL_TIED)
def test_one_target(case):
    pool, counts = case
    assert found(counts, "one_target") == close(oracle.one_target(pool))


@given(random_pools())
@example(ALL_TIED)
def test_remove_one(case):
    pool, counts = case
    assert found(counts, "remove_one") == close(oracle.remove_one(pool))


@given(random_pools())
@example(ALL_TIED)
def test_monolingual_pool(case):
    pool, counts = case
    values = oracle.monolingual(pool)
    languages = oracle.by_question_language(pool, values)
    expected = {}
    if languages:
        asked = [pool.asked_in[q] for q in values]
        expected = {
            "monolingual_pool": languages,
            "monolingual_pool_average": fmean(languages.values()),
            "monolingual_pool_questions": {language: asked.count(language) for language in languages},
        }
    assert found(counts, "monolingual_pool") == close(expected)


@given(random_pools())
@example(ALL_TIED)
def test_alignment(case):
    pool, counts = case
    expected, of_question = oracle.alignment(pool)
    written = found(counts, "alignment")
    chance = written.pop("alignment_chance")
    assert written == close({name: value for name, value in expected.items() if value})
    assert chance.keys() == written["alignment"].keys()
    if "strong" in chance:
        assert chance["strong"] == 0.5
    lines = alignment_counts(relevant_ranks(counts))
    for name, measure in SUMMARY.items():
        values = measure.per_query(lines)
        assert {q: v for q, v in enumerate(values) if not np.isnan(v)} == close(of_question[name])


@given(random_pools())
@example(ALL_TIED)
def test_alignment_of_equal_candidates_is_chance(case):
    pool, counts = case
    level = [[0] * len(pool.candidates) for _ in pool.questions]
    constant = oracle.Pool(level, pool.asked_in, pool.language, pool.relevant)
    expected, _ = oracle.alignment(constant)
    assert found(counts, "alignment")["alignment_chance"] == close(expected["alignment"])


@given(random_pools())
@example(ALL_TIED)
def test_subsets(case):
    pool, counts = case
    chosen = [s for size in (1, 2, 3) for s in combinations(LANGUAGES, size)]
    expected = {",".join(s): oracle.subset(pool, set(s)) for s in chosen}
    means = {name: fmean(values.values()) for name, values in expected.items() if values}
    assert found(counts, "subsets", [reversed_of(s) for s in chosen])["subsets"] == close(means)
    all_but_one = {name: value for name, value in means.items() if name.count(",") == 1}
    assert found(counts, "subsets").get("subsets", {}) == close(all_but_one)


def reversed_of(subset):
    return subset[::-1]


@given(random_pools())
@example(ALL_TIED)
def test_loss(case):
    pool, counts = case
    assert found(counts, "loss") == {"loss": close(oracle.loss(pool))}


@given(random_pools())
@example(ALL_TIED)
def test_prefer_own(case):
    pool, counts = case
    values, errors, first = oracle.prefer_own(pool)
    s = relevant_ranks(counts)
    questions, targets = own_language_targets(s)
    assert questions.tolist() == list(values)
    if not values:
        assert prefer_own(s).values == {}
        return
    assert AP.per_query(targets) == pytest.approx(list(values.values()), abs=1e-9)
    result = prefer_own(s, nearest_own(pool)).values
    assert result["errors"] == close({kind: fmean(each.values()) for kind, each in errors.items()})
    assert result["first"] == close({kind: fmean(each.values()) for kind, each in first.items()})
    languages = {pool.asked_in[q] for q in values}
    expected = {
        language: {kind: oracle.by_question_language(pool, each)[language] for kind, each in errors.items()}
        for language in languages
    }
    assert result["errors_by_question_language"] == close(expected)


@given(random_pools())
@example(ALL_TIED)
def test_prefer_own_says_where_the_counts_cannot_tell_what_stands_first(case):
    pool, counts = case
    values, _, first = oracle.prefer_own(pool)
    shares = prefer_own(relevant_ranks(counts)).values.get("first", {})
    if not values:
        return
    expected = {kind: fmean(each.values()) for kind, each in first.items()}
    assert sum(shares.values()) == pytest.approx(1.0)
    for kind in ("right", "right_meaning_wrong_language"):
        assert shares[kind] == pytest.approx(expected[kind], abs=1e-9)
    for kind in ("own_wrong", "other_wrong"):
        assert shares[kind] - 1e-9 <= expected[kind] <= shares[kind] + shares["wrong_untold"] + 1e-9


def nearest_own(pool):
    """Return the share of each question's nearest candidates that is in its own language."""
    shares = []
    for q in pool.questions:
        nearest = [c for c in pool.candidates if pool.scores[q][c] == max(pool.scores[q])]
        shares.append(fmean(pool.language[c] == pool.asked_in[q] for c in nearest))
    return np.array(shares)


@given(random_pools())
@example(ALL_TIED)
def test_questions_of_which_a_relevant_candidate_ties_with_an_irrelevant_one(case):
    pool, counts = case

    def tied(relevant):
        return sum(
            bool({pool.scores[q][c] for c in relevant(q)} & {pool.scores[q][c] for c in others(q, relevant)})
            for q in pool.questions
        )

    def others(q, relevant):
        return set(pool.candidates) - relevant(q)

    s = relevant_ranks(counts)
    assert s.n_tied() == tied(lambda q: pool.relevant[q])
    assert s.n_tied(s.own) == tied(pool.own)


@given(random_pools())
@example(ALL_TIED)
def test_precision_among_the_candidates_of_each_single_language(drawn):
    pool, counts = drawn
    ranks = relevant_ranks(counts)
    table = single_language_precision(ranks)
    expected = oracle.single_languages(pool)
    for q in pool.questions:
        for code, there in enumerate(LANGUAGES):
            value = table[q, code]
            assert (
                np.isnan(value) if (q, there) not in expected else value == pytest.approx(expected[q, there])
            )
    own = table[np.arange(len(table)), counts.question_language]
    np.testing.assert_array_equal(own, monolingual_average_precision(ranks))
