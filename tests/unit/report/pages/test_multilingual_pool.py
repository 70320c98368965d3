import csv
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from msgspec import structs
from rich.console import Console

from xlingual.report import page_of, verdict
from xlingual.report.blocks import Cards, Fold, Matrix, walk
from xlingual.report.figures import multilingual_pool as figures
from xlingual.report.pages import multilingual_pool as pages
from xlingual.report.pages import pool_tables
from xlingual.report.render import html, terminal, text
from xlingual.report.table import Table
from xlingual.results import Interval, Results
from xlingual.results.document import plain

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


def test_alignment_is_a_table_with_chance_and_two_maps(pool):
    results = pool.results()
    (section,) = page_of([results]).sections
    blocks = {block.title: block for block in walk(section.blocks) if isinstance(block, (Table, Matrix))}
    table, weak, strong = (
        blocks[title] for title in ("Weak and strong alignment", "Weak alignment", "Strong alignment")
    )
    assert [row.cells[3].plain for row in table.rows] == [
        "0.616 [0.604, 0.628]", "0.360 [0.348, 0.372]", "0.400 [0.388, 0.412]",
    ]  # fmt: skip
    assert "(chance 0.00085)" in table.meanings and "(chance 0.500)" in table.meanings
    assert weak.ends[1] == "0.860" and strong.ends == ("0.360", "0.900")
    row = dict(strong.maps[0].lines)["de"]
    assert [cell.short for cell in row] == ["0.62", "0.90", *["0.62"] * 5]
    assert row[0].title == (
        "answer in Arabic (ar), wrong candidate and question in German (de): 0.616 [0.604, 0.628]"
    )
    (without,) = page_of([pool.without(results, "alignment")]).sections
    titles = [block.title for block in walk(without.blocks) if isinstance(block, Table)]
    assert "Weak and strong alignment" not in titles


def test_all_encoders_share_one_colour_scale(pool):
    encoders = pool.views_of(pool.results())
    group = figures.by_pair(encoders, "one_target")
    steps = [cell.step for drawn in group.maps for _, cells in drawn.lines for cell in cells]
    assert (min(steps), max(steps)) == (0, 20)
    values = [value for encoder in encoders for value in encoder.pairs("one_target").values()]
    assert group.ends == (f"{min(values):.3f}", f"{max(values):.3f}")
    cell = figures.shares(encoders).maps[0].lines[0][1][0]
    assert cell.title.startswith("questions in Arabic (ar), candidates in Arabic (ar): ")
    assert cell.title.endswith(" times its share of the pool")


def test_drawings_of_the_space_keep_to_their_budget(pool):
    results = pool.results()
    _, about, drawn, legend = figures.space([results], pool.views_of(results))
    assert [key.text for key in legend.keys] == [
        "ar, questions", "ar, candidates", "zh, questions", "zh, candidates",
    ]  # fmt: skip
    assert about.text.endswith("An even part of the points is shown.") and len(drawn.blocks) == 3
    for drawing in (figure.drawing for figure in drawn.blocks):
        styles = [shape.style for shape in drawing.shapes]
        assert styles == ["s0 candidate", "s1 candidate", "s0 question", "s1 question"]
        paths = [shape.attributes["d"] for shape in drawing.shapes]
        dots = [path.count("M") // (2 if "v" in path else 1) for path in paths]
        assert sum(dots) == figures.MOST_POINTS
        places = [int(n) for path in paths for n in re.findall(r"M(\d+) ", path)]
        assert min(places) >= 0 and max(places) <= figures.WIDTH


def test_losses_are_means_over_pairs_of_languages(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    views = {
        "en->en": {"question": 4.0, "answer": 0.0, "third": 2.0},
        "zh->zh": {"question": 6.0, "answer": 0.0, "third": 0.0},
        "en->zh": {"question": 10.0, "answer": 5.0, "third": 5.0},
        "zh->en": {"question": 30.0, "answer": 5.0, "third": 25.0},
    }
    (section,) = page_of([pool.changed(results, "chargram", loss=views)]).sections
    (table,) = (b for b in walk(section.blocks) if getattr(b, "title", "") == "Where the loss comes from")
    assert [[cell.plain for cell in row.cells[1:]] for row in table.rows] == [
        ["own", "5.00", "0.00", "1.00"], ["other", "20.0", "5.00", "15.0"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gap", "delta", "said"),
    [
        ((0.02, 0.08), (0.01, 0.05), "balanced_mix prefers the question's own language: "),
        ((-0.02, 0.08), (-0.01, 0.05), "is not shown to be biased towards the question's own language"),
        ((-0.08, -0.02), (-0.05, -0.01), "balanced_mix prefers other languages to the question's own: "),
        ((0.02, 0.08), (-0.01, 0.05), "depends on how it is measured"),
        ((0.0, 0.08), (0.0, 0.05), "is not shown to be biased towards the question's own language"),
        (None, None, "is not known without an interval"),
    ],
)
def test_bias_is_called_by_its_intervals(pool, gap, delta, said):
    def ends(pair):
        return None if pair is None else {"low": pair[0], "high": pair[1], "level": 0.95, "method": "t"}

    results = pool.results()
    ci = plain(results.entries[0].views)["ci"] | {
        "one_target_summary": {"gap": ends(gap)}, "remove_one": {"relative_delta": ends(delta)},
    }  # fmt: skip
    assert said in pages.bias(pool.views_of(pool.changed(results, "balanced_mix", ci=ci))[0])[0]


def test_the_order_of_encoders_in_monolingual_pools(pool):
    encoders = pool.views_of(pool.results())
    assert pool_tables.monolingual_ranks(encoders) == {0: (2, 1), 1: (1, 2), 2: (3, 3)}
    assert "there english-only-dual-encoder_v2 is first" in pages.order(encoders)[0]
    assert pages.order(encoders[1:]) == [
        "With candidates of the question's language only, the order of the encoders is the same."
    ]
    assert pages.order(encoders[:1]) == []


def test_a_strict_measure_is_not_held_against_the_mark_of_map(pool):
    def of(measure):
        results = pool.results(encoders=("chargram",))
        rows = [structs.replace(row, measure=measure, value=0.02, ci=Interval(0.01, 0.03, 0.95, "t"))
                for row in results.summary if row.measure == "AP"]  # fmt: skip
        return " ".join(verdict(replace(results, summary=rows)))

    assert "good enough" in of("AP")
    assert "good enough" not in of("StrongAlignment/strict")


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
