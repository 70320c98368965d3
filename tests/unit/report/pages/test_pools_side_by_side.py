"""Several pools side by side: names, order, best values, and what is tested."""

from dataclasses import replace

import pytest
from msgspec import structs

from xlingual.report import as_html, page_of, verdict
from xlingual.report.pages import pools_side_by_side as page
from xlingual.report.pool_columns import columns
from xlingual.results import Behind, Interval
from xlingual.tasks import TASKS

TASK = TASKS["multilingual-pool"]


def run_of(pool, data, name=None, **more):
    """Return made-up results over a pool with this hash of its data."""
    results = pool.results(**more)
    entries = [
        structs.replace(entry, signature=entry.signature.replace("abc123", data)) for entry in results.entries
    ]
    return replace(results, entries=entries, run={} if name is None else {"name": name})


def with_value(results, encoder, value, behind=None):
    """Return results in which the mAP of an encoder, and its distance to the best, are others."""

    def changed(row):
        if (row.encoder, row.measure, row.source) != (encoder, "AP", None):
            return row
        return structs.replace(row, value=value, behind=behind)

    return replace(results, summary=[changed(row) for row in results.summary])


def test_pools_are_columns_and_encoders_rows(pool):
    runs = [run_of(pool, "abc123", "one"), run_of(pool, "def456", "two", encoders=("chargram",), seed=2)]
    assert [(one.name, list(one.rows)) for one in columns(runs, "AP")] == [
        ("one", ["balanced_mix", "english-only-dual-encoder_v2", "chargram"]), ("two", ["chargram"]),
    ]  # fmt: skip
    table, gaps, *folds = page.side_by_side(runs, TASK)
    assert [column.head for column in table.columns] == ["encoder", "one", "two"]
    shown = [[cell.plain for cell in row.cells] for row in table.rows]
    assert shown[0][0] == "balanced_mix" and shown[0][2] == "–"
    assert shown[1][1].partition(" ")[0].endswith("*") and "*" not in shown[2][2]
    assert shown[-1] == ["chance", "0.0012", "0.0012"]
    assert table.rows[0].cells[1].tone == "best" and table.rows[2].cells[2].tone == ""  # alone on its pool
    assert gaps.rows[0].cells[1].plain == "best" and gaps.rows[0].cells[2].plain == "–"
    assert "one: 8,330 questions, 8,260 candidates in ar, de" in table.notes[0]
    assert [fold.title for fold in folds] == [
        "mAP@20/min, pools side by side", "R@10, pools side by side",
    ]  # fmt: skip


def test_an_encoder_of_several_pools_counts_once(pool):
    runs = [run_of(pool, "abc123", "one"), run_of(pool, "def456", "two", encoders=("chargram",), seed=2)]
    facts = page_of(runs).facts
    assert ("encoders", "3") in facts and ("pools", "2") in facts
    alone = page_of(runs[0]).facts
    assert ("encoders", "3") in alone and not any(name.startswith("pool") for name, _ in alone)


def test_runs_over_one_pool_are_no_pools_side_by_side(pool):
    runs = [run_of(pool, "abc123", "one"), run_of(pool, "abc123", "two", encoders=("chargram",))]
    assert columns(runs, "AP") == [] == page.side_by_side(runs, TASK)
    assert "evaluated separately" in " ".join(verdict(runs)) and "one and two were" in " ".join(verdict(runs))


def test_runs_over_the_same_pool_share_a_column(pool):
    runs = [
        run_of(pool, "abc123", "one", encoders=("balanced_mix",)),
        run_of(pool, "abc123", "one", encoders=("chargram",)),
        run_of(pool, "def456", "two"),
    ]
    first, second = columns(runs, "AP")
    assert (first.name, list(first.rows)) == ("one", ["balanced_mix", "chargram"])
    assert second.name == "two" and len(second.rows) == 3
    twice = columns([runs[0], runs[0], runs[2]], "AP")[0]
    assert list(twice.rows) == ["balanced_mix", "balanced_mix (run 2)"]


