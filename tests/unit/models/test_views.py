"""Title and body of a text: two columns, or two parts of it."""

import pytest

from xlingual.errors import InputError
from xlingual.models.views import two_views
from xlingual.records import Texts


def batch(*texts, **fields):
    tags = ["en"] * len(texts)
    return Texts(texts, tags, [f"r{i}" for i in range(len(texts))], context=texts, fields=fields)


def split_in(how, text):
    views = two_views(batch(text), "title", "body", how, "it")
    return views.title.text[0], views.body.text[0]


def test_two_columns():
    given = batch("ab", "cd", title=["a", " "], body=["b", "d"])
    views = two_views(given, "title", "body", None, "it")
    assert (views.title.text, views.body.text, views.lacking) == (["a", "d"], ["b", "d"], [False, True])
    assert (views.title.of_field, views.body.of_field) == ("title", "body")
    assert not views.title.fields and not views.title.context and views.title.ids == given.ids


def test_the_text_itself_may_be_one_of_them():
    views = two_views(batch("whole", title=["a"]), "title", "text", None, "it")
    assert (views.title.text, views.body.text) == (["a"], ["whole"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two. Three.", ("One.", "Two. Three.")),
        ("A line\nand another", ("A line", "and another")),
        ("これは何。それは。", ("これは何。", "それは。")),
        ("No. 5", ("No.", "5")),
        ("version 2.0 is out", ("version 2.0 is out", "version 2.0 is out")),
        ("  ", ("  ", "  ")),
    ],
)
def test_first_sentence(text, parts):
    found = split_in("first-sentence", text)
    assert [part.strip() for part in found] == [part.strip() for part in parts]


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a b c", ("a b", "c")), ("一二三", ("一二", "三")), ("a b", ("a", "b")), ("x", ("x", "x"))],
)
def test_halves(text, parts):
    assert split_in("halves", text) == parts


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match=r"no column 'title' \(row 'r0', en\).*Did you mean 'titel'"):
        two_views(batch("a", titel=["b"], body=["c"]), "title", "body", None, "it")
    with pytest.raises(InputError, match="its only one is text"):
        two_views(batch("a"), "title", "body", None, "it")
