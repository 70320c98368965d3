"""Where search systems are shown, pages say system in place of encoder; names and users' texts stay."""

import csv
import io
import json

import numpy as np
import pytest

from xlingual import Manifest, SearchRun, compare, crosslingual_retrieval, gate, plan
from xlingual.report import as_html, page_of, verdict
from xlingual.report.blocks import Cards, Finding, Page, Prose, Section
from xlingual.report.marking import marked
from xlingual.report.render.text import as_text
from xlingual.report.table import Column, Table
from xlingual.report.wording import of_systems

N = 40


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No encoder is best.", "No system is best."),
        ("An encoder, an encoder; Encoders", "A system, a system; Systems"),
        ("the image encoder, --text-encoder and text encoders", None),
        (f"as {marked('my encoder')} and {marked('encoder')} do", None),
        ("out/encoder#encoder, sentence-encoder", None),
    ],
)
def test_words(text, expected):
    own = Page("report", "Encoders", [Finding([text])], [Section("Encoders", [Prose(text)], text)])
    page = of_systems(own)
    ((finding,), (section,)) = page.verdict, page.sections
    assert {finding.sentences[0], section.blocks[0].text, section.about} == {expected or text}
    assert page.title == section.title == "Systems"
    assert of_systems(own, "Encoders").title == "Encoders"


def test_what_users_wrote_stays():
    cards = Cards([("encoder", [])], data=True)
    rows = Table.of_texts(
        "encoders", (Column("encoder", "name", data=True), "value"), [("encoder", "an encoder")], where="both"
    )
    page = of_systems(Page.of("report", "x", [cards, rows]))
    (section,) = page.sections
    assert section.blocks[0] == cards
    table = section.blocks[1]
    assert [column.head for column in table.columns] == ["system", "value"]
    assert [cell.text for cell in table.rows[0].cells] == ["encoder", "a system"]
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
