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

from xlingual.report import leaderboard, leaders, page_of, verdict, words
from xlingual.report.blocks import Cards, Fold, Matrix, walk
from xlingual.report.figures import pool_maps
from xlingual.report.findings.multilingual_pool import ordinal
from xlingual.report.pages import hubs, pool_tables
from xlingual.report.pool_views import AGNOSTIC, PREFER_OWN, amount, share, views_of
from xlingual.report.render import html, terminal, text
from xlingual.report.table import Table
from xlingual.results import Interval, Results
from xlingual.tasks import TASKS

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
    "both policies": lambda pool: [pool.results(policies=("agnostic", PREFER_OWN))],
    "own language only": lambda pool: [pool.results(policies=(PREFER_OWN,))],
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


@pytest.mark.parametrize(
    "shape", ["two runs", "both policies", *(pytest.param(s, marks=pytest.mark.slow) for s in SHAPES)]
)
def test_pages_are_repeatable(pool, shape):
    assert html.render(page_of(SHAPES[shape](pool))) == html.render(page_of(SHAPES[shape](pool)))


def test_results_read_from_a_folder_make_the_same_page(pool, tmp_path):
    results = pool.results()
    results.write(tmp_path)
    assert html.render(page_of([Results.read(tmp_path)])) == html.render(page_of([results]))


def test_losses_of_one_encoder_are_as_wide_as_the_page(pool):
    for encoders, width in ((("chargram",), 860), (TWO, 470)):
        section = page_of([pool.results(encoders=encoders)]).sections[0]
        whole = next(block for block in section.blocks if getattr(block, "style", "") == "pool").blocks
        beside = next(block for block in whole if getattr(block, "style", "") == "beside").blocks
        (losses,) = (block for block in (*whole, *beside) if getattr(block, "style", "") == "losses")
        assert losses.drawing.width == width and (losses in beside) == (encoders == TWO)


def test_the_page_names_languages_not_the_pool(pool):
    shown = html.render(page_of([pool.results()]))
    assert "across ar, de, en, es, hi, vi and zh" in shown
    texts_of = parsed(shown).texts
    assert "ar, de, en, es, hi, vi, zh" in texts_of and "8,330" in texts_of and "questions" in texts_of
    assert "Backretrieval" not in shown and "image" not in " ".join(verdict(pool.results()))


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


@pytest.mark.parametrize("tasks", ["pool alone", "with another"])
def test_nothing_is_said_of_seeds_of_a_pool(pool, tasks):
    results = pool.results()
    if tasks == "with another":
        other = structs.replace(
            results.entries[0], task="backretrieval", source="de", target="en", seed=3, views=None
        )
        summary = structs.replace(results.summary[0], task="backretrieval", source=None, target=None)
        results = replace(
            results,
            entries=[*results.entries, other, structs.replace(other, seed=4)],
            summary=[*results.summary, summary],
        )
    facts = dict(page_of([results]).facts)
    assert ("seed" in facts) is False and facts.get("seeds") == (None if tasks == "pool alone" else "2")


def heads(table):
    return [column.head for column in table.columns]


def column(table, place):
    return [row.cells[place].plain for row in table.rows]


def test_the_glance_shows_bias_and_ranks_and_drops_what_is_not_there(pool):
    table = pool_tables.glance(pool.views_of(pool.results()), TASKS[TASK])
    assert heads(table) == [
        "encoder", "mAP", "own", "other", "gap", "Δ", "monolingual", "rank, monolingual → here",
        "language identified",
    ]  # fmt: skip
    assert column(table, -2) == ["2 → 1", "1 → 2", "3"]
    assert "chance 0.143" in table.meanings
    gone = pool.without(pool.results(), "one_target_summary", "monolingual_pool_average")
    less = pool_tables.glance(pool.views_of(gone), TASKS[TASK])
    assert heads(less) == ["encoder", "mAP", "Δ", "language identified"]
    assert "own" not in less.meanings.partition("language identified")[0].replace("own-language", "")
    bare = pool.without(pool.results(), *VIEWS, "monolingual_pool_average")
    assert pool_tables.glance(pool.views_of(bare), TASKS[TASK]) is None


