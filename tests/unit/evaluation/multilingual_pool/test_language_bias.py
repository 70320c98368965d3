"""What the views must show: no bias where there is none, the paper's effect where it is made on purpose."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.evaluation.multilingual_pool.language_bias import agnostic_views, removals
from xlingual.evaluation.multilingual_pool.prefer_own import prefer_own
from xlingual.evaluation.multilingual_pool.relevant_ranks import relevant_ranks
from xlingual.evaluation.multilingual_pool.views import question_languages, record_of
from xlingual.measures import AveragePrecision
from xlingual.results.document import plain

pools = SimpleNamespace(**run_path(str(Path(__file__).with_name("pools.py"))))
LANGUAGES = ("ar", "de", "en", "zh")
G, KEYS, CANDIDATES = (
    len(LANGUAGES),
    30,
    45,
)  # of each language; some candidates answer nothing
AP = AveragePrecision()
ASKED_IN = np.repeat(np.arange(G), KEYS)
LANGUAGE = np.repeat(np.arange(G), CANDIDATES)
RELEVANT = np.tile(np.eye(KEYS, CANDIDATES, dtype=bool), (G, G))
CLUSTER = np.tile(np.arange(KEYS) // 3, G)


def counts_of(scores, **more):
    given = {"cluster": CLUSTER, **more}
    return pools.pool_counts(scores, LANGUAGES, ASKED_IN, LANGUAGE, RELEVANT, **given)


def views_of(counts, subsets=()):
    overall = question_languages(counts, AP, AP.per_query(counts.whole_pool()))
    return plain(
        record_of(
            counts.languages,
            [overall.view(), *agnostic_views(relevant_ranks(counts), chosen_subsets=subsets)],
        )
    )


def similarities(seed=0, noise=1.0):
    """Return scores in millionths: a question is near its answers in all languages, with noise."""
    rng = np.random.default_rng(seed)
    meaning = np.tile(np.eye(KEYS, CANDIDATES), (G, G))
    return np.round((meaning + noise * 0.4 * rng.standard_normal(meaning.shape)) * 1e6).astype(np.int64)


def test_an_encoder_that_sees_no_language_shows_no_bias():
    rng = np.random.default_rng(0)
    by_meaning = np.eye(KEYS, CANDIDATES) + 0.5 * rng.standard_normal((KEYS, CANDIDATES))
    found = views_of(counts_of(np.tile(by_meaning, (G, G))))
    assert found["remove_one"]["relative_delta"] == pytest.approx(0.0, abs=1e-12)
    assert found["one_target_summary"]["gap"] == pytest.approx(0.0, abs=1e-12)
    assert found["remove_one"]["n_questions"] == G * KEYS
    assert 0.1 < found["macro"] < 0.9


def test_language_bias_made_on_purpose_costs_the_pool_but_not_the_monolingual_pool():
    scores, same_language = similarities(), ASKED_IN[:, None] == LANGUAGE
    runs = [views_of(counts_of(scores + step * 250_000 * same_language)) for step in range(5)]
    monolingual = [run["monolingual_pool"] for run in runs]
    assert all(each == monolingual[0] for each in monolingual)
    macros = [run["macro"] for run in runs]
    assert macros == sorted(macros, reverse=True) and macros[-1] < 0.8 * macros[0]
    deltas = [run["remove_one"]["relative_delta"] for run in runs]
    assert abs(deltas[0]) < 0.02 and deltas == sorted(deltas) and deltas[-1] > 0.2
    gaps = [run["one_target_summary"]["gap"] for run in runs]
    assert abs(gaps[0]) < 0.05 and gaps[-1] > 0.3
    low = runs[-1]["ci"]["remove_one"]["relative_delta"]["low"]
    assert low > 0 and runs[0]["ci"]["remove_one"]["relative_delta"]["low"] < 0
    loss = [run["loss"]["ar->de"] for run in runs]
    assert loss[-1]["question"] > 2 * loss[0]["question"]
    assert loss[-1]["third"] == loss[0]["third"]


def test_prefer_own_gains_from_the_same_bias():
    scores, same_language = similarities(), ASKED_IN[:, None] == LANGUAGE
    neutral, biased = (
        prefer_own(relevant_ranks(counts_of(scores + bias * same_language))).values for bias in (0, 1_000_000)
    )
    assert neutral["errors"]["right_meaning_wrong_language"] > 0.5
    assert biased["errors"]["right_meaning_wrong_language"] < 0.2
    assert biased["errors"]["own_wrong"] == neutral["errors"]["own_wrong"]
    assert biased["first"]["right"] > neutral["first"]["right"]


def test_the_order_of_candidates_and_the_codes_of_languages_do_not_matter():
    scores = similarities(noise=1.5) // 100_000  # many ties
    before = views_of(counts_of(scores), [("de", "zh")])
    order = np.random.default_rng(1).permutation(len(LANGUAGE))
    codes = np.array([2, 0, 3, 1])
    names = tuple(np.array(LANGUAGES)[np.argsort(codes)].tolist())
    moved = pools.pool_counts(
        scores[:, order], names, codes[ASKED_IN], codes[LANGUAGE[order]], RELEVANT[:, order], cluster=CLUSTER
    )
    after = views_of(moved, [("de", "zh")])
    for found in (before, after):
        del found["languages"]
        for subsets in (found["subsets"], found["ci"]["subsets"]):  # named in the order of the pool
            for name in list(subsets):
                subsets[",".join(sorted(name.split(",")))] = subsets.pop(name)
    assert_same(before, after)


def test_questions_asked_twice_change_neither_values_nor_intervals():
    scores = similarities(noise=1.5)
    once = views_of(counts_of(scores))
    twice = pools.pool_counts(
        np.repeat(scores, 2, axis=0),
        LANGUAGES,
        np.repeat(ASKED_IN, 2),
        LANGUAGE,
        np.repeat(RELEVANT, 2, axis=0),
        cluster=np.repeat(CLUSTER, 2),
    )
    found = views_of(twice)
    assert found["remove_one"].pop("n_questions") == 2 * once["remove_one"].pop("n_questions")
    del found["monolingual_pool_questions"], once["monolingual_pool_questions"]
    assert_same(once, found)


def assert_same(a, b):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, str):
        assert a == b
    else:
        assert a == pytest.approx(b, abs=1e-9)


def test_a_subset_of_all_languages_is_the_pool_and_of_one_the_monolingual_pool():
    counts = counts_of(similarities() // 200_000)
    found = views_of(counts, [LANGUAGES, *([language] for language in LANGUAGES)])
    pool = AP.per_query(counts.whole_pool()).mean()
    assert found["subsets"].pop(",".join(LANGUAGES)) == pytest.approx(pool, abs=1e-12)
    for language in LANGUAGES:
        alone = found["subsets"].pop(language)
        assert alone == pytest.approx(found["monolingual_pool"][language], abs=1e-12)
    assert list(found["subsets"]) == ["de,en,zh", "ar,en,zh", "ar,de,zh", "ar,de,en"]


def test_residuals_of_the_relative_delta_are_its_derivatives():
    counts = counts_of(similarities() + 300_000 * (ASKED_IN[:, None] == LANGUAGE))
    delta = removals(relevant_ranks(counts))[0]["relative_delta"]
    (part,) = delta.parts
    assert part.residuals.sum() == pytest.approx(0.0, abs=1e-12)
    assert part.ways[0] is not None and len(part.ways[0]) == counts.n_questions
    n = counts.n_questions
    for question in (0, 17, 101):
        left_out = without_question(counts, question)
        jackknife = delta.value - removals(relevant_ranks(left_out))[0]["relative_delta"].value
        assert part.residuals[question] == pytest.approx(jackknife * (n - 1) / n, rel=0.1, abs=1e-5)


def without_question(counts, question):
    lines, kept = counts.question != question, np.arange(counts.n_questions) != question
    return replace(
        counts,
        question=counts.question[lines] - (counts.question[lines] > question),
        candidate=counts.candidate[lines],
        key=counts.key[lines],
        above=counts.above[lines],
        tied=counts.tied[lines],
        question_language=counts.question_language[kept],
        cluster=counts.cluster[kept],
    )


def test_intervals_cluster_by_paragraph_and_by_article_beside():
    counts = counts_of(similarities(), article=CLUSTER // 2)
    found = views_of(counts)
    assert "clusters" in found["ci"]["macro"]["method"]
    values = AP.per_query(counts.whole_pool())
    result = question_languages(counts, AP, values)
    alone = question_languages(replace(counts, cluster=counts.article, article=None), AP, values)
    assert result.by_article.interval() == alone.overall.interval() != result.overall.interval()
    assert found["ci_by_article"] == {
        "value": plain(record_of([], [result.view()]))["ci_by_article"]["value"]
    }
    assert alone.by_article is None and "ci_by_article" not in alone.view().values


def test_views_that_were_not_asked_for_are_absent():
    s = relevant_ranks(counts_of(similarities()))
    (view,) = agnostic_views(s, ["loss"])
    assert plain(record_of(LANGUAGES, [view])).keys() == {"task", "languages", "loss", "ci"}


def test_many_lines_agree_with_the_measure_to_the_last_digits():
    counts = pools.synthetic_counts(questions=60, tie=0.002)
    s = relevant_ranks(counts)
    everything = views_of(counts, [counts.languages])
    values = AP.per_query(counts.whole_pool())
    assert everything["subsets"][",".join(counts.languages)] == pytest.approx(values.mean(), abs=1e-13)
    assert 0 < s.n_tied() < counts.n_questions
    assert len(everything["one_target"]) == 121
