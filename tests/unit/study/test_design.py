"""A study made of lists: what is shown, who is credited, which ids say nothing, and what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from xlingual.errors import DataWarning, InputError
from xlingual.study.design import ORDERS, StudyQuery
from xlingual.study.folder import checked_study
from xlingual.study.records import Study

designs = SimpleNamespace(**run_path(str(Path(__file__).with_name("designs.py"))))
design = designs.design
listed = designs.listed
random_lists = designs.random_lists
text = designs.text


def texts_of(study: Study) -> dict[str, str]:
    return {one.id: one.text for query in study.queries for one in query.suggestions}


def one_query(**lists: Any) -> list[StudyQuery]:
    return [StudyQuery(text("q", "en"), lists)]


def test_a_suggestion_of_two_systems_is_shown_once_and_credited_to_both() -> None:
    made = design(one_query(a=listed("x", "y", "z"), b=listed("u", "x", "v")), per_system=3)
    shown = texts_of(made.study)
    assert Counter(shown.values()) == Counter(f"text {key}" for key in "xyzuv")
    of = {
        shown[name]: [(c.system, c.rank, round(c.cosine, 6)) for c in made.key.credits[name]]
        for name in shown
    }
    assert of["text x"] == [("a", 1, 0.9), ("b", 2, 0.8)]
    assert of["text z"] == [("a", 3, 0.7)]
    assert of["text u"] == [("b", 1, 0.9)]


def test_a_text_suggested_for_two_queries_has_two_ids() -> None:
    asked = [
        StudyQuery(text(f"q{i}", "en"), {"a": listed("x", "y"), "b": listed("x", f"z{i}")}) for i in range(2)
    ]
    made = design(asked, per_system=2)
    ids = [name for name, shown in texts_of(made.study).items() if shown == "text x"]
    assert len(set(ids)) == 2
    assert all({credit.system for credit in made.key.credits[name]} == {"a", "b"} for name in ids)


def test_the_same_input_and_seed_give_the_same_study() -> None:
    asked = random_lists()
    made = design(asked, repeats=0.2, controls=0.3)
    assert made == design(asked, repeats=0.2, controls=0.3)
    assert made.study.orders != design(asked, repeats=0.2, controls=0.3, seed=1).study.orders


def test_other_texts_have_other_ids() -> None:
    first, second = design(random_lists(seed=0)), design(random_lists(seed=1))
    assert first.study.id != second.study.id
    assert not set(texts_of(first.study)) & set(texts_of(second.study))


def test_every_rater_has_every_query_and_suggestion_once() -> None:
    study = design(random_lists()).study
    assert len(study.orders) == ORDERS
    for order in study.orders:
        assert sorted(page.query for page in order) == sorted(query.shown.id for query in study.queries)
    assert len(set(study.orders)) == ORDERS
    assert checked_study(study) is study


def test_more_raters_than_usual_have_orders_of_their_own() -> None:
    assert len(design(random_lists(2), raters=ORDERS + 1).study.orders) == ORDERS + 1


def test_repeats_are_at_the_end_in_another_order_and_never_next_to_the_first_time() -> None:
    for order in design(random_lists(8), repeats=0.5).study.orders:
        first, again = order[:8], order[8:]
        assert [page.occasion for page in order] == [0] * 8 + [1] * 4
        before = {page.query: page.suggestions for page in first}
        assert len({page.query for page in again}) == 4
        assert all(page.suggestions != before[page.query] for page in again)
        assert first[-1].query != again[0].query


def test_a_share_that_would_repeat_all_leaves_one_out() -> None:
    assert all(len(order) == 5 for order in design(random_lists(3), repeats=1.0).study.orders)


def test_controls_are_in_a_share_of_the_queries_and_no_systems() -> None:
    made = design(random_lists(10), controls=0.3)
    shown = texts_of(made.study)
    assert Counter(made.key.controls.values()) == {1: 3, 4: 3}
    assert all(shown[name].startswith("text own") for name, score in made.key.controls.items() if score == 1)
    assert all(shown[name] == "text wrong" for name, score in made.key.controls.items() if score == 4)
    assert not set(made.key.controls) & set(made.key.credits)
    assert set(made.key.controls) | set(made.key.credits) == set(shown)


def test_what_a_system_suggests_is_no_control() -> None:
    asked = [
        replace(row, right=row.lists["a"][0].candidate, wrong=row.lists["b"][0].candidate)
        for row in random_lists(4)
    ]
    with pytest.warns(DataWarning, match="no control could be added"):
        assert design(asked, controls=1.0).key.controls == {}


def test_images_have_names_of_their_own_and_are_written_once() -> None:
    asked = [
        StudyQuery(
            text("q", "en", "p1"), {"a": [*listed("x"), *listed("y")], "b": [*listed("x"), *listed("z")]}
        )
    ]
    made = design(asked, per_system=2)
    assert sorted(made.images.values()) == ["p1", "px", "py", "pz"]
    images = [one.image for query in made.study.queries for one in (query.shown, *query.suggestions)]
    assert sorted(made.images) == sorted(images) and all(name.endswith(".webp") for name in made.images)


def test_one_system_is_reported() -> None:
    with pytest.warns(DataWarning, match="one system only"):
        assert design(random_lists(systems="a"), "a").key.systems == {"a": "signature of a"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repeats": 1.5}, "--repeats is a share of the queries, 0 to 1: got 1.5"),
        ({"controls": -0.1}, "--controls is a share"),
        ({"controls": float("nan")}, "--controls is a share"),
        ({"raters": 0}, "--raters must be at least 1, got 0"),
        ({"per_system": 0}, "--per-system must be at least 1"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        design(random_lists(3), **options)
