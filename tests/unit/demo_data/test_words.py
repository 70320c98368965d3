"""The words of a language: what a table gives, and what is said where a file is not as it must be."""

import re
import shutil

import pytest

from xlingual.demo_data.recipes import words as recipe_words
from xlingual.demo_data.scenes import grammar as scene_words
from xlingual.demo_data.words import WordTable, capital, in_sound, joined, read_toml, spaced
from xlingual.errors import InputError

FILES = [
    pytest.param(path, module, contents, id=f"{path.parent.parent.name}-{path.stem}")
    for module, contents in ((scene_words, scene_words.SceneWords), (recipe_words, recipe_words.RecipeWords))
    for path in sorted(module.WORDS.glob("*.toml"))
]


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


@pytest.mark.parametrize(("path", "module", "contents"), FILES)
def test_the_files_are_as_they_must_be(path, module, contents):
    assert read_toml(path, contents)


@pytest.mark.parametrize(
    ("room", "old", "new", "message"),
    [
        (scene_words, 'red = ["rot-"]\n', "", "colours: red is missing"),
        (scene_words, "red = [", "rad = [", "colours: red is missing, rad is unknown"),
        (scene_words, "m | Stern | Sterne", "m | Stern", "'m | Stern' has 2 forms: give gender | one | many"),
        (scene_words, '["rot-"]', "[]", "red is empty"),
        (scene_words, '["rot-"]', "3", "Expected `str | array`, got `int`"),
        (scene_words, "[nouns]", "[noun]", "noun"),
        (scene_words, '"{np}."', '"{nap}."', "{nap}"),
        (scene_words, "[nouns]", "[nouns", "line"),
        (recipe_words, 'salt = "', 'sald = "', "nouns: salt is missing, sald is unknown"),
        (recipe_words, 'g = "{n}', 'g = "{m}', "{m}"),
        (recipe_words, "{hero[of]}", "{hero[off]}", "off"),
    ],
)
def test_an_error_names_the_file_and_what_is_wrong(room, old, new, message, tmp_path):
    language, contents = ("de", room.SceneWords) if room is scene_words else ("es", room.RecipeWords)
    path = shutil.copy(room.WORDS / f"{language}.toml", tmp_path)
    text = (tmp_path / f"{language}.toml").read_text("utf-8")
    assert old in text
    (tmp_path / f"{language}.toml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=re.escape(str(path))) as caught:
        read_toml(tmp_path / f"{language}.toml", contents)
    assert message in str(caught.value) and "\n" not in str(caught.value)
