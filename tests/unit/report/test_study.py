"""The page and the terminal of a blind study: what they say, and that nothing is cut or let through."""

from __future__ import annotations

import importlib.util
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.console import Console

from xlingual.cli.report import report
from xlingual.errors import InputError
from xlingual.report import as_html, page_of, verdict, write_report
from xlingual.report.axis import log_axis_for
from xlingual.report.colours import contrast
from xlingual.report.figures.study import NARROW, ROOMY, drawing, people_against_bkr, scores_bar
from xlingual.report.marking import marked, plain
from xlingual.report.render import html, terminal
from xlingual.report.shapes import Drawing, Shape
from xlingual.report.study_views import better_first, ratio, signed, times, turned
from xlingual.report.table import Row, Table
from xlingual.results import Interval
from xlingual.results.study import LEFT_OUT, OF_PLANNED, RaterAgreement, StudyAnalysis

HERE = Path(__file__).parent


def module(path: Path) -> Any:
    """Return a module of a folder that is not a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


made, balanced = module(HERE / "study_made.py"), module(HERE / "balanced.py")
KINDS = sorted(made.ALL)
HOSTILE = "<b onclick=\"x\">é</b> & 'co'"


def shown(analysis: StudyAnalysis, width: int) -> str:
    out = StringIO()
    terminal.show(Console(file=out, width=width), page_of(analysis))
    return out.getvalue()


def rows_of(analysis: StudyAnalysis, title: str) -> list[Row]:
    """Return the rows of a table of the page."""
    blocks = [block for section in page_of(analysis).sections for block in section.blocks]
    return [
        row for block in blocks if isinstance(block, Table) and block.title == title for row in block.rows
    ]


def pair_rows(analysis: StudyAnalysis) -> list[Row]:
    return rows_of(analysis, "Against each other")


def told(analysis: StudyAnalysis) -> str:
    return "\n".join(verdict(analysis))


def test_the_verdict_begins_with_what_people_found() -> None:
    first, second, third, *_ = verdict(made.analysis())
    assert first == (
        "People found 2.1 times [1.3, 3.4] as many very relevant suggestions with ‘b’ as with ‘a’, "
        "2.30 against 1.10 per query (p = 0.004)."
    )
    assert second == (
        "The mean score (lower is better) points the same way: 2.18 with ‘b’ and 2.70 with ‘a’, a "
        "difference of −0.52 [−0.84, −0.20] (p = 0.011)."
    )
    assert third == (
        "Of 20 queries, ‘b’ has the better suggestions on 12 and ‘a’ on 5, and 3 are even: a win rate of "
        "68 % [50 %, 83 %]."
    )


def test_few_raters_and_agreement_are_explained() -> None:
    text = told(made.analysis())
    assert "The intervals are about these 3 raters" in text and "fewer than 5" in text
    assert "Raters agree fairly well (Krippendorff's alpha 0.71 [0.62, 0.79]" in text
    assert "both were resampled" in told(made.many_raters())
    one = told(made.one_rater())
    assert one.startswith("One rater found 2.1 times")
    assert "All scores come from one rater" in one and "one volunteer and 20 queries" in one
    assert "Krippendorff" not in one


@pytest.mark.parametrize(
    ("alpha", "low", "words"),
    [
        (0.85, 0.7, "Raters agree closely"),
        (0.8, 0.7, "Raters agree closely"),
        (0.79, 0.7, "Raters agree fairly well"),
        (0.4, 0.1, "Raters agree only in part"),
        (0.4, -0.1, "not shown to agree more than by luck"),
        (-0.2, -0.4, "not shown to agree more than by luck"),
        (None, None, "How far raters agree is not known: All scores are equal."),
    ],
)
def test_agreement_in_words(alpha: float | None, low: float | None, words: str) -> None:
    ci = None if low is None else made.ci(low, 0.9)
    agreement = RaterAgreement(alpha, ci, 40, None if alpha is not None else "All scores are equal")
    assert words in told(made.analysis(agreement=agreement))


def test_no_difference_is_not_told_as_equal() -> None:
    text = told(made.level())
    assert text.startswith("No difference is shown between ‘a’ and ‘b’: people found 1.2 times [0.80, 1.9]")
    assert "does not mean that they are equal" in text


def test_an_interval_at_odds_with_the_test_is_told() -> None:
    edge = made.level_pair("a", "b", ratio=1.5, ratio_ci=made.ci(1.01, 2.3), p_permutation=0.06)
    lead = verdict(made.analysis(pairs=[edge]))[0]
    assert lead.startswith("No difference is shown") and "The interval excludes 1, but the test" in lead
    assert "does not mean that they are equal" not in lead
    other = made.pair("a", "b", ratio_ci=made.ci(0.2, 1.02))
    assert "The interval contains 1, but the test" in verdict(made.analysis(pairs=[other]))[0]
    assert "the test decides" not in told(made.analysis()) + told(made.level())


def test_bkr_that_says_the_same_or_the_other() -> None:
    same = told(made.analysis())
    assert "BkR R@10 on the same queries points the same way: ‘b’ less ‘a’ is +0.300 [+0.100, +0.500]" in same
    assert "the two differences go together (correlation 0.41 [0.05, 0.70])" in same
    other = told(made.level())
    assert "points the other way: ‘a’ less ‘b’ is +0.050 [−0.100, +0.200] (which may be luck)" in other
    assert "are not shown to go together" in other
    assert "points the same way for 2 of 3 pairs, and the other way for 1" in told(made.three())
    assert "BkR" not in told(made.analysis(bkr=[]))
    assert "is not known: <em>no</em>." in told(made.hostile())


def test_three_systems_are_ordered_and_told_apart() -> None:
    first, apart, not_apart, *_ = verdict(made.three())
    assert first == (
        "People found the most very relevant suggestions with triplet-xl: 2.30 per query (46 % of its "
        "suggestions), against 1.90 with triplet and 1.10 with labse."
    )
    assert apart == (
        "Shown to differ: triplet-xl from labse (2.1 times [1.3, 3.4], p = 0.012) and triplet from labse "
        "(1.7 times [1.1, 2.9], p = 0.034). p is corrected for 3 pairs; intervals are not."
    )
    assert not_apart == "Not shown to differ: triplet-xl from triplet (1.2 times [0.80, 2.0], p = 0.310)."
    firsts = [row.cells[0].marked for row in pair_rows(made.three())]
    assert firsts == ["triplet-xl against triplet", "triplet-xl against labse", "triplet against labse"]
    none = replace(made.three(), pairs=[made.level_pair(p.first, p.second) for p in made.three().pairs])
    assert "No difference between two systems is shown: triplet from triplet-xl" in told(none)
    assert told(none).count("p is corrected for 3 pairs") == 1
    even = made.level_pair("a", "b", wins=0, losses=0, ties=20)
    assert "‘a’ and ‘b’ are even on every query." in told(made.analysis(pairs=[even]))
    assert "nothing to compare" in told(made.analysis(systems=made.analysis().systems[:1], pairs=[], bkr=[]))


def test_zero_counts_have_their_reason() -> None:
    both, one = made.zero(both=True), made.zero()
    assert verdict(both)[0] == (
        "No suggestion of ‘a’ or ‘b’ was found very relevant. Neither system has any."
    )
    assert "0.90 against 0.00 per query (p = 0.004). 0.5 was added to both sums." in verdict(one)[0]
    assert "very relevant suggestions with ‘b’ only (as a ratio 56 times" in verdict(one)[0]
    assert "Neither system has any" not in as_html(one) and as_html(both).count("Neither system has any") == 2
    no_ratio = replace(one.pairs[0], ratio=None, ratio_ci=None, ratio_note=None)
    lead = verdict(replace(one, pairs=[no_ratio]))[0]
    assert lead.startswith("People found more very relevant suggestions with ‘b’ than with ‘a’, 0.90")
    assert lead.endswith("No ratio can be given.")


def test_an_unfinished_study_warns_of_stopping_early() -> None:
    text = told(made.analysis(n_queries=14, raters=[made.rater("1", n_missing=1), made.rater("2")]))
    assert "14 of 20 queries are rated and 1 rating that raters were asked for is missing" in text
    assert "stopping at the first difference" in text
    assert "not finished" not in told(made.analysis())
    begun = f"{LEFT_OUT}: 1 of 8 begun, of raters 2."
    assert begun in told(made.analysis(raters=[made.rater("1", n_missing=1)], warnings=[begun]))
    waiting = replace(made.analysis(), warnings=[f"100 of 300 {OF_PLANNED}: who stops …"])
    assert "The study is not finished: 100 of 300 planned ratings are in; stopping at" in told(waiting)


def test_flagged_raters_are_named_with_the_reason() -> None:
    analysis = made.many_raters()
    assert "1 rater of 7 looks inattentive: ‘7’ (40 % of controls passed, under 75 %). All" in told(analysis)
    assert "40 % of controls passed, under 75 %" in as_html(analysis)
    assert "inattentive" not in told(made.analysis())


def test_a_pair_is_told_of_the_better_system_and_turns_back() -> None:
    pair = made.pair("a", "b")
    other = better_first(pair)
    assert (other.first, other.outcome, other.wins, other.losses) == ("b", "better", 12, 5)
    assert other.ratio == pytest.approx(1 / 0.48) and other.score_ci.low == -0.84
    again = turned(other)
    assert again.ratio == pytest.approx(pair.ratio) and again.ratio_ci is not None
    assert again.ratio_ci.low == pytest.approx(0.29) and again.win_ci.high == pytest.approx(0.5)
    assert (again.score_difference, again.score_ci, again.outcome) == (0.52, pair.score_ci, "worse")
    none = made.level_pair("a", "b", ratio=None, ratio_ci=None, score_difference=0.3)
    assert better_first(none).first == "b"
    assert better_first(made.level_pair("a", "b")).first == "a"


def test_numbers_can_be_told_from_what_they_are_held_against() -> None:
    pair = made.pair("a", "b", ratio=1.3, ratio_ci=made.ci(1.004, 1.7))
    assert ratio(pair) == "1.300 [1.004, 1.700]"
    assert ratio(replace(pair, ratio=None)) == "–"
    assert ratio(replace(pair, ratio=14.2, ratio_ci=made.ci(2.04, 320.0))) == "14 [2.0, 320]"
    assert signed(0.2, Interval(0.001, 0.4, 0.95, "")) == "+0.200 [+0.001, +0.400]"
    assert times(0.0) == "0.00" and times(0.002) == "0.0020"


@given(st.lists(st.floats(1e-4, 1e4), max_size=6))
def test_the_axis_of_ratios_is_even_around_one(ratios: list[float]) -> None:
    axis = log_axis_for(ratios)
    assert axis.holds(1.0) and 0.01 <= axis.low < 1 < axis.high <= 100 and 2 <= len(axis.ticks) <= 7
    assert all(axis.holds(value) for value in ratios if 0.01 <= value <= 100)
    assert axis.at(axis.low) == 0 and axis.at(axis.high) == 100
    up, down = axis.at(1.5) - axis.at(1.0), axis.at(1.0) - axis.at(1 / 1.5)
    assert up == pytest.approx(down, abs=0.02)


def test_an_interval_beyond_the_axis_is_marked() -> None:
    wide = made.analysis(pairs=[made.pair("a", "b", ratio=0.01, ratio_ci=made.ci(0.001, 0.2))])
    bar = re.search(r'<svg class="bar"[^>]*aria-label="b against a.*?</svg>', as_html(wide), re.DOTALL)
    assert bar is not None and "›" in bar[0] and "‹" not in bar[0] and 'cx="100.0%"' in bar[0]
    assert "goes on beyond the axis" in as_html(wide)
    assert "goes on beyond the axis" not in as_html(made.analysis())


def test_the_bars_hold_all_scores_and_the_best_comes_first() -> None:
    rows = rows_of(made.three(), "All scores")
    assert [row.cells[0].text for row in rows] == ["triplet-xl", "triplet", "labse"]
    for row in rows:
        bar = row.cells[1].bar
        assert isinstance(bar, Drawing)
        assert [part.style for part in bar.shapes] == [f"score r{score}" for score in (1, 2, 3, 4)]
        widths = [float(str(part.inside[0].attributes["width"]).rstrip("%")) for part in bar.shapes]
        assert sum(widths) == pytest.approx(100, abs=0.05)
    (part,) = scores_bar(made.system("a", 0, 4.0, counts=[0, 0, 0, 12]), made.LABELS).shapes
    assert [shape.text for shape in part.inside] == ["", "100 %"] and part.title == "Not relevant: 12 (100 %)"
    nothing = made.analysis(systems=[made.system("a", 0, 4.0, counts=[0] * 4)], pairs=[])
    assert rows_of(nothing, "All scores") == [] and "All scores" not in as_html(nothing)
    assert [row.tone for row in rows_of(made.three(), "Systems")] == ["leader", "level", "behind"]


@pytest.mark.parametrize("size", [ROOMY, NARROW])
def test_people_against_bkr_stays_in_its_frame(size: Any) -> None:
    found = drawing(made.three(), size)
    width, _, _, top, _, bottom = size
    points = of_style(found, "mark above")
    assert len(points) == 3 and "BkR R@10" in [one.text for one in of_style(found, "axis-name")]
    for point, whisker in zip(points, of_style(found, "spread above"), strict=True):
        at = point.inside[0].attributes
        assert 0 <= float(at["cx"]) <= width
        assert top <= float(whisker.attributes["y1"]) <= float(at["cy"])
        assert float(at["cy"]) <= float(whisker.attributes["y2"]) <= bottom
    assert people_against_bkr(made.three()) is not None
    assert people_against_bkr(made.zero(both=True)) is None


def of_style(found: Drawing, style: str) -> list[Shape]:
    return [shape for shape in found.shapes if shape.style == style]


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_whole_and_needs_nothing_else(kind: str) -> None:
    page = as_html(made.ALL[kind]())
    parsed = balanced.parsed(page)
    assert re.search(r"""(src|href)\s*=\s*["']?http""", page) is None and "<script" not in page
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    assert page == as_html(made.ALL[kind]()) and "None" not in "".join(parsed.texts)
    assert "nan" not in page.lower().split() and "\x02" not in page and "\x03" not in page
    assert "Verdict" in page and "Raters" in page and "How to read this" in page


