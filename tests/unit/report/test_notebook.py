"""What a notebook shows of records."""

import inspect
from importlib import import_module

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.errors import InputError
from xlingual.notebook import RENDERER
from xlingual.report import verdict, write_report
from xlingual.report.pages import EMPHASISED, PAGES, page_of
from xlingual.results.comparison import Board, Compared, Comparison
from xlingual.results.document import Document


class Unpaged(Document, frozen=True, tag="xlingual/unpaged/1"):
    """What only a program reads."""


def test_the_renderer_that_is_named_is_there():
    module, _, name = RENDERER.partition(":")
    assert list(inspect.signature(getattr(import_module(module), name)).parameters) == ["found"]


def test_every_record_has_a_page():
    for name, module in PAGES.items():
        page = import_module(f"xlingual.report.pages.{module}").page
        first, second, *more = inspect.signature(page).parameters.values()
        assert second.name == "title" and second.kind is inspect.Parameter.KEYWORD_ONLY, first
        assert [one.name for one in more] == ["emphasis"] * (name in EMPHASISED)


def test_results_show_verdict_and_tables_and_run_nothing(made):
    shown = made.synthetic(3, ["en", "<b>"])._repr_html_()
    assert "leads: BkR R@10" in shown and '<table class="board">' in shown and 'class="dot"' in shown
    assert "<script" not in shown and "<b></th>" not in shown and "data:image" not in shown
    assert shown.index("leads") < shown.index("<table") and ":root" not in shown
    assert shown.count("& {") >= 2 and "&amp;" not in shown.partition("</style>")[0]


def test_what_has_no_page_is_shown_as_python_does():
    assert Unpaged()._repr_html_() is None
    with pytest.raises(InputError, match="a Unpaged has no page; these have one: Results, Comparison"):
        page_of(Unpaged())


def test_in_a_shell_a_record_shows_its_first_sentences():
    def found(n_boards):
        rows = [Compared(f"e{i}", 0.5 - i / 10, None, None, *[None] * 3, "cannot tell", 1, 2) for i in (0, 1)]
        board = ["backretrieval", "R@10", None, None, None, None, "e0", 9, 9, 1, 1, 0.1, rows, 0, 0, 0]
        return Comparison(["a"], False, "holm", 0.05, None, 0, {}, [Board(*board)] * n_boards)

    for n_boards, rest in ((1, []), (7, ["… and 2 more"])):
        first, *lines = repr(found(n_boards)).split("\n  ")
        said = verdict(found(n_boards))
        assert (
            first == "Comparison:" and lines == [*said[:5], *rest] and "Board(" not in repr(found(n_boards))
        )
    html = found(2)._repr_html_()
    assert html.count("<h3>BkR R@10</h3>") == html.count("<table") == 2  # a page has it as the section's head
    assert repr(Unpaged()) == "Unpaged()"
    assert repr(Comparison(["a"], False, "holm", 0.05, None, 0, {}, [])).startswith(
        "Comparison(folders=['a']"
    )


def test_a_manifest_shows_how_many_texts_each_language_has():
    rows = [{"id": str(i), "lang": tag, "text": f"{tag} {i}"} for i, tag in enumerate(["en", "en", "de"])]
    shown = Manifest.from_rows(rows)._repr_html_()
    assert "3 items with 3 texts in 2 languages and 0 images." in shown
    assert "<td" in shown and ">2<" in shown


def test_a_pool_shows_how_many_questions_and_candidates_each_language_has():
    questions = Questions(["a", "b"], np.array([0, 0]), ["q", "r"], ["a", "b"], np.arange(2))
    keys = [("a",), ("a",), ("x",)]
    candidates = Candidates(list("abc"), np.array([0, 1, 1]), list("xyz"), [""] * 3, keys, np.arange(3))
    shown = MultilingualPool("some/pool", ("en", "de"), questions, candidates, (), ())._repr_html_()
    assert "2 questions and 3 candidates in 2 languages; 2 pairs of a question and a right answer." in shown
    assert "some" not in shown.partition("</style>")[2]


def test_a_report_of_a_path_or_of_unlike_records_says_what_to_give(made, tmp_path):
    for wrong, message in (
        ("results", r"not the path 'results': read it first, as in Results\.read\('results'\)"),
        (["a", "b"], "shows Results only, and one of these is a str"),
        ([made.synthetic(2, ["en", "de"]), Unpaged()], "one of these is a Unpaged"),
        ({"a": 1}, "a dict has no page"),
    ):
        with pytest.raises(InputError, match=message):
            write_report(wrong, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
