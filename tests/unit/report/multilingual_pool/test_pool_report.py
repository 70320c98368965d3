import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from msgspec import structs
from rich.console import Console

from xlingual.report import colours, multilingual_pool, page, tables, verdict, words
from xlingual.report.multilingual_pool import loss, maps, sentences, space, texts, tradeoff, wording
from xlingual.report.multilingual_pool import tables as pool_tables
from xlingual.report.multilingual_pool.reading import PREFER_OWN, seen
from xlingual.results import Interval, Results
from xlingual.results.document import plain
from xlingual.results.views import PoolViews
from xlingual.typed import convert

parsed = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "balanced.py"))).parsed
TASK = "multilingual-pool"
TWO = ("balanced_mix", "chargram")
VIEWS = (
    "one_target", "one_target_summary", "remove_one", "monolingual_pool", "language_share_top100",
    "language_share_ratio_top100", "language_id_accuracy", "subsets", "fairness", "loss", "hubs", "ci",
    "by_question_language", "languages",
)  # fmt: skip


def typed(views):
    return convert(plain(views), PoolViews, where="views")


def encoders(results):
    return seen([results], tables.leaderboard([results], TASK, "AP"))


def without(results, *names, tables_too=False):
    """Return the results without some views."""
    entries = [
        structs.replace(entry, views=typed({k: v for k, v in plain(entry.views).items() if k not in names}))
        for entry in results.entries
    ]
    return replace(results, entries=entries, tables={} if tables_too else results.tables)


def changed(results, encoder, **views):
    """Return the results with some views of an encoder replaced."""
    entries = [
        structs.replace(entry, views=typed(plain(entry.views) | views))
        if (entry.encoder, entry.measure) == (encoder, "AP")
        else entry
        for entry in results.entries
    ]
    return replace(results, entries=entries)


def printed(results, width):
    screen = Console(file=StringIO(), width=width, highlight=False)
    multilingual_pool.show(screen, results)
    return screen.file.getvalue()


