"""The texts are true of the dish, complete in every language, and as a native speaker would write it."""

import re
from string import Formatter

import pytest

from xlingual.demo_data.draws import stream
from xlingual.demo_data.recipes import LANGUAGES, recipe_rows
from xlingual.demo_data.recipes.content import QUANTITIES, QUICK, Amount, RecipeContent, choose_content
from xlingual.demo_data.recipes.dishes import KINDS, PLANS, Step, shopping, steps
from xlingual.demo_data.recipes.pantry import INGREDIENTS, UNITS
from xlingual.demo_data.recipes.words import GRAMMARS


class Always:
    """A stream that gives the same number for ever: 0.0 takes every first option."""

    def random(self):
        return 0.0


def _content(**changes):
    fields = {
        "kind": "soup", "hero": "carrot", "named": ("bean", "basil"), "style": "simple", "tail": "region",
        "minutes": 20, "servings": 4, "tip": True,
        "amounts": (Amount("carrot", 3, "piece"), Amount("bean", 200, "g"), Amount("garlic", 3, "clove")),
        "steps": (Step("cut", ("carrot", "bean")), Step("simmer"), Step("garnish", ("parsley",))),
    }  # fmt: skip
    return RecipeContent(**(fields | changes))


TITLES = {
    "ar": "طريقة عمل شوربة الجزر البسيطة بالفاصوليا والريحان على الطريقة الحلبية",
    "en": "Simple carrot soup with beans and basil, from Devon",
    "es": "Sopa sencilla de zanahoria con alubias y albahaca al estilo de Murcia",
    "id": "Resep sup wortel sederhana dengan kacang merah dan kemangi khas Bandung",
    "ru": "Простой суп с морковью, фасолью и базиликом по-сибирски",
}
BODIES = {
    "ar": "تكفي 4 أشخاص\nالمكونات:\n- 3 حبات جزر\n- 200 غرام فاصوليا\n- 3 فصوص ثوم\nطريقة التحضير:\n"
    "1. نقطع الجزر والفاصوليا إلى مكعبات.\n2. نطبخ على نار هادئة لمدة 20 دقيقة.\n"
    "3. نضع على الوجه البقدونس.\nبالهناء والشفاء!",
    "en": "Serves 4\nIngredients:\n- 3 carrots\n- 200 g beans\n- 3 cloves garlic\nMethod:\n"
    "1. Cut the carrots and beans into pieces.\n2. Simmer for 20 minutes over a low heat.\n"
    "3. Garnish with the parsley.\nEnjoy your meal!",
    "es": "Para 4 personas\nIngredientes:\n- 3 zanahorias\n- 200 g de alubias\n- 3 dientes de ajo\n"
    "Preparación:\n1. Corta las zanahorias y las alubias en trozos.\n"
    "2. Cocina a fuego lento durante 20 minutos.\n3. Decora con el perejil.\n¡Buen provecho!",
    "id": "Untuk 4 porsi\nBahan:\n- 3 buah wortel\n- 200 gram kacang merah\n- 3 siung bawang putih\n"
    "Cara membuat:\n1. Potong-potong wortel dan kacang merah.\n"
    "2. Masak dengan api kecil selama 20 menit.\n3. Taburi dengan peterseli.\nSelamat mencoba!",
    "ru": "На 4 порции\nИнгредиенты:\n- Морковь — 3 шт.\n- Фасоль — 200 г\n- Чеснок — 3 зубчика\n"
    "Приготовление:\n1. Нарежьте морковь и фасоль кубиками.\n2. Готовьте на слабом огне 20 минут.\n"
    "3. Положите сверху петрушку.\nПриятного аппетита!",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_and_bodies_word_for_word(language):
    assert GRAMMARS[language].title(_content(), Always()) == TITLES[language]
    assert GRAMMARS[language].body(_content(), Always()) == BODIES[language]


def test_grammar_of_titles():
    plain = {"named": (), "tail": None, "style": "homemade"}
    cases = {
        ("ru", "porridge", "spinach"): "Домашняя каша со шпинатом",
        ("ru", "skewers", "lamb"): "Домашний шашлык из баранины",
        ("ru", "pancakes", "cheese"): "Домашние блины с сыром",
        ("es", "cookies", "almond"): "Galletas caseras de almendras",
        ("es", "rice", "chicken"): "Arroz casero con pollo",
        ("ar", "salad", "beef"): "طريقة عمل سلطة لحم البقر المنزلية",
        ("ar", "rice", "cod"): "طريقة عمل أرز منزلي بسمك القد",
        ("id", "skewers", "chicken"): "Resep sate ayam rumahan",
        ("en", "cookies", "cherry"): "Homemade cherry cookies",
    }
    for (language, kind, hero), title in cases.items():
        assert GRAMMARS[language].title(_content(kind=kind, hero=hero, **plain), Always()) == title


def test_numbers_agree():
    assert GRAMMARS["ar"].minutes(10) == "10 دقائق" and GRAMMARS["ar"].minutes(15) == "15 دقيقة"
    assert GRAMMARS["ar"].amount(Amount("egg", 2, "piece")) == "حبتان من البيض"
    assert GRAMMARS["ru"].serves(6) == "На 6 порций" and GRAMMARS["ru"].serves(2) == "На 2 порции"
    assert GRAMMARS["es"].amount(Amount("cumin", 1, "tsp")) == "1 cucharadita de comino"
    assert GRAMMARS["id"].amount(Amount("egg", 3, "piece")) == "3 butir telur"


def test_tables_are_complete_in_every_language():
    fields = {}
    for language in LANGUAGES:  # what must be there is checked when the words are read
        for action, entry in GRAMMARS[language].words.actions.entries.items():
            sentences = [forms["word"] for forms in entry]
            used = {name for sentence in sentences for _, name, _, _ in Formatter().parse(sentence) if name}
            assert "x" not in used or all("{x}" in sentence for sentence in sentences)
            fields.setdefault(action, set()).add("x" in used)
        for name, unit in UNITS.items():
            for number in QUANTITIES[unit]:
                entry = GRAMMARS[language].amount(Amount(name, number, unit))
                assert entry and "{" not in entry and "  " not in entry
    assert all(len(named) == 1 for named in fields.values())  # a step names its ingredients in all languages
    assert {(kind, method) for kind in KINDS for method in KINDS[kind].methods} == set(PLANS)


def test_words_of_different_things_differ():
    for language in LANGUAGES:
        nouns = GRAMMARS[language].words.nouns
        assert len({forms[nouns.forms[0]] for forms in nouns.entries.values()}) == len(nouns.entries)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.cases(2)
def test_drawn_recipes_are_well_formed(language):
    for row in recipe_rows(0, [language], seed=3, train=500):
        assert not re.search(r"[{}|]|None|  |\n\n|\s$| [.,،]|\.\.|,,", row.text), row.text
        assert "\n" not in row.title and row.title[0] == row.title[0].upper()
        lines = row.body.split("\n")
        numbers = [int(line.split(".")[0]) for line in lines if re.match(r"\d+\. ", line)]
        assert numbers == list(range(1, len(numbers) + 1)) and numbers
        assert any(line.startswith("- ") for line in lines)
        if language == "ar":
            assert not re.search("[A-Za-z]", row.text), row.text


def test_a_cook_mentions_only_what_is_so():
    for number, row in enumerate(recipe_rows(0, ["en"], train=500)):
        dish, content = row.dish, choose_content(row.dish, stream(0, "test", number))
        assert (content.kind, content.hero) == (dish.kind, dish.hero)
        assert set(content.named) <= {*dish.others, *dish.seasonings}
        assert set(content.steps) <= set(steps(dish))
        names = [amount.name for amount in content.amounts]
        assert dish.hero in names and set(names) <= set(shopping(dish)) and len(set(names)) == len(names)
        assert {*dish.others, *dish.seasonings} <= set(shopping(dish))
        assert content.style != "quick" or dish.minutes <= QUICK
        assert content.style != "spicy" or "chilli" in dish.seasonings


def test_main_and_further_ingredients_belong_to_the_kind():
    for row in recipe_rows(0, train=200):
        dish, kind = row.dish, KINDS[row.dish.kind]
        assert INGREDIENTS[dish.hero].group in kind.heroes
        assert dish.hero not in dish.others and len(set(dish.others)) == len(dish.others)
        if kind.others:
            assert {INGREDIENTS[name].group for name in dish.others} <= set(kind.others)
