import csv
import re
from io import StringIO
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from rich.console import Console

from xlingual.report import page_of
from xlingual.report.blocks import Cards, Fold, Matrix, walk
from xlingual.report.figures import pool_maps
from xlingual.report.pages import pool_tables
from xlingual.report.render import html, terminal, text
from xlingual.report.table import Table
from xlingual.results import Results

parsed = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "balanced.py"))).parsed
TASK = "multilingual-pool"
TWO = ("balanced_mix", "chargram")
VIEWS = (
    "one_target", "one_target_summary", "remove_one", "monolingual_pool", "alignment",
    "weak_alignment", "strong_alignment", "language_share_top100",
    "language_share_ratio_top100", "language_id_accuracy", "subsets", "fairness", "loss", "hubs", "ci",
    "by_question_language", "languages",
)  # fmt: skip


def printed(results, width):
    """Return what a terminal shows below the verdict."""
    screen = Console(file=StringIO(), width=width, highlight=False)
    for section in page_of(results).sections:
        terminal.show_section(screen, section)
    return screen.file.getvalue()


SHAPES = {
    "three encoders": lambda pool: [pool.results()],
    "one encoder": lambda pool: [pool.results(encoders=("chargram",))],
    "two languages": lambda pool: [pool.results(languages=("en", "zh"))],
    "two runs": lambda pool: [pool.results(), pool.results(encoders=("chargram",), seed=2)],
    "no view": lambda pool: [pool.without(pool.results(), *VIEWS, tables_too=True)],
    **{
        f"without {name}": lambda pool, name=name: [pool.without(pool.results(encoders=TWO), name)]
        for name in VIEWS
    },
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.cases(3)
def test_pages_are_well_formed_and_self_contained(pool, shape):
    page = page_of(SHAPES[shape](pool))
    for form in ("markdown", "latex", "csv"):
        assert not re.search(r"\b(nan|NaN|None|inf)\b", text.as_text(page, form))
    shown = html.render(page)
    found = parsed(shown)
    assert not {tag for tag, _ in found.tags} & {"script", "link", "iframe", "object", "base", "form", "img"}
    for _, attributes in found.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert not {"src", "href", "xlink:href"} & set(attributes)
    said = [value for _, attributes in found.tags for value in attributes.values() if value]
    assert not re.search(r"\b(nan|NaN|None|inf)\b", " ".join([*found.texts, *said]))
    assert len(shown) < 400_000


@pytest.mark.parametrize("shape", ["two runs", *(pytest.param(s, marks=pytest.mark.slow) for s in SHAPES)])
def test_pages_are_repeatable(pool, shape):
    assert html.render(page_of(SHAPES[shape](pool))) == html.render(page_of(SHAPES[shape](pool)))


def test_results_read_from_a_folder_make_the_same_page(pool, tmp_path):
    results = pool.results()
    results.write(tmp_path)
    assert html.render(page_of([Results.read(tmp_path)])) == html.render(page_of([results]))


def test_every_text_has_its_language_and_finds_its_direction(pool):
    tags = parsed(html.render(page_of([pool.results()]))).tags
    shown = [attributes for _, attributes in tags if attributes.get("class") == "text"]
    assert len(shown) > 40
    assert all(text["dir"] == "auto" and text["lang"] in pool.languages for text in shown)


def test_hostile_words_are_shown_and_never_run(pool):
    bad = '<script>alert(1)</script> & <img src=x onerror="alert(2)">'
    results = pool.results(texts=dict.fromkeys(pool.languages, (bad, bad)))
    shown = html.render(page_of([results]))
    assert "<script" not in shown and "<img" not in shown
    assert sum(bad in text for text in parsed(shown).texts) > 40


def heads(table):
    return [column.head for column in table.columns]


def column(table, place):
    return [row.cells[place].plain for row in table.rows]


def test_alignment_is_a_table_with_chance_and_two_maps(pool):
    found = pool.views_of(pool.results())
    table = pool_tables.alignment(found)
    assert heads(table) == [
        "encoder", "weak", "weak, own language", "strong", "strong, every pair", "strict",
    ]  # fmt: skip
    assert column(table, 3) == ["0.616 [0.604, 0.628]", "0.360 [0.348, 0.372]", "0.400 [0.388, 0.412]"]
    assert "(chance 0.00085)" in table.meanings and "(chance 0.500)" in table.meanings
    assert pool_tables.alignment(pool.views_of(pool.without(pool.results(), "alignment"))) is None
    weak, strong = pool_maps.weak_alignment(found), pool_maps.strong_alignment(found)
    assert weak.ends[1] == "0.860" and strong.ends == ("0.360", "0.900")
    row = dict(strong.maps[0].lines)["de"]
    assert [cell.short for cell in row] == ["0.62", "0.90", *["0.62"] * 5]
    assert row[0].title == (
        "answer in Arabic (ar), wrong candidate and question in German (de): 0.616 [0.604, 0.628]"
    )


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_alignment_has_room_in_any_terminal(pool, width):
    text = printed(pool.results(), width)
    _, title, below = text.partition("Weak and strong alignment")
    assert title and max(map(len, text.splitlines())) <= width
    assert "0.616" in below and ("strict:" in below) == ("0.001" in below.partition("weak:")[0])


def fold_of(results, title):
    """Return the cards behind a line of the page, by their headings."""
    (section,) = page_of([results]).sections
    (fold,) = [one for one in walk(section.blocks) if isinstance(one, Fold) and one.title == title]
    (cards,) = fold.blocks
    assert isinstance(cards, Cards)
    return cards.groups


def test_worst_questions_show_what_was_ranked_above_and_then_the_answer(pool):
    results = pool.results()
    (section,) = page_of([results]).sections
    folds = [one for one in walk(section.blocks) if isinstance(one, Fold) and one.data]
    assert [(fold.title, fold.open) for fold in folds] == [
        ("balanced_mix", True), ("english-only-dual-encoder_v2", False), ("chargram", False),
    ]  # fmt: skip
    _, (card,) = fold_of(results, "balanced_mix")[0]
    assert card.first.remark == "AP 0.001, its best answer at rank 412.5"
    assert [text.tone for text in card.others] == ["above"] * 4 + ["answer"]
    assert card.others[-1].place == "413" and card.others[-1].badge.text == "answer"


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_encoders_and_the_leaders_languages(pool, width):
    text = printed(pool.results(), width)
    assert max(map(len, text.splitlines())) <= width
    for words_of in ("own", "other", "Δ", "behind", "0.114", "11.7 %"):
        assert words_of in text
    for words_of in ("2 → 1", "1 → 2", "monolingual: mAP with", "→ here: rank"):
        assert (words_of in text) == (width == 120)
    matrix = [line for line in text.splitlines() if re.match(r" (ar|de|en|es|hi|vi|zh)  0\.\d\d", line)]
    assert len(matrix) == 7


def test_texts_have_the_tables_and_maps_of_the_page(pool):
    results = pool.results()
    shown = page_of(results)
    rows = list(csv.DictReader(StringIO(text.as_csv(shown))))
    tables = dict.fromkeys(row["table"] for row in rows)
    on_page = [block for section in shown.sections for block in walk(section.blocks)]
    maps = [f"{one.title}: {m.label}" for one in on_page if isinstance(one, Matrix) for m in one.maps]
    titles = [one.title for one in on_page if isinstance(one, Table)]
    assert len(maps) > 12 and len(titles) > 6 and {*maps, *titles} <= {*tables}
    assert not any("questions in the language of the row" in name for name in tables)  # the maps have them
    (one,) = (one for one in pool.views_of(results) if one.row.label == "chargram")
    values = one.pairs("one_target")
    of_map = [row for row in rows if row["table"] == "One target only: chargram"]
    assert [row["name"] for row in of_map] == one.languages
    for row in of_map:
        for tag in one.languages:
            assert float(row[tag]) == values[row["name"], tag]  # at full precision
            ends = one.interval("one_target", f"{row['name']}->{tag}")
            assert [float(row[f"{tag}_{end}"]) for end in ("low", "high")] == [ends.low, ends.high]
    markdown = text.markdown(shown)
    assert "Bold: the question's own language." in markdown and "Framed" not in markdown
    own = one.number("one_target", "ar->ar")
    assert f"| ar | **{own:.3f}** |" in markdown.partition("**One target only: chargram**")[2]
    assert "Framed: the question" in html.render(shown).replace("&#39;", "'")
    assert "One target only" not in printed(results, 120)


def test_a_narrow_terminal_drops_monolingual_pools_first_and_explains_what_is_left(pool):
    text = printed(pool.results(), 80)
    assert "behind" in text and "Δ: what removing" in text
    assert "“monolingual” and “monolingual → here” are left out" in " ".join(text.split())
    assert "monolingual: " not in text and "rank with candidates" not in text
    less = printed(
        pool.each_with(pool.results(), one_target_summary=None, monolingual_pool_average=None), 120
    )
    assert "Δ: what removing" in less and "own, other" not in less and "monolingual" not in less
