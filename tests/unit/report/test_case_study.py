"""The page and the terminal of a case study: what they say, and that nothing is cut or let through."""

from __future__ import annotations

import re
from io import StringIO
from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from xlingual.errors import InputError
from xlingual.report import as_html, page_of, write_report
from xlingual.report.figures.over_pairs import NARROW, ROOMY, drawing
from xlingual.report.findings.case_study import pairs_below
from xlingual.report.pages.case_study import figure_3
from xlingual.report.render import terminal
from xlingual.report.table import Table
from xlingual.results import Interval
from xlingual.results.case_study import (
    ALL_PAIRS,
    TRIPLET,
    TRIPLET_XL,
    WORST_PAIRS,
    CaseStudy,
    Difference,
    Model,
    PairScore,
    Training,
    Worst,
    WorstPair,
)
from xlingual.results.comparison import BETTER, NO_DIFFERENCE

PAIRS = list(permutations(("ar", "en", "ru"), 2))
HOSTILE = "<b>base</b> & 'co'"


def ci(value: float, half: float) -> Interval:
    return Interval(value - half, value + half, 0.95, "t, 2-way clusters")


def model(name: str, role: str, value: float, step: float = 0.002, encoders: int = 1) -> Model:
    pairs = [PairScore(*pair, value + step * i, ci(value, 0.01)) for i, pair in enumerate(PAIRS, -2)]
    each = [value + 0.001 * i for i in range(encoders)]
    sd = 0.001 if encoders > 1 else None
    names = [f"{name}-{i}" for i in range(encoders)]
    return Model(name, role, names, value, ci(value, 0.005), each, sd, 0.0037, pairs)


def asked(where: str, value: float, outcome: str, half: float = 0.002, **changes: Any) -> Difference:
    one, other = (TRIPLET_XL, TRIPLET) if changes.pop("xl", True) else (TRIPLET, "labse")
    fields = {"p": 0.01, "p_adjusted": 0.03, "per_training": [value - 0.001, value + 0.001]} | changes
    return Difference(one, other, where, value, ci(value, half), outcome=outcome, **fields)


def study(**changes: Any) -> CaseStudy:
    fields: dict[str, Any] = {
        "measure": "R@10",
        "image_encoder": "pixels",
        "base": "labse",
        "base_given": True,
        "chance": 0.001,
        "oracle": 0.7,
        "n_queries": 6000,
        "n_pairs": 6,
        "n_seeds": 1,
        "n_trainings": 2,
        "seed": 0,
        "models": [
            model("random", "other", 0.0011, 0.0001),
            model("labse", "base", 0.0052, 0.0002),
            model(TRIPLET, TRIPLET, 0.0093, 0.001, 2),
            model(TRIPLET_XL, TRIPLET_XL, 0.0094, 0.0005, 2),
        ],
        "differences": [
            asked(ALL_PAIRS, 0.0041, BETTER, xl=False),
            asked(ALL_PAIRS, 0.0001, NO_DIFFERENCE, p_adjusted=0.8),
            asked(WORST_PAIRS, 0.003, BETTER),
        ],
        "worst": Worst(
            2,
            [WorstPair("ar", "en", 1.0), WorstPair("ar", "ru", 0.75)],
            [WorstPair("en", "ar", 0.25)],
            True,
            0.005,
            0.002,
        ),
        "trainings": [Training("triplet-0", "model:a::st:b", 0, 40, 38, 512.0, 61.0)],
        "conditions": {"data": "abc", "measure": "R@10"},
    }
    return CaseStudy(**(fields | changes))


def named(base: str) -> CaseStudy:
    """Return the study with another name of the base."""
    models, differences = study().models, study().differences
    return study(
        base=base,
        models=[models[0], replace(models[1], name=base), *models[2:]],
        differences=[replace(differences[0], other=base), *differences[1:]],
    )


def shown(found: CaseStudy, width: int) -> str:
    out = StringIO()
    terminal.show(Console(file=out, width=width), page_of(found))
    return out.getvalue()


