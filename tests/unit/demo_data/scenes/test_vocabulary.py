"""The words of a language: what a table gives, and what is said where a file is not as it must be."""

import pytest

from xlingual.demo_data.scenes import grammar as scene_words
from xlingual.demo_data.scenes.vocabulary import WordTable, capital, in_sound, joined, read_toml, spaced

FILES = [pytest.param(path, id=path.stem) for path in sorted(scene_words.WORDS.glob("*.toml"))]


class Counted:
    """A stream that counts what is drawn from it."""

    drawn = 0

    def random(self):
        self.drawn += 1
        return 0.99


def test_one_of_a_list_is_drawn_and_a_text_is_taken_as_it_is():
    rng = Counted()
    table = WordTable({"forms": "one | many", "ball": ["ball | balls", "sphere | spheres"], "fish": "fish"})
    assert table.draw(rng, "ball") == {"one": "sphere", "many": "spheres"} and rng.drawn == 1
    assert table.word(rng, "fish", "many") == "fish" and rng.drawn == 1
    assert table.word(rng, None, "one") == table.word(rng, "car", "one") == "" and rng.drawn == 1
    assert WordTable({"red": ["rouge"]}).word(rng, "red") == "rouge" and rng.drawn == 2


def test_texts_are_put_together():
    assert [joined("abc"[:n], ", ", " and ") for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert spaced("a", "", "b") == "a b" and capital("élan") == "Élan" and capital("") == ""
    assert in_sound("a red apple, a apple", {r"\ba (?=[aeiou])": "an "}) == "a red apple, an apple"


@pytest.mark.parametrize("path", FILES)
def test_the_files_are_as_they_must_be(path):
    assert read_toml(path, scene_words.SceneWords)
