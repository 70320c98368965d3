"""Words and their numbers."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.models.vocabulary import PADDING, UNKNOWN, Vocabulary


def test_words_are_ordered_by_frequency_then_code_point():
    counts = Counter({"b": 2, "a": 2, "c": 5, "Z": 2, "once": 1})
    assert Vocabulary.of(counts).words == ("c", "Z", "a", "b", "once")
    assert Vocabulary.of(counts, threshold=2).words == ("c", "Z", "a", "b")
    assert Vocabulary.of(counts, most=2).words == ("c", "Z")
    assert Vocabulary.of(Counter()).words == ()


def test_numbers_begin_behind_padding_and_unknown():
    words = Vocabulary(("c", "a"))
    assert words.numbers(["a", "x", "c", "a"]) == [3, UNKNOWN, 2, 3]
    assert PADDING not in words.numbers(["a", "x"])
    assert len(words) == 4


def test_the_file_has_one_word_a_line(tmp_path):
    path = tmp_path / "vocabulary.en.txt"
    Vocabulary(("ein", "été", "狗")).write(path)
    assert path.read_bytes() == "ein\nété\n狗\n".encode()


words = st.lists(st.text(min_size=1).filter(lambda word: not any(c.isspace() for c in word)), unique=True)


@given(words)
def test_what_is_written_is_read(tmp_path_factory, some):
    path = tmp_path_factory.mktemp("v") / "vocabulary.en.txt"
    Vocabulary(tuple(some)).write(path)
    assert Vocabulary.read(path) == Vocabulary(tuple(some))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a\nb\na\n", "line 3: the word 'a' is there twice"), (b"a\n\nb\n", "line 2: an empty line")],
)
def test_a_damaged_file_is_refused(tmp_path, content, said):
    path = tmp_path / "vocabulary.en.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        Vocabulary.read(path)