def test_the_glance_is_named_by_what_it_shows(pool):
    assert pool_tables.glance(pool.views_of(pool.results()), TASKS[TASK]).title == "Own and other languages"
    bare = pool.each_with(pool.results(), one_target_summary=None, remove_one=None)
    assert pool_tables.glance(pool.views_of(bare), TASKS[TASK]).title == "At a glance"


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


def test_macro_is_shown_where_it_differs(pool):
    table = pool_tables.glance(
        pool.views_of(pool.changed(pool.results(), "chargram", macro=0.25)), TASKS[TASK]
    )
    assert heads(table)[2] == "macro" and column(table, 2)[-1] == "0.250"


def test_subsets_are_named_by_what_they_lack(pool):
    table = pool_tables.subsets(pool.views_of(pool.results()))
    assert column(table, 0)[:3] == ["all languages", "all but ar", "all but de"]
    assert column(table, 0)[-1] == "de, en" and len(table.rows) == 9


def test_prefer_own_has_a_table_of_its_own_and_is_not_counted_twice(pool):
    results = pool.results(policies=("agnostic", PREFER_OWN))
    rows = leaderboard([results], TASK, "AP")
    table = pool_tables.own_first(views_of([results], rows, PREFER_OWN), TASKS[TASK])
    said = [cell.plain for cell in table.rows[0].cells]
    assert said[2:] == ["50.0 %", "30.0 %", "15.0 %", "5.0 %", "3.50", "12.5", "40.2"]
    assert {row.n_tied for row in rows} == {3} and {row.n_queries for row in rows} == {8330}
    assert pool_tables.own_first(views_of([results], rows, "unheard of"), TASKS[TASK]) is None


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


def test_hubs_come_with_their_texts_the_largest_first(pool):
    label, (card,) = fold_of(pool.results(), "The largest hubs")[0]
    assert label == "english-only-dual-encoder_v2" and len(card.others) == hubs.MOST_HUBS  # alarms first
    assert card.others[0].remark == "found by 900 queries (10.1 expected), relevant to none"


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_encoders_and_the_leaders_languages(pool, width):
    text = printed(pool.results(policies=("agnostic", PREFER_OWN)), width)
    assert max(map(len, text.splitlines())) <= width
    for words_of in ("own", "other", "Δ", "behind", "0.114", "11.7 %", "30.0 %", "wrong other"):
        assert words_of in text
    for words_of in ("2 → 1", "1 → 2", "monolingual: mAP with", "→ here: rank"):
        assert (words_of in text) == (width == 120)
    matrix = [line for line in text.splitlines() if re.match(r" (ar|de|en|es|hi|vi|zh)  0\.\d\d", line)]
    assert len(matrix) == 7


def test_texts_have_the_tables_and_maps_of_the_page(pool):
    results = pool.results(policies=("agnostic", PREFER_OWN))
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


def test_too_many_languages_for_the_terminal_point_to_the_report(pool):
    results = pool.results()
    many = pool.changed(results, "balanced_mix", languages=[f"l{i}" for i in range(11)])
    assert "11 × 11 have no room here, --report shows them" in printed(many, 120)


def test_only_results_that_look_at_languages_are_shown_that_way(pool):
    assert "own, other: mAP" in printed(pool.results(), 120)
    bare = printed(pool.without(pool.results(), *VIEWS, "monolingual_pool"), 120)
    assert "95 % interval" in bare and "multilingual-pool · mAP" in bare and "R@10" in bare


def test_names_of_measures_and_pairs(pool):
    names = ["AP", "AP@20/min", "RR", "R@10", "Success@10", "RR@10", "P@5", "StrongAlignment/strict"]
    assert [TASKS[TASK].measure_name(name) for name in names] == [
        "mAP",
        "mAP@20/min",
        "MRR",
        "R@10",
        "Success@10",
        "MRR@10",
        "P@5",
        "strong alignment (strict)",
    ]
    assert words.pair("ar", "pool") == "queries in Arabic (ar)" and words.pair("all", "pool") == "all queries"
    assert leaders.measures([replace(pool.results(), summary=pool.results().summary[::-1])], TASK)[0] == "AP"


