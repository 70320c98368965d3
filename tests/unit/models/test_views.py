"""Title and body of a text: two columns, or two parts of it."""

import pytest

from xlingual.models.texts import two_views
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
    assert not views.title.fields and not views.title.context and views.title.ids == given.ids


def test_the_text_itself_may_be_one_of_them():
    views = two_views(batch("whole", title=["a"]), "title", "text", None, "it")
    assert (views.title.text, views.body.text) == (["a"], ["whole"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a b c", ("a b", "c")), ("一二三", ("一二", "三")), ("a b", ("a", "b")), ("x", ("x", "x"))],
)
def test_halves(text, parts):
    assert split_in("halves", text) == parts
