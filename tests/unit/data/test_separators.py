import pytest

from xlingual.data.reading.separators import Separator, find_separator
from xlingual.errors import InputError


def found(tmp_path, text, usual=",", given=None):
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    return find_separator(tmp_path / "m.csv", "utf-8", usual, given)


def test_what_the_name_says_is_taken_where_it_fits(tmp_path):
    assert found(tmp_path, "id,text;lang\n1,a;b\n") == Separator(",")
    assert found(tmp_path, "") == Separator(",")
    assert found(tmp_path, "one\ntwo\n") == Separator(",")


def test_rows_of_another_width_alone_change_nothing(tmp_path):
    assert found(tmp_path, "lang,text\nen,a,b\nen,c\n") == Separator(",")


@pytest.mark.parametrize(("mark", "shown"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_another_separator_is_found(tmp_path, mark, shown):
    lines = [f"{i};rot, groß;12,50".replace(";", mark) for i in range(20)]
    guess = found(tmp_path, "\n".join([mark.join(("id", "text_de", "price")), *lines]))
    assert (guess.mark, guess.shown) == (mark, shown) and guess.confidence > 0.95


def test_texts_that_hold_the_separator_unquoted_lower_the_confidence(tmp_path):
    lines = [f"{i};a{'&amp;' if i % 2 else ''}b;1" for i in range(20)]
    guess = found(tmp_path, "\n".join(["id;text_de;n", *lines]))
    assert guess.mark == ";" and 0.4 < guess.confidence < 0.6
    assert found(tmp_path, "id;text\n") == Separator(",")  # nothing to judge by


def test_separators_that_are_given(tmp_path):
    assert found(tmp_path, "", given="tab") == found(tmp_path, "", given="\t") == Separator("\t")
    assert found(tmp_path, "", given="semicolon") == Separator(";")
    for given in ("", "ab", "x", '"', "\n", " "):
        with pytest.raises(InputError, match="say one character such as ';'"):
            found(tmp_path, "", given=given)