def test_hostile_and_right_to_left_texts_are_shown_as_they_are() -> None:
    page = as_html(made.hostile())
    assert "<b onclick" not in page and "&lt;b onclick=&#34;x&#34;&gt;é&lt;/b&gt; &amp; &#39;co&#39;" in page
    for text in ("<i>", "<u>1", "<s>", "<em>", "<script", "<k>", "<v>", "<p>warned", "<b>ممتاز"):
        assert text not in page
    assert "<bdi>מודל-ב</bdi>" in page and page.count("<bdi>מודל-ב</bdi> against <bdi>&lt;b onclick") == 3
    assert "“&lt;b&gt;ممتاز&lt;/b&gt;” suggestions" in page


def test_names_are_set_apart_where_they_stand_not_where_they_look_alike() -> None:
    page = as_html(made.analysis())
    assert "<bdi>a</bdi>, 2.30 against 1.10" in page and "<bdi>a</bdi> difference" not in page
    sentence = f"{marked('a')} & {marked('long <name>')}"
    shown_on_page = html._environment([]).from_string("{{ x | apart }}").render(x=sentence)
    assert shown_on_page == "<bdi>a</bdi> &amp; <bdi>long &lt;name&gt;</bdi>"
    assert plain(sentence) == "‘a’ & long <name>"
    assert plain(marked("\x02x\x03yz\x02")) == "xyz"


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.cases(4)
def test_no_number_is_cut_in_the_terminal(kind: str, width: int) -> None:
    text = shown(made.ALL[kind](), width)
    assert "…" not in text and max(map(len, text.splitlines())) <= width
    whole = " ".join(text.split())
    assert all(sentence in whole for sentence in verdict(made.ALL[kind]()))
    assert whole.startswith(verdict(made.ALL[kind]())[0])
    assert text.index("\nSystems ") < text.index("\nRaters ")


