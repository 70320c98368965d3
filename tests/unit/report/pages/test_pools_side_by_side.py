"""Several pools side by side: names, order, best values, and what is tested."""

from dataclasses import replace

from msgspec import structs

from xlingual.report import page_of, verdict
from xlingual.report.pages import pools_side_by_side as page
from xlingual.report.pages.pools_side_by_side import columns
from xlingual.tasks import TASKS

TASK = TASKS["multilingual-pool"]


def run_of(pool, data, name=None, **more):
    """Return made-up results over a pool with this hash of its data."""
    results = pool.results(**more)
    entries = [
        structs.replace(entry, signature=entry.signature.replace("abc123", data)) for entry in results.entries
    ]
    return replace(results, entries=entries, run={} if name is None else {"name": name})


def test_pools_are_columns_and_encoders_rows(pool):
    runs = [run_of(pool, "abc123", "one"), run_of(pool, "def456", "two", encoders=("chargram",), seed=2)]
    assert [(one.name, list(one.rows)) for one in columns(runs, "AP")] == [
        ("one", ["balanced_mix", "english-only-dual-encoder_v2", "chargram"]), ("two", ["chargram"]),
    ]  # fmt: skip
    table, *folds = page.side_by_side(runs, TASK)
    assert [column.head for column in table.columns] == ["encoder", "one", "two"]
    shown = [[cell.plain for cell in row.cells] for row in table.rows]
    assert shown[0][0] == "balanced_mix" and shown[0][2] == "–"
    assert shown[1][1].partition(" ")[0].endswith("*") and "*" not in shown[2][2]
    assert shown[-1] == ["chance", "0.0012", "0.0012"]
    assert table.rows[0].cells[1].tone == "best" and table.rows[2].cells[2].tone == ""  # alone on its pool
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
