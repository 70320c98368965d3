from pathlib import Path
from sys import _getframe

import pytest

from xlingual import DataWarning, Manifest, crosslingual_retrieval, errors
from xlingual.errors import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("fr", ["ar", "en"], None),
        ("pic", ["split", "id"], None),
        ("imag", ["split", "image", "images"], "image"),
        ("EN", ["de", "en"], "en"),
        ("dee", ["en", "de"], "de"),
        ("dmi", ["dim", "seed"], "dim"),
        ("txt", ["id", "text"], "text"),
        ("tset", ["train", "test"], "test"),
        ("nope.jsonl", ["products.jsonl"], None),
        ("Images", ["id", "image"], "image"),
        ("", ["en"], None),
        ("x", ["xlr"], None),
    ],
)
def test_nearest(word, known, near):
    assert nearest(word, known) == near
    assert did_you_mean(word, known) == ("" if near is None else f" Did you mean {near!r}?")


def _lines_of(caught):
    return {(Path(one.filename), one.lineno) for one in caught if issubclass(one.category, DataWarning)}


def test_a_warning_points_to_the_line_of_the_caller(tmp_path):
    rows = [{"id": str(i), "text_en": f"a {i}", "text_de": f"b {i}"} for i in range(12)]
    manifest = Manifest.of(rows)
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "1", "lang": "en", "text": "a"}\n{"id": "2", "lang": "de", "text": ""}')
    line = _getframe().f_lineno
    with pytest.warns(DataWarning, match="empty") as of_reading:
        Manifest.read(path)
    with pytest.warns(DataWarning, match="seeds give the same sample") as of_evaluation:
        crosslingual_retrieval(manifest, "chargram", measures="R@3", seeds=2, store=None)
    assert _lines_of(of_reading) == {(Path(__file__), line + 2)}
    assert _lines_of(of_evaluation) == {(Path(__file__), line + 4)}


def test_warnings_are_raised_in_one_place():
    sources = {path: path.read_text(encoding="utf-8") for path in Path(errors.__file__).parent.rglob("*.py")}
    found = [path.name for path, source in sources.items() if "warnings.warn(" in source]
    assert found == ["errors.py"], "use `warn`, which points to the caller's line"
