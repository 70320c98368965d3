"""The page of an image pivot: every outcome in words, and many languages stay readable."""

from itertools import combinations, permutations

import pytest

from xlingual.report.blocks import Fold, Matrix, walk
from xlingual.report.pages.pivot import page
from xlingual.report.table import Table
from xlingual.results import Interval
from xlingual.results.pivot import (
    BETTER,
    Pivot,
    PivotChange,
    PivotKept,
    PivotPairs,
    PivotTried,
)

CI = Interval(-0.01, 0.03, 0.95, "bootstrap")
FEW, MANY = ("de", "en"), ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "ru", "zh")


def pivot(languages=FEW, outcome=BETTER, ci=CI):
    def change(place, source=None, target=None, measure="R@10"):
        value = 0.01 * place
        return PivotChange(
            "crosslingual-retrieval", measure, source, target, 0.2, 0.2 + value, value, ci, 100
        )

    pairs = list(permutations(languages, 2))
    return Pivot(
        encoder="ours", spec="st:ours", image_encoder="pixels", dim=8,
        languages=dict.fromkeys(languages, 50), items=50, to=languages[0], pairs_from="near",
        pairs=[PivotPairs(a, b, place, 0) for place, (a, b) in enumerate(combinations(languages, 2))],
        chosen="cca?penalty=0.8", given=False, alpha=0.05, outcome=outcome,
        tried=[PivotTried("cca?penalty=0.8", 0.3, 0.1, 40), PivotTried("none", 0.0, 0.0, 40)],
        changes=[
            *(change(1, measure=measure) for measure in ("R@10", "RR")),
            *(change(place, a, b) for place, (a, b) in enumerate(pairs)),
        ],
        kept=[PivotKept(tag, 0.5 + 0.01 * place, 30) for place, tag in enumerate(languages)],
        tested_items=40,
    )  # fmt: skip


def blocks(found, medium):
    return [block for section in page(found).sections for block in walk(section.blocks, medium)]


def test_few_pairs_stand_in_one_table_in_every_medium():
    for medium in ("page", "terminal", "text"):
        tables = [one for one in blocks(pivot(), medium) if isinstance(one, Table)]
        (by_pair,) = [one for one in tables if one.title == "XLR R@10, by language pair"]
        assert len(by_pair.rows) == 2
        assert not [one for one in blocks(pivot(), medium) if isinstance(one, Matrix)]


def test_many_pairs_are_a_map_and_a_fold_on_the_page_and_the_ends_in_a_terminal():
    found = pivot(MANY)
    on_page = blocks(found, "page")
    {one.title: one.blocks[0] for one in on_page if isinstance(one, Fold)}
    tables = [one for one in blocks(found, "terminal") if isinstance(one, Table)]
    assert max(len(one.rows) for one in tables) == 8
    (by_pair,) = [one for one in tables if one.title == "XLR R@10, by language pair"]
    shown = [row.cells[3].value for row in by_pair.rows]
    assert shown == pytest.approx([0, 0.01, 0.02, 0.03, 0.86, 0.87, 0.88, 0.89])
    assert "of 90" in by_pair.notes[0]