def test_amounts_and_shares_in_words():
    assert [ordinal(n) for n in (1, 11, 21, 112)] == ["first", "11th", "21st", "112th"]
    assert share(0.02, Interval(-0.0001, 0.04, 0.95, "t")).plain == "2.00 % [−0.01, 4.00]"
    assert share(None).plain == "–" and amount(None) == "–"


def terms_of(results):
    """Return the terms that the page explains of its own, and the section's introduction."""
    shown = page_of([results])
    return [term for term, _ in shown.terms if term not in ("Chance", "Interval", "Tied")], shown.sections[
        0
    ].about


@pytest.mark.parametrize(
    ("policies", "said", "unsaid"),
    [
        ((AGNOSTIC,), "in whatever language", "Only answers in the question's language"),
        ((PREFER_OWN,), "Only answers in the question's language count as right", "whatever language"),
        ((AGNOSTIC, PREFER_OWN), "With the policy prefer-own, only answers", "Only answers"),
    ],
)
def test_the_introduction_fits_the_policy(pool, policies, said, unsaid):
    _, about = terms_of(pool.results(policies=policies))
    assert said in about and unsaid not in about and about.endswith(".")


def test_the_glossary_has_the_terms_of_the_parts_that_are_shown(pool):
    every, _ = terms_of(pool.results())
    assert every == [
        "mAP", "One target only", "Remove one, Δ", "Monolingual pool", "Weak and strong alignment",
        "Language share",
        "Language identification", "Where the loss comes from", "PEER", "Hub",
    ]  # fmt: skip
    own, _ = terms_of(pool.results(policies=(PREFER_OWN,)))
    assert own == ["mAP", "Own-language answers only"]
    shown = html.render(page_of([pool.results(policies=(PREFER_OWN,))]))
    assert "all answers in the question&#39;s language rank above" in shown
    assert "all answers rank above" not in shown and "PEER" not in shown
    less, _ = terms_of(pool.each_with(pool.results(), hubs=None, fairness=None, loss=None))
    assert not {"Hub", "PEER", "Where the loss comes from"} & set(less) and "Language share" in less


def test_a_narrow_terminal_drops_monolingual_pools_first_and_explains_what_is_left(pool):
    text = printed(pool.results(), 80)
    assert "behind" in text and "Δ: what removing" in text
    assert "“monolingual” and “monolingual → here” are left out" in " ".join(text.split())
    assert "monolingual: " not in text and "rank with candidates" not in text
    less = printed(
        pool.each_with(pool.results(), one_target_summary=None, monolingual_pool_average=None), 120
    )
    assert "Δ: what removing" in less and "own, other" not in less and "monolingual" not in less


def test_own_language_wanted_is_one_table_with_its_legend(pool):
    text = " ".join(printed(pool.results(policies=(PREFER_OWN,)), 120).split())
    assert text.partition("mAP@20")[0].count("balanced_mix") == 1
    for said in ("50.0 %", "30.0 %", "in another: first is a right answer, but", "wrong own, wrong other:"):
        assert said in text
    assert "untold" not in text
    both = " ".join(printed(pool.results(policies=(AGNOSTIC, PREFER_OWN)), 120).split())
    assert "own language wanted · mAP" in both and both.count("in another: first is") == 1


def test_other_measures_have_the_layout_of_the_first(pool):
    _, title, text = printed(pool.results(), 120).partition("multilingual-pool · R@10")
    text, _, _ = text.partition("Weak and strong alignment")
    assert title
    assert "0.635 [0.623, 0.647]" in text and "behind" in text and "own" not in text
    assert "95 % interval" not in text


def test_a_page_explains_chance_ties_and_intervals(pool):
    assert [term for term, _ in page_of([pool.results()]).terms][-3:] == ["Chance", "Interval", "Tied"]
    untied = replace(
        pool.results(), entries=[structs.replace(entry, n_tied=0) for entry in pool.results().entries]
    )
    assert [term for term, _ in page_of([untied]).terms][-2:] == ["Chance", "Interval"]
