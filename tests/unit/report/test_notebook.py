"""What a notebook shows of records."""

import pytest

from xlingual.errors import InputError
from xlingual.report import verdict
from xlingual.report.pages import page_of
from xlingual.results.comparison import Board, Compared, Comparison
from xlingual.results.document import Document


class Unpaged(Document, frozen=True, tag="xlingual/unpaged/1"):
    """What only a program reads."""


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