def test_pairs_below_another_model_come_with_the_largest_loss_first() -> None:
    one, other = model("a", "other", 0.01, 0.0), model("b", "other", 0.01, 0.002)
    assert pairs_below(one, other) == ["ru → en", "ru → ar", "en → ru"]
    assert pairs_below(other, other) == []


def test_the_figure_joins_the_worst_pairs_from_the_base_on() -> None:
    for layout in (ROOMY, NARROW):
        found = drawing(figure_3(study()), layout)
        rows = [one for one in found.shapes if one.name == "g" and one.style.startswith("box")]
        assert [row.attributes["aria-label"].split(" from ")[0] for row in rows] == [  # type: ignore[union-attr]
            "random", "labse", "Triplet", "TripletXL",
        ]  # fmt: skip
        assert [row.style for row in rows] == ["box", "box", "box first", "box first"]
        names = [one for one in found.shapes if "pair-name" in one.style]
        assert [one.text for one in names] == ["ar → en", "ar → ru"]
        for kind in ("w0", "w1"):
            marks = [one for one in found.shapes if one.style == f"mark {kind}"]
            (line,) = (one for one in found.shapes if one.style == f"series {kind}")
            assert len(marks) == 4 and len(str(line.attributes["points"]).split()) == 4  # three, and the name
            assert "ar → " in marks[0].title and marks[0].title.startswith(names[int(kind[1])].text)
        circles = [one.inside[0].attributes for one in found.shapes if one.style == "mark w0"]
        assert [at["cy"] for at in circles] == [row.inside[0].attributes["y1"] for row in rows]
        whisker, box, _, *dots = rows[2].inside
        places = [dot.attributes["cx"] for row in rows for dot in row.inside if dot.name == "circle"]
        assert len(dots) == len(PAIRS) and len(places) == 4 * len(PAIRS)
        assert all(0 <= place <= layout.width for place in [*places, *(one.attributes["x"] for one in names)])  # type: ignore[operator]
        left, width = box.attributes["x"], box.attributes["width"]
        assert whisker.attributes["x1"] <= left <= left + width <= whisker.attributes["x2"]  # type: ignore[operator]


def test_the_table_has_chance_first_and_marks_the_best() -> None:
    table = page_of(study()).sections[0].blocks[0]
    assert isinstance(table, Table)
    rows = {row.cells[0].text: row for row in table.rows}
    assert list(rows) == ["chance", "random", "labse", "Triplet", "TripletXL"]
    assert [row.tone for row in table.rows] == ["unled", "behind", "behind", "behind", "leader"]
    assert [badge.text for badge in rows["labse"].cells[0].badges] == ["base"]
    assert rows["chance"].cells[1].text == "1.0" and rows["chance"].cells[2].bar is not None
    assert rows["chance"].cells[2].bar.ends is None and table.columns[-1].head == "SD of trainings"
    assert "chance" not in shown(study(chance=None), 120).split()


def test_the_page_needs_nothing_else_and_escapes_names(tmp_path: Any) -> None:
    hostile = named(HOSTILE)
    page = as_html(hostile)
    assert "<b>base</b>" not in page and "&lt;b&gt;base&lt;/b&gt;" in page
    assert re.search(r"""(src|href)\s*=\s*["']?http""", page) is None and "<script" not in page
    assert page.count('class="plot ') == 2 and "Triplet&#39;s worst pairs" in page
    assert page == as_html(hostile)
    write_report(study(), tmp_path / "sub" / "report.html", title="My title")
    assert "<title>My title</title>" in (tmp_path / "sub" / "report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is a folder"):
        write_report(study(), tmp_path)


def test_a_page_without_trainings_or_with_one_pair() -> None:
    nothing = Worst(0, [], [], False, None, None, "none")
    bare = study(models=study().models[:2], differences=[], worst=nothing, trainings=[], n_trainings=1)
    assert "Nothing was trained" in as_html(bare) and "worst pairs of Triplet are followed" not in as_html(
        bare
    )
    pair = [replace(m, pairs=m.pairs[:1], sd_pairs=None) for m in study().models]
    assert 'class="plot ' not in as_html(study(models=pair, n_pairs=1, worst=nothing))