def test_long_names_do_not_cut_numbers() -> None:
    long = "a-rather-long-name-of-an-encoder-that-somebody-gave-with-a-version"
    found = made.analysis(
        systems=[made.system("a", 1.1, 2.7), made.system(long, 2.3, 2.18)],
        pairs=[made.pair("a", long)],
        bkr=[],
    )
    text = shown(found, 80)
    for number in ("2.30", "[1.80, 2.80]", "2.1", "[1.3, 3.4]", "−0.52"):
        assert number in text
    assert long in as_html(found)


def test_percentages_on_the_bars_can_be_read_in_both_colour_schemes() -> None:
    rules = re.findall(r"--part: #(\w{6}); --on: #(\w{6})", as_html(made.analysis()))
    assert len(rules) == 8
    for ground, ink in rules:
        one, other = (tuple(int(text[i : i + 2], 16) for i in (0, 2, 4)) for text in (ground, ink))
        assert contrast(one, other) >= 4.5


@pytest.mark.parametrize("given_as", ["out", "out/analysis.json"])
def test_the_report_command_makes_the_page_of_an_analysis(tmp_path: Path, given_as: str) -> None:
    made.three().write(tmp_path / "out")
    out = tmp_path / "sub" / "page.html"
    done = CliRunner().invoke(report, [str(tmp_path / given_as), "--out", str(out), "--title", "Ours"])
    assert done.exit_code == 0, done.output
    assert out.read_text(encoding="utf-8") == as_html(made.three(), title="Ours")
    both = CliRunner().invoke(report, [str(tmp_path / "out"), str(tmp_path), "--out", str(out)])
    assert isinstance(both.exception, InputError) and "holds a study analysis" in str(both.exception)
    (tmp_path / "out" / "analysis.json").rename(tmp_path / "out" / "mine.json")
    lost = CliRunner().invoke(report, [str(tmp_path / "out"), "--out", str(out)])
    assert "a study analysis under another name" in str(lost.exception)
    assert str(lost.exception).endswith("to analysis.json")


def test_the_file_is_written_or_refused(tmp_path: Path) -> None:
    write_report(made.analysis(), tmp_path / "new" / "report.html", title="My title")
    assert "<title>My title</title>" in (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is a folder"):
        write_report(made.analysis(), tmp_path)
