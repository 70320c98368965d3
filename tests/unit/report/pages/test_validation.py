"""The page of a validation in HTML, a terminal and CSV."""

import csv
import io
import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console

from xlingual.cli.report import report
from xlingual.errors import InputError
from xlingual.report import page_of, write_report
from xlingual.report.blocks import walk
from xlingual.report.render import html, terminal, text
from xlingual.report.table import Table

HERE = Path(__file__).parents[1]
made = SimpleNamespace(**run_path(str(HERE / "validations.py")))
parsed = SimpleNamespace(**run_path(str(HERE / "balanced.py"))).parsed
SHAPES = {
    "full": made.full,
    "bare": made.bare,
    "no pairs": lambda: replace(made.bare(), pairs=[]),
}


def shown(validation, width):
    out = io.StringIO()
    terminal.show(Console(file=out, width=width, highlight=False), page_of(validation))
    return out.getvalue()


def rendered(validation, **more):
    return html.render(page_of(validation, **more))


def all_tables(validation):
    sections = page_of(validation).sections
    return [block for one in sections for block in walk(one.blocks) if isinstance(block, Table)]


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_are_well_formed_self_contained_and_repeatable(shape, tmp_path):
    page = rendered(SHAPES[shape]())
    found = parsed(page)
    assert not {tag for tag, _ in found.tags} & {"script", "link", "iframe", "object", "base", "form", "b"}
    assert "url(" not in page and "@import" not in page and "http" not in page.replace("http-equiv", "")
    spoken = [value for _, attributes in found.tags for value in attributes.values() if value]
    assert not re.search(r"\b(nan|NaN|None|inf)\b", " ".join([*found.texts, *spoken]))
    write_report(SHAPES[shape](), tmp_path / "new" / "a.html")
    assert (tmp_path / "new" / "a.html").read_bytes() == page.encode()


def test_the_page_holds_every_number_and_name():
    validation = made.full()
    found = parsed(rendered(validation, title="Mine & yours"))
    texts = {text.strip() for text in found.texts}
    assert {"Mine & yours", "one <i>warning</i>", "1.5 s", "abc123", "0.0274"} <= texts
    for table in all_tables(validation):
        cells = [cell for row in table.rows for cell in row.cells]
        assert {part for cell in cells for part in (cell.text, cell.interval) if part} <= texts
    for name in made.NAMES:
        assert name in texts
    assert any("N = 1,500" in text and "0.0067" in text for text in texts)


def test_names_of_any_script_are_isolated_and_points_have_tooltips():
    page = rendered(made.full())
    assert "<bdi>אבג</bdi>" in page and "<bdi>&lt;b&gt;&amp;&#34;</bdi>" in page
    found = parsed(page)
    for name in made.NAMES:
        panels = sum(f"\u2068{name}\u2069" in text for text in found.texts)
        assert panels == 8  # three, one of them in two sizes, of two pairs
    assert (
        sum(tag == "polyline" for tag, _ in found.tags) == 4
    )  # dims and noise of the first pair, in two sizes


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.cases(4)
def test_the_terminal_cuts_nothing(width, shape):
    validation = SHAPES[shape]()
    printed = shown(validation, width)
    assert "…" not in printed and max(len(line) for line in printed.splitlines()) <= width
    words = printed.split()
    for table in all_tables(validation):
        kept = [i for i, c in enumerate(table.columns) if c.kind != "name" and c.key != "BkR normalised"]
        cells = [row.cells[i].plain for row in table.rows for i in kept]
        assert set(" ".join(cells).split()) <= set(words)
    assert ("Williams" in printed) == (shape == "full")


def test_a_folder_of_a_validation_becomes_a_report(tmp_path):
    made.full().write(tmp_path / "v")
    out = tmp_path / "page.html"
    done = CliRunner().invoke(report, [str(tmp_path / "v"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_text(encoding="utf-8") == rendered(made.full())
    both = CliRunner().invoke(report, [str(tmp_path / "v"), str(tmp_path), "--out", str(out)])
    assert isinstance(both.exception, InputError) and "give it alone" in str(both.exception)
    with pytest.raises(InputError, match="is a folder"):
        write_report(made.full(), tmp_path)


def test_csv_has_every_number_at_full_precision_with_its_pair_and_table():
    first = made.full().pairs[0]
    records = list(csv.DictReader(io.StringIO(text.as_csv(page_of(made.full())))))
    own = [one for one in records if one["section"] == "en → he"]
    agreement = next(one for one in own if one["table"] == "Agreement with XLR over encoders")
    found = first.subsets["all"].agreement["BkR"]["pearson"]
    assert [float(agreement[name]) for name in ("mean", "se", "sd", "of means")] == [
        found.mean,
        found.se,
        found.sd,
        found.value,
    ]
    assert float(agreement["of means_low"]) == found.ci.low
    weak = [one["encoders with XLR"] for one in own if one["table"] == "Weak and strong encoders"]
    assert weak.count("below 0.5 (3)") == len(made.MEASURES)
    encoder = next(one for one in own if one["encoder"] == made.NAMES[2])
    assert float(encoder["BkR_sd"]) == first.encoders[2].scores["BkR"].sd
    assert any(one["section"] == "Directions" for one in records)


def test_texts_name_the_pair_above_its_tables():
    page = page_of(made.full())
    assert "### en → he" in text.markdown(page).splitlines()
    assert "% he → en" in text.latex(page).splitlines()
