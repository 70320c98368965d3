"""Plots as objects: named, shown by a notebook, saved as an SVG that any program draws."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from tests.unit.report.pool_results import pool_results

from xlingual.errors import InputError
from xlingual.notebook import Overview
from xlingual.report.plots import plot_of
from xlingual.results.document import Document
from xlingual.results.gate import Gate


@pytest.fixture
def results(made):
    return made.synthetic(4, ["en", "de", "<b>"])


def test_results_over_pairs_have_a_plot_for_each_measure(results):
    assert list(results.plots) == ["bkr-r@10"]
    plot = results.plot()
    assert repr(plot) == "Plot('bkr-r@10')" and results.plot("bkr").name == "bkr-r@10"


def test_a_saved_svg_stands_alone(results, tmp_path):
    path = results.plot().save(tmp_path / "new" / "plot.svg")
    content = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in content and "@media" not in content and "<script" not in content
    texts = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"encoder_01", "encoder_04"} <= set(texts)
    assert "BkR R@10" in texts and "every dot is a language pair" in texts
    for name in ("point", "quartiles", "grid"):  # what is drawn has a colour
        assert re.search(rf"^\.{name} \{{[^}}]*(fill|stroke): #", content, re.M)
    assert results.plot().save(path).read_text(encoding="utf-8") == content


def test_every_plot_of_a_pool_is_an_svg_with_its_legend():
    plots = pool_results().plots
    assert "own-language-against-other-languages" in plots and len(plots) > 2
    for name, plot in plots.items():
        root = ElementTree.fromstring(plot.svg())  # well-formed: no attribute twice
        texts = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
        assert plot.title in texts and len(texts) > 2, name
        if name.startswith("the-space"):
            assert any(text.endswith(", questions") for text in texts)


def test_colours_that_stand_out_are_plain_too(results):
    content = results.plot().svg()
    assert ".journey .mark.w0 { fill: #c75000" in content and "--own" not in content


def test_a_notebook_shows_a_plot_in_html_and_svg(results):
    plot = results.plot()
    shown = plot._repr_html_()
    assert "<figure" in shown and "prefers-color-scheme: dark" in shown and "&amp; {" not in shown
    assert plot._repr_svg_().startswith("<svg xmlns=")


def test_what_cannot_be_drawn_says_so(results, tmp_path):
    with pytest.raises(
        InputError, match=r"no plot 'scatter' of this Results: name one.* Its plots: bkr-r@10"
    ):
        results.plot("scatter")
    with pytest.raises(InputError, match=r"written as \.svg or \.html: name it plot\.svg"):
        results.plot().save(tmp_path / "plot.png")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="this Overview has no plots"):
        plot_of(Overview("texts", 1, {"en": 1}, 0))


def test_every_document_has_plots():
    assert issubclass(Gate, Document) and hasattr(Gate, "plots") and hasattr(Gate, "plot")