def test_conditions_tell_columns_of_one_pool_apart(pool):
    runs = [
        run_of(pool, data, name, encoders=("chargram",), policies=(policy,))
        for data, name in (("abc123", "one"), ("def456", "two"))
        for policy in ("agnostic", "prefer-own")
    ]
    assert [one.name for one in columns(runs, "AP")] == [
        "one, agnostic", "one, prefer-own", "two, agnostic", "two, prefer-own",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("requests", "names"),
    [
        (({"pool": "data/xquad"}, {"pool": "C:\\data\\mlqa"}), ["xquad", "mlqa"]),
        (({"pool": "a/pool"}, {"pool": "b/pool"}), ["run 1", "run 2"]),
        (({}, {"pool": "b/pool"}), ["run 1", "run 2"]),
    ],
)
def test_pools_without_a_name_have_that_of_their_folder(pool, requests, names):
    runs = [
        replace(run_of(pool, data), request=request)
        for data, request in zip(("abc123", "def456"), requests, strict=True)
    ]
    assert [one.name for one in columns(runs, "AP")] == names
    heads = [found.name for found in page_of(runs).verdict]
    assert heads == ["2 pools", *(name.replace("run", "Run") for name in names)]
    unit, other = ("run", "pool") if names[0] == "run 1" else ("pool", "run")
    html = as_html(runs)
    for words in ("leads its {}", "each {} is ranked on its own"):
        assert words.format(unit) in html and words.format(other) not in html


def test_the_verdict_says_whether_pools_agree(pool):
    one, two = run_of(pool, "abc123", "one"), run_of(pool, "def456", "two")
    same = page.findings(columns([one, two], "AP"), "mAP")
    assert same[0] == "balanced_mix has the best mAP on one and two."
    assert same[1] == "The order of the 3 encoders is the same on both pools."
    three = page.findings(columns([one, two, run_of(pool, "0a0a0a", "three")], "AP"), "mAP")
    assert three[:2] == [
        "balanced_mix has the best mAP on one, two and three.",
        "The order of the 3 encoders is the same on all 3 pools.",
    ]
    turned = with_value(two, "balanced_mix", 0.01, Behind("chargram", 0.02, Interval(-0.01, 0.05, 0.95, "t")))
    leader = "english-only-dual-encoder_v2"
    value = next(row.value for row in two.summary if row.encoder == leader and row.source is None)
    turned = with_value(turned, leader, value)
    other = page.findings(columns([one, turned], "AP"), "mAP")
    assert other[0] == (
        f"The best mAP is not that of one encoder: balanced_mix on one and {leader} on two (level with "
        "balanced_mix on two)."
    )
    assert other[1].startswith("The order of the encoders differs between the pools: on one balanced_mix, ")
    assert other[1].endswith(f"; on two {leader}, chargram, balanced_mix.")
    alone = [run_of(pool, data, data, encoders=("chargram",)) for data in ("abc123", "def456")]
    (values,) = page.findings(columns(alone, "AP"), "mAP")[:-1]
    assert values.startswith("mAP: chargram 0.") and values.endswith("] on def456.")


def test_no_encoder_is_best_where_none_is_above_chance(pool):
    """The first of a pool may be so by luck: nothing is bold there, and the verdict says why."""
    wide = Interval(0.0, 0.9, 0.95, "made up")
    runs = [run_of(pool, "abc123", "one"), run_of(pool, "def456", "two")]
    lucky = [structs.replace(row, ci=wide, ci_simultaneous=None) for row in runs[1].summary]
    runs[1] = replace(runs[1], summary=lucky)
    table = page.side_by_side(runs, TASK)[0]
    assert [[cell.tone for cell in row.cells] for row in table.rows[:1]] == [["", "best", ""]]
    said = " ".join(verdict(runs))
    assert "balanced_mix has the best mAP on one" in said and "No encoder is above chance on two." in said
