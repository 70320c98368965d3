"""Where search systems are shown, pages say system in place of encoder; names and users' texts stay."""

import csv
import io
import json

import numpy as np
import pytest

from xlingual import Manifest, SearchRun, compare, crosslingual_retrieval, gate, plan
from xlingual.report import as_html, page_of, verdict
from xlingual.report.blocks import Cards, Figure, Finding, Matrix, Page, Prose, Section
from xlingual.report.marking import AN_ENCODER, CAPITAL_AN_ENCODER, CAPITAL_ENCODER, ENCODER, marked
from xlingual.report.render.text import as_text
from xlingual.report.shapes import Drawing
from xlingual.report.table import Column, Table
from xlingual.report.wording import worded

N = 40


SAID = f"{CAPITAL_AN_ENCODER} of {ENCODER}s, {AN_ENCODER}: {CAPITAL_ENCODER}"


@pytest.mark.parametrize(
    ("systems", "expected"),
    [(True, "A system of systems, a system: System"), (False, "An encoder of encoders, an encoder: Encoder")],
)
def test_the_words_are_said_wherever_a_page_has_them(systems, expected):
    drawing = Drawing((), 10, spoken=SAID, notes=(SAID,))
    heat = Matrix([], "scale", ("low", "high"))
    own = Page("report", SAID, [Finding([SAID])], [Section(SAID, [Prose(SAID), Figure(drawing), heat], SAID)])
    page = worded(own, systems=systems)
    ((finding,), (section,)) = page.verdict, page.sections
    text, figure, matrix = section.blocks
    shown = [page.title, finding.sentences[0], section.title, section.about, text.text]
    assert {*shown, figure.drawing.spoken, *figure.drawing.notes} == {expected}
    assert matrix.each == ("system" if systems else "encoder")
    assert page.evaluated == ("Systems" if systems else "Encoders")


def test_what_users_wrote_stays():
    cards = Cards([("encoder", [])], data=True)
    named = f"{marked('my encoder')}, an encoder, the image encoder"
    rows = Table.of_texts(
        "encoders", (Column(ENCODER, "name", data=True), "value"), [("encoder", named)], where="both"
    )
    page = worded(Page.of("report", "Encoders", [cards, rows], [named]), systems=True)
    (section,) = page.sections
    assert page.title == "Encoders" and page.verdict[0].sentences == [named]
    assert section.blocks[0] is cards
    table = section.blocks[1]
    assert [column.head for column in table.columns] == ["system", "value"]
    assert [cell.text for cell in table.rows[0].cells] == ["encoder", named]
    assert next(csv.reader(io.StringIO(as_text(page, "csv")))) == ["encoder", "value"]


@pytest.fixture(scope="module")
def results():
    manifest = Manifest.from_rows(
        [{"id": f"p{i}", "text_en": f"a {i}", "text_de": f"b {i}"} for i in range(N)]
    )
    rng = np.random.default_rng(0)
    en = rng.normal(size=(N, 8))
    vectors = {"en": en, "de": en + rng.normal(size=(N, 8))}
    lists = {
        f"en:p{i}": {f"de:p{j}": float(s) for j, s in enumerate(row)}
        for i, row in enumerate(en @ vectors["de"].T)
    }
    return crosslingual_retrieval(
        manifest,
        {"vectors": vectors},
        runs={"engine": SearchRun.of(lists)},
        pairs="en-de",
        measures="R@1",
        store=None,
    )


def test_pages_of_results_with_runs(results, tmp_path):
    assert results.encoders["engine"] == {"returns_lists": True}
    for found in (
        results,
        compare(results),
        gate(results.only("engine"), results.only("vectors"), margin=0.1),
        plan(results, effect=0.1),
    ):
        said = " ".join(verdict(found)) + as_html(found).partition("<main")[2].replace("text-encoder", "")
        assert "encoder" not in said.lower()
        if found is not results:
            assert found.search_systems == ["engine"]
            json.dumps(found.to_dict())
    assert page_of(results.only("vectors")).evaluated == "Encoders"
    assert compare(results).boards[0].rows[0].outcome == "baseline"
    results.write(tmp_path)
    from xlingual import Results

    assert page_of(Results.read(tmp_path)).evaluated == "Systems"