SHAPES = {
    "three encoders": lambda pool: [pool.results()],
    "one encoder": lambda pool: [pool.results(encoders=("chargram",))],
    "two languages": lambda pool: [pool.results(languages=("en", "zh"))],
    "two runs": lambda pool: [pool.results(), pool.results(encoders=("chargram",), seed=2)],
    "both policies": lambda pool: [pool.results(policies=("agnostic", PREFER_OWN))],
    "own language only": lambda pool: [pool.results(policies=(PREFER_OWN,))],
    "no view": lambda pool: [without(pool.results(), *VIEWS, tables_too=True)],
    **{
        f"without {name}": lambda pool, name=name: [without(pool.results(encoders=TWO), name)]
        for name in VIEWS
    },
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.cases(3)
def test_pages_are_well_formed_and_self_contained(pool, shape):
    html = page.render(SHAPES[shape](pool))
    found = parsed(html)
    assert not {tag for tag, _ in found.tags} & {"script", "link", "iframe", "object", "base", "form", "img"}
    for _, attributes in found.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert not {"src", "href", "xlink:href"} & set(attributes)
    said = [value for _, attributes in found.tags for value in attributes.values() if value]
    assert not re.search(r"\b(nan|NaN|None|inf)\b", " ".join([*found.texts, *said]))
    assert len(html) < 400_000


@pytest.mark.parametrize(
    "shape", ["two runs", "both policies", *(pytest.param(s, marks=pytest.mark.slow) for s in SHAPES)]
)
def test_pages_are_repeatable(pool, shape):
    assert page.render(SHAPES[shape](pool)) == page.render(SHAPES[shape](pool))


def test_results_read_from_a_folder_make_the_same_page(pool, tmp_path):
    results = pool.results()
    results.write(tmp_path)
    assert page.render([Results.read(tmp_path)]) == page.render([results])


def test_the_page_names_languages_not_the_pool(pool):
    html = page.render([pool.results()])
    assert "across ar, de, en, es, hi, vi and zh" in html
    texts_of = parsed(html).texts
    assert "ar, de, en, es, hi, vi, zh" in texts_of and "8,330" in texts_of and "questions" in texts_of
    assert "Backretrieval" not in html and "picture" not in " ".join(verdict(pool.results()))


def test_every_text_has_its_language_and_finds_its_direction(pool):
    tags = parsed(page.render([pool.results()])).tags
    shown = [attributes for _, attributes in tags if attributes.get("class") == "text"]
    assert len(shown) > 40
    assert all(text["dir"] == "auto" and text["lang"] in pool.languages for text in shown)


def test_hostile_words_are_shown_and_never_run(pool):
    bad = '<script>alert(1)</script> & <img src=x onerror="alert(2)">'
    results = pool.results(texts=dict.fromkeys(pool.languages, (bad, bad)))
    html = page.render([results])
    assert "<script" not in html and "<img" not in html
    assert sum(bad in text for text in parsed(html).texts) > 40


def test_the_verdict_says_who_leads_and_whether_that_is_real(pool):
    first = verdict(pool.results())[0]
    assert first.startswith("balanced_mix leads: mAP 0.4")
    assert "over 8,330 questions in 7 languages" in first and "real on this data" in first


@pytest.mark.parametrize(
    ("gap", "delta", "said"),
    [
        ((0.02, 0.08), (0.01, 0.05), "balanced_mix prefers the question's own language: "),
        ((-0.02, 0.08), (-0.01, 0.05), "has no bias towards the question's own language that these data"),
        ((-0.08, -0.02), (-0.05, -0.01), "balanced_mix prefers other languages to the question's own: "),
        ((0.02, 0.08), (-0.01, 0.05), "depends on how it is measured"),
        ((0.0, 0.08), (0.0, 0.05), "no bias towards the question's own language that these data can show"),
        (None, None, "is not known without an interval"),
    ],
)
def test_bias_is_called_by_its_intervals(pool, gap, delta, said):
    def ends(pair):
        return None if pair is None else {"low": pair[0], "high": pair[1], "level": 0.95, "method": "t"}

    results = pool.results()
    views = plain(results.entries[0].views)
    views["ci"] = views["ci"] | {
        "one_target_summary": {"gap": ends(gap)}, "remove_one": {"relative_delta": ends(delta)},
    }  # fmt: skip
    found = encoders(changed(results, "balanced_mix", ci=views["ci"]))
    assert said in sentences.bias(found[0], found)[0]


def test_bias_of_the_others_is_told_for_few_and_summed_up_for_many(pool):
    found = encoders(pool.results())
    assert sentences.bias(found[0], found)[1] == (
        "The same Δ for the others: english-only-dual-encoder_v2 11.7 % [11.3, 12.1]; "
        "chargram 9.9 % [9.5, 10.3]."
    )
    many = sentences.bias(found[0], [found[0], *found[1:] * 2])[1]
    assert many.startswith("Of the others, english-only-dual-encoder_v2 prefers its own language most")


def test_without_a_view_of_bias_nothing_is_said_of_it(pool):
    found = encoders(without(pool.results(), "one_target_summary", "remove_one"))
    assert sentences.bias(found[0], found) == []


def test_the_order_of_encoders_in_monolingual_pools(pool):
    found = encoders(pool.results())
    assert sentences.monolingual_ranks(found) == {0: (2, 1), 1: (1, 2), 2: (3, 3)}
    (said,) = sentences.order(found)
    assert "there english-only-dual-encoder_v2 is first" in said and "it is second of 3" in said
    assert sentences.order(found[1:]) == [
        "With candidates of the question's language only, the order of the encoders is the same."
    ]
    assert sentences.order(found[:1]) == []
    wide = pool.results()
    ci = plain(wide.entries[0].views)["ci"] | {"monolingual_pool_average": pool.ci(0.8, 0.2)}
    (doubted,) = sentences.order(encoders(changed(wide, "balanced_mix", ci=ci)))
    assert "a difference that may be noise" in doubted


def test_runs_that_are_ranked_apart_are_so_in_monolingual_pools(pool):
    other = pool.results(encoders=("chargram", "balanced_mix"))
    entries = [
        structs.replace(entry, signature=entry.signature.replace("abc123", "def456"))
        for entry in other.entries
    ]
    runs = [pool.results(), replace(other, entries=entries)]
    rows = tables.leaderboard(runs, TASK, "AP")
    assert [row.rank for row in rows] == [1, 2, 3, 1, 2]
    ranks = sentences.monolingual_ranks(seen(runs, rows))
    assert ranks == {0: (2, 1), 1: (1, 2), 2: (3, 3), 3: (1, 1), 4: (2, 2)}


def test_hardest_questions_and_pairs_are_named(pool):
    results = changed(
        pool.results(),
        "balanced_mix",
        by_question_language={"ar": 0.2, "de": 0.5, "zh": None},
        one_target={"ar->de": 0.1, "de->ar": 0.3},
        ci={"by_question_language": {"ar": pool.ci(0.2, 0.01)}},
    )
    assert sentences.hardest(encoders(results)[0]) == [
        "The hardest questions for balanced_mix are those in Arabic (ar) with 0.200 [0.190, 0.210]; "
        "the easiest those in German (de) with 0.500.",
        "With a single answer in the pool, hardest is a question in Arabic (ar) with its answer in German "
        "(de): 0.100.",
    ]


def test_languages_found_too_often_are_held_against_the_other_foreign_ones():
    # the own language takes most: no foreign one has its share of the pool, and en has more than the others
    ratios = {
        ("ar", "ar"): 2.0, ("ar", "en"): 0.6, ("ar", "zh"): 0.2,
        ("zh", "zh"): 2.0, ("zh", "en"): 0.6, ("zh", "ar"): 0.4,
        ("en", "en"): 2.0, ("en", "ar"): None, ("en", "zh"): 0.3,
    }  # fmt: skip
    found = sentences.among_foreign(ratios)
    assert found == pytest.approx({"en": (1.5 + 1.2) / 2, "ar": 0.8, "zh": 0.5})
    assert list(found) == ["en", "ar", "zh"]


def test_an_alarm_needs_a_large_hub_and_a_skewed_spread(pool):
    found = encoders(pool.results())
    assert [sentences.has_strong_hubs(one) for one in found] == [False, True, True]
    (said,) = sentences.hubs(found)
    assert said.startswith(
        "Hub alarm: english-only-dual-encoder_v2 has one candidate among the 10 best of 560"
    )
    flat = {"k": 10, "skewness": 1.0, "largest": 900.0, "expected": 10.0}
    small = {"k": 10, "skewness": 9.0, "largest": 100.0, "expected": 10.0}
    for hubs in (flat, small):
        one = encoders(changed(pool.results(), "chargram", hubs=hubs))[2]
        assert not sentences.has_strong_hubs(one)


def test_where_none_is_above_chance_nothing_is_said_of_bias(pool):
    results = pool.results()
    level = [
        structs.replace(row, value=0.001, ci=Interval(0.0, 0.003, 0.95, "t"), chance=0.0012)
        for row in results.summary
    ]
    said = verdict(replace(results, summary=level))
    assert said[0].startswith("No encoder is distinguishable from chance (0.0012)")
    assert not any("own language" in sentence for sentence in said)


def test_own_language_only_is_said_in_the_verdict(pool):
    results = pool.results(policies=(PREFER_OWN,))
    said = verdict(results)
    assert "mAP (own-language answers only) 0.4" in said[0]
    assert said[-1] == (
        "Where only answers in the question's language count, balanced_mix puts one first for 50.0 % of the "
        "questions, a right one in another language for 30.0 %, and a wrong one in the question's language "
        "for 15.0 %."
    )


def test_all_encoders_share_one_colour_scale(pool):
    group = maps.one_target(encoders(pool.results()))
    steps = [cell.step for drawn in group.maps for _, cells in drawn.lines for cell in cells]
    assert (min(steps), max(steps)) == (0, 20)
    values = [v for one in encoders(pool.results()) for v in one.pairs("one_target").values()]
    assert group.ends == (f"{min(values):.3f}", f"{max(values):.3f}")
    cell = group.maps[0].lines[0][1][1]
    assert re.fullmatch(
        r"question in Arabic \(ar\), answer in German \(de\): 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", cell.title
    )


def test_ratios_have_one_in_the_middle_of_two_hues(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    ratios = {"en->en": 4.0, "en->zh": 0.25, "zh->en": 1.0, "zh->zh": 0.0}
    group = maps.ratios(encoders(changed(results, "chargram", language_share_ratio_top100=ratios)))
    assert [cell.step for _, cells in group.maps[0].lines for cell in cells] == [20, 0, 10, 0]
    assert group.ends == ("≤ 1/2", "1", "≥ 2") and group.hue == "d"
    html = page.render([results])
    assert ".d0 {" in html and ".d20 {" in html
    assert ".d0 {" not in colours.css(21)


@pytest.mark.parametrize("anchors", [colours.LIGHT_BOTH_WAYS, colours.DARK_BOTH_WAYS])
def test_both_ends_of_the_two_hues_stand_out_from_the_middle_and_text_is_read_on_all(anchors):
    steps = [colours.colour(anchors, i / 20) for i in range(21)]
    assert all(colours.contrast(step, colours.ink(step)) >= 4.2 for step in steps)
    assert min(colours.contrast(steps[10], steps[end]) for end in (0, 20)) > 4
    assert steps[0][2] > steps[0][0] + 60 and steps[20][0] > steps[20][2] + 60  # blue, orange


def test_language_identification_reads_names_with_hyphens(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    views = {
        "languages": ["en", "zh-Hans"],
        "language_id_accuracy": {"all": 0.9, "en-zh-Hans": 0.8},
        "language_id_chance": {"all": 0.5, "en-zh-Hans": 0.5},
    }
    group = maps.identification(encoders(changed(results, "chargram", **views)))
    cells = [[cell and cell.text for cell in cells] for _, cells in group.maps[0].lines]
    assert cells == [[None, "0.800"], ["0.800", None]] and group.ends == ("0.500", "1.000")


def test_language_identification_reads_each_runs_own_keys(pool):
    accuracy = {"all": 0.9, "aa:aa-bb": 0.6, "aa:cc": 0.7, "aa-bb:cc": 0.8}
    new = {
        "languages": ["aa", "aa-bb", "cc"],
        "language_id_accuracy": accuracy,
        "language_id_chance": dict.fromkeys(accuracy, 0.5),
        "ci": {"language_id_accuracy": {}},
    }
    other = {
        "languages": ["cc", "aa"],
        "language_id_accuracy": {"all": 0.9, "cc-aa": 0.75},
        "language_id_chance": {"all": 0.5, "cc-aa": 0.5},
        "ci": {"language_id_accuracy": {"cc-aa": {"low": 0.71, "high": 0.79, "level": 0.95, "method": "x"}}},
    }
    found = [
        *encoders(changed(pool.results(encoders=("chargram",)), "chargram", **new)),
        *encoders(changed(pool.results(encoders=("chargram",)), "chargram", **other)),
    ]
    first, second = (
        [[c and c.text for c in line] for _, line in m.lines] for m in maps.identification(found).maps
    )
    assert first == [[None, "0.600", "0.700"], ["0.600", None, "0.800"], ["0.700", "0.800", None]]
    assert [text for line in second for text in line if text] == ["0.750", "0.750"]


@pytest.mark.parametrize("tasks", ["pool alone", "with another"])
def test_nothing_is_said_of_seeds_of_a_pool(pool, tasks):
    results = pool.results()
    if tasks == "with another":
        other = structs.replace(
            results.entries[0], task="backretrieval", source="de", target="en", seed=3, views=None
        )
        results = replace(results, entries=[*results.entries, other, structs.replace(other, seed=4)])
    facts = dict(page._facts([results]))
    assert ("seed" in facts) is False and facts.get("seeds") == (None if tasks == "pool alone" else "2")


def test_the_glance_shows_bias_and_ranks_and_drops_what_is_not_there(pool):
    table = pool_tables.glance(encoders(pool.results()))
    assert table.head == [
        "encoder", "mAP", "own", "other", "gap", "Δ", "monolingual", "rank, monolingual → here",
        "language told",
    ]  # fmt: skip
    assert [row[-2] for row in table.rows] == ["2 → 1", "1 → 2", "3"]
    assert "chance 0.143" in table.notes[0]
    less = pool_tables.glance(
        encoders(without(pool.results(), "one_target_summary", "monolingual_pool_average"))
    )
    assert less.head == ["encoder", "mAP", "Δ", "language told"]
    assert "own:" not in less.notes[0]
    assert pool_tables.glance(encoders(without(pool.results(), *VIEWS, "monolingual_pool_average"))) is None


def test_macro_is_shown_where_it_differs(pool):
    table = pool_tables.glance(encoders(changed(pool.results(), "chargram", macro=0.25)))
    assert table.head[2] == "macro" and [row[2] for row in table.rows][-1] == "0.250"


def test_subsets_are_named_by_what_they_lack(pool):
    table = pool_tables.subsets(encoders(pool.results()))
    assert [row[0] for row in table.rows][:3] == ["all languages", "all but ar", "all but de"]
    assert table.rows[-1][0] == "de, en" and len(table.rows) == 9


def test_prefer_own_has_a_table_of_its_own_and_is_not_counted_twice(pool):
    results = pool.results(policies=("agnostic", PREFER_OWN))
    rows = tables.leaderboard([results], TASK, "AP")
    table = pool_tables.own_first(seen([results], rows, PREFER_OWN))
    assert table.rows[0][2:] == ["50.0 %", "30.0 %", "15.0 %", "5.0 %", "3.50", "12.5", "40.2"]
    assert {row.n_tied for row in rows} == {3} and {row.n_queries for row in rows} == {8330}
    assert pool_tables.own_first(seen([results], rows, "unheard of")) is None


def test_the_trade_off_has_a_diagonal_and_points_below_it(pool):
    figure = tradeoff.trade_off(encoders(pool.results()))
    frame = figure.frame
    assert frame.xs == frame.ys
    (name, path), *more = figure.paths
    assert name == "diagonal" and not more
    assert path == f"{frame.left},{frame.bottom} {frame.right},{frame.top}"
    assert [point.kind for point in figure.points] == ["leader", "other", "other"]
    one = encoders(pool.results())[1]
    assert figure.points[1].x == frame.x(one.number("one_target_summary", "own"))
    assert figure.points[1].y == frame.y(one.number("one_target_summary", "other"))
    assert figure.points[1].across is not None and figure.points[1].down is not None
    assert tradeoff.trade_off(encoders(without(pool.results(), "one_target_summary"))) is None


@pytest.mark.parametrize(("own", "other"), [(0.7, 0.02), (0.7, 0.1), (0.3, 0.3)])
def test_every_point_of_the_trade_off_has_its_name(pool, own, other):
    results = pool.results(encoders=("chargram",))
    views = {"one_target_summary": {"own": own, "other": other, "gap": own - other}, "ci": {}}
    figure = tradeoff.trade_off(encoders(changed(results, "chargram", **views)))
    assert [label.text for label in figure.labels] == ["chargram"]
    assert figure.unnamed == [] and figure.remarks == []


def test_losses_are_stacked_and_add_up(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    views = {
        "en->en": {"question": 4.0, "answer": 0.0, "third": 2.0},
        "zh->zh": {"question": 6.0, "answer": 0.0, "third": 0.0},
        "en->zh": {"question": 10.0, "answer": 5.0, "third": 5.0},
        "zh->en": {"question": 30.0, "answer": 5.0, "third": 25.0},
    }
    found = loss.losses(encoders(changed(results, "chargram", loss=views)))
    assert found.axis.high == 40.0
    ((label, (own, other)),) = found.encoders
    assert label == "chargram" and (own.total, other.total) == ("6.00", "40.0")
    assert [(part.kind, part.start, part.width) for part in own.parts] == [
        ("question", 0.0, 12.5), ("third", 12.5, 2.5),
    ]  # fmt: skip
    assert [(part.start, part.width) for part in other.parts] == [(0.0, 50.0), (50.0, 12.5), (62.5, 37.5)]
    assert other.spoken == (
        "chargram, answers in another language: 20.0 in the question's language, 5.00 in the answer's, "
        "15.0 in a third one"
    )


def test_drawings_of_the_space_keep_to_their_budget(pool):
    results = pool.results()
    drawn = space.space([results], encoders(results))
    assert drawn.languages == ["ar", "zh"] and drawn.thinned and len(drawn.drawings) == 3
    for drawing in drawn.drawings:
        assert [(s.language, s.role) for s in drawing.series] == [
            ("ar", "candidate"), ("zh", "candidate"), ("ar", "question"), ("zh", "question"),
        ]  # fmt: skip
        dots = [s.path.count("M") // (2 if s.role == "question" else 1) for s in drawing.series]
        assert sum(dots) == space.MOST_POINTS
        numbers = [int(n) for s in drawing.series for n in re.findall(r"M(\d+) ", s.path)]
        assert min(numbers) >= 0 and max(numbers) <= space.WIDTH


def test_points_on_one_spot_can_be_drawn(pool):
    rows = [
        {"encoder": "chargram", "language": lang, "role": "question", "x": 0.0, "y": 0.0, "text_id": "a"}
        for lang in ("en", "zh")
    ]
    results = replace(pool.results(), tables={"points": pa.Table.from_pylist(rows)})
    (drawing,) = space.space([results], encoders(results)).drawings
    assert drawing.label == "chargram" and drawing.series[0].path.startswith("M489 400h22")


def test_worst_questions_show_what_was_ranked_above_and_then_the_answer(pool):
    results = pool.results()
    shown = texts.worst([results], encoders(results))
    assert [label for label, _ in shown] == ["balanced_mix", "english-only-dual-encoder_v2", "chargram"]
    question = shown[0][1][0]
    assert question.asked.remark == "AP 0.001, its best answer at rank 412.5"
    assert [said.kind for said in question.ranked] == ["above"] * 4 + ["answer"]
    assert question.ranked[-1].remark == "413"


def test_hubs_come_with_their_texts_the_largest_first(pool):
    results = pool.results()
    label, shown = texts.hubs([results], encoders(results))[0]
    assert label == "balanced_mix" and len(shown) == texts.MOST_HUBS
    assert shown[0].remark == "found by 900 questions (10.1 expected), relevant to none"


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


def test_too_many_languages_for_the_terminal_point_to_the_report(pool):
    results = pool.results()
    many = changed(results, "balanced_mix", languages=[f"l{i}" for i in range(11)])
    assert "11 × 11 have no room here, --report shows them" in printed(many, 120)


def test_only_results_that_look_at_languages_are_shown_that_way(pool):
    assert multilingual_pool.has_views(pool.results())
    assert not multilingual_pool.has_views(without(pool.results(), *VIEWS, "monolingual_pool"))


def test_names_of_measures_and_pairs(pool):
    names = ["AP", "AP@20/min", "RR", "R@10", "Success@10", "RR@10", "P@5"]
    assert [words.measure_name(TASK, name) for name in names] == [
        "mAP",
        "mAP@20/min",
        "MRR",
        "R@10",
        "Success@10",
        "MRR@10",
        "P@5",
    ]
    assert (
        words.pair("ar", "pool") == "questions in Arabic (ar)"
        and words.pair("all", "pool") == "all questions"
    )
    assert tables.measures([replace(pool.results(), summary=pool.results().summary[::-1])], TASK)[0] == "AP"


def test_amounts_and_shares_in_words():
    assert [wording.ordinal(n) for n in (1, 11, 21, 112)] == ["first", "11th", "21st", "112th"]
    assert wording.share_interval(0.02, Interval(-0.0001, 0.04, 0.95, "t")) == "2.00 % [−0.01, 4.00]"
    assert wording.share_interval(None, None) == "–" and wording.amount(None) == "–"
