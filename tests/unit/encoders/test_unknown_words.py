import pytest

from xlingual.encoders.segment import UnknownWords


@pytest.mark.parametrize(
    ("unknown", "words", "said"),
    [
        (7, 7, "100 %"),
        (1, 3, "33 %"),
        (999, 1000, "more than 99 %"),
        (1, 40, "2.5 %"),
        (1, 5000, "less than 0.1 %"),
    ],
)
def test_shares_are_easy_to_read(unknown, words, said):
    counts = UnknownWords()
    counts.add("de", unknown, words)
    assert counts.notes("words") == [f"words: de {said}"]


def test_pieces_are_summed_and_reported_once():
    counts = UnknownWords()
    for tag, unknown, words in (("de", 1, 2), ("en", 0, 5), ("de", 0, 2)):
        counts.add(tag, unknown, words)
    assert counts.notes("words") == ["words: de 25 %"]
    assert counts.notes("words") == []
