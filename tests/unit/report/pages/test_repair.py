"""The page of a repair: its verdict in words, and before and after side by side."""

import re
from io import StringIO

import pytest
from rich.console import Console

from xlingual.errors import InputError
from xlingual.report import page_of, verdict
from xlingual.report.blocks import Figure, Fold, Matrix, walk
from xlingual.report.render import html, terminal, text
from xlingual.report.table import Table
from xlingual.results.repair import (
    BETTER,
    UNCHANGED,
    UNDECIDED,
    WORSE,
    BeforeAndAfter,
    Change,
    Hubs,
    PartSize,
    Repair,
    TriedRepair,
)
from xlingual.results.values import Interval

NAMES = ("chargram", "balanced_mix")  # before and after, of the made-up results
LANGUAGES = ("de", "en", "es")


def change(source, target, difference, half=0.02, before=0.4):
    ci = Interval(difference - half, difference + half, 0.95, "max-t")
    return Change(source, target, before, before + difference, difference, ci, difference - half, 0.2, 90, 45)


def repaired(pairs=None, monolingual=(), bias=None, tried=30, **more):
    pairs = {} if pairs is None else pairs
    other = [TriedRepair(f"lir:{k}", "cosine", 0.5 - k / 100) for k in range(1, tried)]
    fields = {
        "outcome": BETTER,
        "model": "model",
        "test": PartSize(45, 90, 99),
        "criterion": "mAP",
        "pairs": [
            change(s, t, pairs.get((s, t), 0.03 if s != t else 0.01)) for s in LANGUAGES for t in LANGUAGES
        ],
        **more,
    }
    return Repair(
        encoder="chargram", spec="chargram:", dim=3, alpha=0.05, delta=0.01,
        fit=PartSize(40, 80, 100), choose=PartSize(20, 50, 60),
        tried=[TriedRepair("whiten:", "csls?k=10", 0.6), *other, TriedRepair("none", "cosine", 0.1)],
        left_out=[], chosen="whiten:", similarity="csls?k=10", whole=change("all", "pool", 0.1), p=0.01,
        languages=[change(tag, "pool", 0.1) for tag in LANGUAGES],
        monolingual=[change(tag, tag, value) for tag, value in monolingual], bias=bias,
        hubs=Hubs(10, 2.0, 1.0), harmless=False, p_harmed=0.3, **fields,
    )  # fmt: skip


def printed(found, width):
    screen = Console(file=StringIO(), width=width, highlight=False)
    for section in page_of(found).sections:
        terminal.show_section(screen, section)
    return screen.file.getvalue()


@pytest.mark.parametrize(
    ("outcome", "advice"),
    [
        (UNDECIDED, "it is not shown to help: leave the encoder as it is, or test on more data"),
        (WORSE, "it makes it worse: leave the encoder as it is."),
        (BETTER, "The interval excludes zero."),
    ],
)
def test_a_model_is_recommended_only_where_it_is_shown_to_help(outcome, advice):
    found = repaired(outcome=outcome)
    assert advice in verdict(found)[0]
    facts = dict(page_of(found).facts)
    spec = "model:DIR/model::chargram:"
    assert (facts.get("use it as") == spec) == (outcome == BETTER)
    assert spec in facts.values()
    assert dict(page_of(repaired(outcome=UNCHANGED, model=None)).facts).get("use it as") is None


def test_pairs_are_those_of_the_criterion():
    said = [" ".join(verdict(repaired(criterion=one))) for one in ("mAP", "cross-lingual mAP")]
    assert "a single answer, among candidates of all languages)" in said[0]
    assert "a single answer, among candidates of the answer's language)" in said[1]
    most = {(s, t): 0.001 for s in LANGUAGES for t in LANGUAGES} | {("de", "en"): 0.1}
    assert "1 is shown to gain and 0 to lose" in " ".join(verdict(repaired(most)))


def test_the_advantage_of_the_own_language_has_an_interval():
    bias = change("all", "pool", -0.018, half=0.01, before=0.288)
    (said,) = [one for one in verdict(repaired(bias=bias)) if "advantage" in one]
    assert "goes from 0.288 to 0.270: −0.018 [−0.028, −0.008]" in said


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_has_room_for_every_column(width):
    found = repaired(bias=change("all", "pool", -0.018), monolingual=[("de", -0.01)])
    shown = printed(found, width)
    assert "left out" not in shown and max(map(len, shown.splitlines())) <= width
    assert "whiten: ←" in shown and "skewness of hubs, first 10" in shown
    assert not re.search("clearly|has a lead", shown + " ".join(verdict(found)))


def test_before_and_after_are_side_by_side_on_one_page(pool):
    results = pool.results(encoders=NAMES, languages=LANGUAGES)
    both = BeforeAndAfter(repaired(), results, "test/report.html")
    alone, page = (page_of(one) for one in (both.found, both))
    blocks = list(walk([block for section in page.sections for block in section.blocks]))
    maps = [one for one in blocks if isinstance(one, Matrix)]
    assert [[each.label for each in one.maps] for one in maps] == [[*NAMES], ["after − before"], [*NAMES]]
    figures = [one.drawing.name for one in blocks if isinstance(one, Figure)]
    assert figures == [*NAMES, *NAMES]  # the space, and how often candidates are found
    (hubs,) = [one for one in blocks if isinstance(one, Table) and one.title == "Hubs"]
    assert [row.cells[0].text for row in hubs.rows] == [*NAMES]
    assert not any(isinstance(one, Fold) and one.title == "Hubs" for one in blocks)
    shown = html.render(page)
    assert '<a href="test/report.html">test/report.html</a>' in shown
    assert verdict(both) == verdict(both.found)
    assert "href" not in html.render(page_of(BeforeAndAfter(both.found, results)))
    assert len(alone.sections) == len(page.sections) - 1
    assert printed(both, 100).count("skewness") == 1  # a terminal shows less
    for form in ("markdown", "latex", "csv"):
        assert re.search(r"balanced.*mix", text.as_text(page, form))


def test_it_is_read_with_the_evaluation_beside_it(pool, tmp_path):
    results = pool.results(encoders=NAMES, languages=LANGUAGES)
    sizes = results.entries[0].n_source, results.entries[0].n_target
    found = repaired(test=PartSize(45, *sizes))
    found.write(tmp_path)
    assert BeforeAndAfter.read(tmp_path / "repair.json") == found
    results.write(tmp_path / "test")
    for other in ({"test": PartSize(45, 90, 99)}, {"test": found.test, "model": None}):
        repaired(**other).write(tmp_path)  # the evaluation is of an earlier repair
        assert BeforeAndAfter.read(tmp_path / "repair.json") == repaired(**other)
    found.write(tmp_path)
    both = BeforeAndAfter.read(tmp_path / "repair.json")
    assert both.found == found and {row.encoder for row in both.test.summary} == {*NAMES}
    (tmp_path / "test" / "results.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="results"):
        BeforeAndAfter.read(tmp_path / "repair.json")
