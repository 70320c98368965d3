"""The figures of a validation."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

from msgspec.structs import replace

from xlingual.report import page_of
from xlingual.report.figures import labels
from xlingual.report.figures.validation import against_xlr, by_truth
from xlingual.report.render import html

made = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "validations.py")))


def texts(drawing, style):
    return [shape.text for shape in drawing.shapes if shape.style == style]


def titles(drawing):
    return [shape.title for shape in drawing.shapes if shape.style.startswith("mark")]


def test_a_telephone_gets_a_drawing_of_its_own_and_names_without_room_are_listed():
    pair = made.full().pairs[0]
    found = against_xlr(pair, "BkR", 0.5)
    large, narrow = found.drawing, found.narrow
    assert narrow.width < 360 < large.width
    assert titles(narrow) == titles(large) and len(titles(large)) == len(pair.encoders)
    for drawing in (large, narrow):
        named = set(texts(drawing, "name"))
        assert len(named) + len(drawing.unnamed) == len(pair.encoders)
        assert not named & {labels.shortened(name) for name in drawing.unnamed}
    crowd = [replace(pair.encoders[0], encoder=f"twin {i}") for i in range(30)]
    crowded = against_xlr(replace(pair, encoders=crowd), "BkR", 0.5).narrow
    assert crowded.unnamed
    shown = html.render(page_of(replace(made.full(), pairs=[replace(pair, encoders=crowd)], directions=[])))
    css = shown[: shown.index("</style>")]
    assert "min-width: 480px" not in css  # what made the page wider than a telephone


def test_points_have_whiskers_and_encoders_without_a_number_are_named():
    pair = made.full().pairs[0]
    first, *others = pair.encoders
    nothing = made.SeedScores(None, None, [None], None)
    lacking = replace(first, bkr=nothing)
    drawing = against_xlr(replace(pair, encoders=[lacking, *others]), "BkR", 0.5).drawing
    assert drawing.notes == (f"not drawn, a number is missing: \u2068{first.encoder}\u2069",)
    whiskers = [shape for shape in drawing.shapes if shape.style.startswith("spread")]
    assert len(titles(drawing)) == len(others) and len(whiskers) == 2 * len(others)


def test_encoders_are_sorted_by_true_retrieval():
    rows = list(reversed(made.pair().encoders))
    assert [row.encoder for row in by_truth(rows)] == list(made.NAMES)
