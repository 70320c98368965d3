from dataclasses import replace

import pytest
from msgspec import structs

from xlingual.report import leaderboard, verdict, words
from xlingual.report.findings import hubs
from xlingual.report.findings import multilingual_pool as findings
from xlingual.report.pool_views import PREFER_OWN, views_of
from xlingual.results import Interval
from xlingual.results.document import plain

TASK = "multilingual-pool"


def test_the_verdict_says_who_leads_and_whether_that_is_real(pool):
    use, meaning, first = verdict(pool.results())[:3]
    assert use.startswith(
        "Use balanced_mix to find answers in a pool of all languages: it is clearly the best"
    )
    assert meaning.startswith("mAP is 1 if all right answers")
    assert first.startswith("balanced_mix leads: mAP 0.4")
    assert "over 8,330 questions in 7 languages" in first and "real on this data" in first


@pytest.mark.parametrize(
    ("gap", "delta", "said"),
    [
        ((0.02, 0.08), (0.01, 0.05), "balanced_mix prefers the question's own language: "),
        ((-0.02, 0.08), (-0.01, 0.05), "is not shown to be biased towards the question's own language"),
        ((-0.08, -0.02), (-0.05, -0.01), "balanced_mix prefers other languages to the question's own: "),
        ((0.02, 0.08), (-0.01, 0.05), "depends on how it is measured"),
        ((0.0, 0.08), (0.0, 0.05), "is not shown to be biased towards the question's own language"),
        (None, None, "is not known without an interval"),
    ],
)
def test_bias_is_called_by_its_intervals(pool, gap, delta, said):
    def ends(pair):
        return None if pair is None else {"low": pair[0], "high": pair[1], "level": 0.95, "method": "t"}

    results = pool.results()
    views = plain(results.entries[0].views)
    views["ci"] = views["ci"] | {
        "one_target_summary": {"gap": ends(gap)}, "remove_one": {"relative_delta": ends(delta)},
    }  # fmt: skip
    found = pool.views_of(pool.changed(results, "balanced_mix", ci=views["ci"]))
    assert said in findings.bias(found[0], found)[0]


def test_bias_of_the_others_is_told_for_few_and_summed_up_for_many(pool):
    found = pool.views_of(pool.results())
    assert findings.bias(found[0], found)[1] == (
        "The same Δ for the others: english-only-dual-encoder_v2 11.7 % [11.3, 12.1]; "
        "chargram 9.9 % [9.5, 10.3]."
    )
    many = findings.bias(found[0], [found[0], *found[1:] * 2])[1]
    assert many.startswith("Of the others, english-only-dual-encoder_v2 prefers its own language most")


def test_without_a_view_of_bias_nothing_is_said_of_it(pool):
    found = pool.views_of(pool.without(pool.results(), "one_target_summary", "remove_one"))
    assert findings.bias(found[0], found) == []


def test_strong_alignment_below_chance_is_said_where_its_interval_says_so(pool):
    found = pool.views_of(pool.results())
    (said,) = findings.misaligned(found)
    assert said.endswith(
        "strong alignment is below 0.5 for english-only-dual-encoder_v2 0.360 [0.348, 0.372] and chargram "
        "0.400 [0.388, 0.412]."
    )
    assert findings.misaligned(found[:1]) == []
    views = plain(pool.results().entries[0].views)
    ci = views["ci"] | {"alignment": {"strong": pool.ci(0.495)}}
    close = pool.changed(pool.results(), "balanced_mix", alignment={"strong": 0.495}, ci=ci)
    assert findings.misaligned(pool.views_of(close)[:1]) == []


def test_a_strict_measure_is_not_held_against_the_mark_of_map(pool):
    def of(measure):
        results = pool.results(encoders=("chargram",))
        rows = [structs.replace(row, measure=measure, value=0.02, ci=Interval(0.01, 0.03, 0.95, "t"))
                for row in results.summary if row.measure == "AP"]  # fmt: skip
        return " ".join(verdict(replace(results, summary=rows)))

    assert "good enough" in of("AP")
    assert "good enough" not in of("StrongAlignment/strict")


def test_the_order_of_encoders_in_monolingual_pools(pool):
    found = pool.views_of(pool.results())
    assert findings.monolingual_ranks(found) == {0: (2, 1), 1: (1, 2), 2: (3, 3)}
    (said,) = findings.order(found)
    assert "there english-only-dual-encoder_v2 is first" in said and "it is second of 3" in said
    assert findings.order(found[1:]) == [
        "With candidates of the question's language only, the order of the encoders is the same."
    ]
    assert findings.order(found[:1]) == []
    wide = pool.results()
    ci = plain(wide.entries[0].views)["ci"] | {"monolingual_pool_average": pool.ci(0.8, 0.2)}
    (doubted,) = findings.order(pool.views_of(pool.changed(wide, "balanced_mix", ci=ci)))
    assert "a difference that may be noise" in doubted


