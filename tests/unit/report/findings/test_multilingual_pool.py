from dataclasses import replace

import pytest
from msgspec import structs

from xlingual.report import verdict
from xlingual.report.findings import multilingual_pool as findings
from xlingual.results import Interval
from xlingual.results.document import plain


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
