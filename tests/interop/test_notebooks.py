"""The notebooks of examples/ run from top to bottom, and print what they are kept with."""

import re
from pathlib import Path

import pytest
from tests.pages.blocks import place_of

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
ABSOLUTE = re.compile(r"(?:^|[\s\"'(])(?:/(?:home|tmp|root|work|Users|usr)/|[A-Z]:\\)")


def said(notebook):
    """Return what each cell prints and shows as text, by words: how output is cut into parts is chance."""
    return [
        " ".join(one.get("text", one.get("data", {}).get("text/plain", "")) for one in cell.outputs).split()
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["comparing_models", "language_bias", "quick_start"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_kept_notebook_is_small_and_has_its_output(path):
    text = path.read_text(encoding="utf-8")
    kept = nbformat.reads(text, as_version=4)
    nbformat.validate(kept)
    assert len(text) < 300_000
    assert not ABSOLUTE.search(text)
    assert all(
        cell.outputs for cell in kept.cells[2:] if cell.cell_type == "code" and "def " not in cell.source
    )
    assert "<svg" in text and "text/html" in text


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_kept(path, tmp_path, monkeypatch):
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    kept, again = (nbformat.read(path, as_version=4) for _ in range(2))
    options = {"timeout": 300, "kernel_name": "python3", "resources": {"metadata": {"path": str(tmp_path)}}}
    nbclient.NotebookClient(again, **options).execute()
    for shown, printed in zip(said(kept), said(again), strict=True):  # numbers may be off a little
        assert place_of(" ".join(shown), " ".join(printed)) is not None, (shown, printed)