def test_runs_that_are_ranked_apart_are_so_in_monolingual_pools(pool):
    other = pool.results(encoders=("chargram", "balanced_mix"))
    entries = [
        structs.replace(entry, signature=entry.signature.replace("abc123", "def456"))
        for entry in other.entries
    ]
    runs = [pool.results(), replace(other, entries=entries)]
    rows = leaderboard(runs, TASK, "AP")
    assert [row.rank for row in rows] == [1, 2, 3, 1, 2]
    ranks = findings.monolingual_ranks(views_of(runs, rows))
    assert ranks == {0: (2, 1), 1: (1, 2), 2: (3, 3), 3: (1, 1), 4: (2, 2)}


def test_hardest_questions_and_pairs_are_named(pool):
    results = pool.changed(
        pool.results(),
        "balanced_mix",
        by_question_language={"ar": 0.2, "de": 0.5, "zh": None},
        one_target={"ar->de": 0.1, "de->ar": 0.3},
        ci={"by_question_language": {"ar": pool.ci(0.2, 0.01)}},
    )
    assert findings.hardest(pool.views_of(results)[0]) == [
        "The hardest questions for balanced_mix are those in Arabic (ar) with 0.200 [0.190, 0.210]; "
        "the easiest those in German (de) with 0.500.",
        "With a single answer in the pool, the hardest case is a question in Arabic (ar) with its answer in "
        "German (de): 0.100.",
    ]


def test_languages_found_too_often_are_held_against_the_other_foreign_ones():
    # the own language takes most: no foreign one has its share of the pool, and en has more than the others
    ratios = {
        ("ar", "ar"): 2.0, ("ar", "en"): 0.6, ("ar", "zh"): 0.2,
        ("zh", "zh"): 2.0, ("zh", "en"): 0.6, ("zh", "ar"): 0.4,
        ("en", "en"): 2.0, ("en", "ar"): None, ("en", "zh"): 0.3,
    }  # fmt: skip
    found = findings.among_foreign(ratios)
    assert found == pytest.approx({"en": (1.5 + 1.2) / 2, "ar": 0.8, "zh": 0.5})
    assert list(found) == ["en", "ar", "zh"]


def test_the_alarm_is_about_the_best_encoder_that_has_one_and_names_the_others(pool):
    results = pool.results()
    rows = leaderboard([results], TASK, "AP")
    assert hubs.alarm([results], rows) == [
        "Hub alarm: english-only-dual-encoder_v2 has one candidate among the first 10 for 560 queries (10.1 "
        "expected); the 83 most frequent make 36 % of its errors (3 % by chance). Also chargram."
    ]
    assert hubs.alarm([results], rows)[0] in verdict([results])
    quiet = pool.each_with(results, hubs={"k": 10, "skewness": 9.0, "alarm": False})
    assert hubs.alarm([quiet], rows) == []
    older = pool.each_with(results, hubs={"k": 10, "skewness": 9.0, "largest": 900.0, "expected": 10.0})
    assert hubs.alarm([older], rows) == []  # written before there was an alarm


def test_where_none_is_above_chance_nothing_is_said_of_bias(pool):
    results = pool.results()
    level = [
        structs.replace(row, value=0.001, ci=Interval(0.0, 0.003, 0.95, "t"), chance=0.0012)
        for row in results.summary
    ]
    said = verdict(replace(results, summary=level))
    assert said[0].startswith("Do not use any of these 3 encoders")
    assert said[2].startswith("No encoder is distinguishable from chance (0.0012)")
    assert not any("own language" in sentence for sentence in said)


def test_own_language_only_is_said_in_the_verdict(pool):
    results = pool.results(policies=(PREFER_OWN,))
    said = verdict(results)
    assert "mAP (own-language answers only) 0.4" in said[2]
    assert said[-1] == (
        "If only answers in the question's language count, the first candidate of balanced_mix is such an "
        "answer for 50.0 % of the questions, a right answer in another language for 30.0 %, and a wrong "
        "candidate in the question's language for 15.0 %."
    )


def test_the_verdict_shows_small_numbers_with_two_digits(pool):
    ci = Interval(0.0012, 0.0034, 0.95, "t")
    views = {"ar->ar": 0.0023, "ar->de": 0.4}
    results = pool.each_with(pool.results(), one_target=views, ci={"one_target": {"ar->ar": ci}})
    assert any("0.0023 [0.0012, 0.0034]." in sentence for sentence in verdict(results))


def test_languages_are_named_in_sentences(pool):
    said = " ".join(verdict(pool.results()))
    assert "(hi)" in said and " in hi " not in said and " hi " not in said
    assert words.pair("l1", "pool") == "queries in 'l1'"
