from dataclasses import replace

import pytest
from msgspec import structs

from xlingual.report import leaderboard, verdict
from xlingual.report.findings import hubs
from xlingual.report.findings import multilingual_pool as findings
from xlingual.report.pool_views import views_of
from xlingual.results import Interval
from xlingual.results.document import plain

TASK = "multilingual-pool"


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
    (_said,) = findings.order(found)
    assert findings.order(found[1:]) == [
        "With candidates of the question's language only, the order of the encoders is the same."
    ]
    assert findings.order(found[:1]) == []
    wide = pool.results()
    ci = plain(wide.entries[0].views)["ci"] | {"monolingual_pool_average": pool.ci(0.8, 0.2)}
    (_doubted,) = findings.order(pool.views_of(pool.changed(wide, "balanced_mix", ci=ci)))


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
