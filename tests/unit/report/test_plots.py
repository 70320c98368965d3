"""Plots as objects: named, shown by a notebook, saved as an SVG that any program draws."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

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
    for name in ("point", "quartiles", "grid"):  # what is drawn has a colour
        assert re.search(rf"^\.{name} \{{[^}}]*(fill|stroke): #", content, re.M)
    assert results.plot().save(path).read_text(encoding="utf-8") == content


def test_a_notebook_shows_a_plot_in_html_and_svg(results):
    plot = results.plot()
    shown = plot._repr_html_()
    assert "<figure" in shown and "prefers-color-scheme: dark" in shown and "&amp; {" not in shown
    assert plot._repr_svg_().startswith("<svg xmlns=")


def test_every_document_has_plots():
    assert issubclass(Gate, Document) and hasattr(Gate, "plots") and hasattr(Gate, "plot")
