"""What stands out in figures: highlighted encoders, one seed's points, and named language pairs."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.stats import pearsonr, spearmanr

from xlingual.report import Emphasis, as_html, page_of
from xlingual.report.blocks import Figure, walk
from xlingual.report.emphasis import COLOURS, MOST, mark_of
from xlingual.report.figures.validation import Shown, coefficients_of, legend_against_xlr

HERE = Path(__file__).parent
made_validations = SimpleNamespace(**run_path(str(HERE / "validations.py")))


def marks(drawing):
    return [shape for shape in drawing.shapes if shape.style.startswith("mark")]


def test_every_mark_differs_in_shape_and_colour_together():
    assert len({mark_of(place) for place in range(MOST)}) == MOST
    assert (
        len({shape for shape, _ in map(mark_of, range(3))})
        == len({c for _, c in map(mark_of, range(3))})
        == 3
    )
    css = as_html(made_validations.full())
    assert all(f".{name}" in css for name in COLOURS)


def seeded():
    """Return a validation in which no two seeds have the same scores."""
    rng = np.random.default_rng(0)
    full = made_validations.full()

    def drawn(scores):
        per_seed = np.round(rng.random(3), 3).tolist()
        return replace(scores, mean=float(np.mean(per_seed)), per_seed=per_seed)

    def encoder(row):
        return replace(row, xlr=drawn(row.xlr), bkr=drawn(row.bkr), sim=drawn(row.sim), corr=drawn(row.corr))

    pairs = [replace(pair, encoders=[encoder(row) for row in pair.encoders]) for pair in full.pairs]
    return replace(full, pairs=pairs, request={"seed": 7})


def test_points_of_one_seed_are_its_values_with_its_coefficients():
    validation = seeded()
    page = page_of(validation, emphasis=Emphasis(seed=8))
    figures = [b for s in page.sections for b in walk(s.blocks) if isinstance(b, Figure)]
    pair = validation.pairs[0]
    for figure, measure in zip(figures, ("BkR", "SIM", "CORR"), strict=False):
        drawing = figure.drawing
        x, y = ([row.scores[name].per_seed[1] for row in pair.encoders] for name in ("XLR", measure))
        wanted = {f"XLR {a:.3f}, {measure} {b:.3f}" for a, b in zip(x, y, strict=True)}
        assert {shape.title.partition(": ")[2] for shape in marks(drawing)} == wanted
        said = [shape.text for shape in drawing.shapes if shape.style == "remark-text"]
        assert said == [
            f"Pearson {pearsonr(x, y)[0]:.3f}".replace("-", "−"),
            f"Spearman {spearmanr(x, y)[0]:.3f}".replace("-", "−"),
        ]
        assert drawing.hint == "seed 8" and not any(s.style.startswith("spread") for s in drawing.shapes)
    assert not any("over seeds" in key.text for key in legend_against_xlr(0.5, Shown(1, 8)))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_coefficients_are_those_of_scipy(points):
    x, y = ([float(point[side]) for point in points] for side in (0, 1))
    found = coefficients_of(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert set(found.values()) == {None}
    else:
        assert found["pearson"] == pytest.approx(pearsonr(x, y)[0], abs=1e-9)
        assert found["spearman"] == pytest.approx(spearmanr(x, y)[0], abs=1e-9)
    assert set(coefficients_of(x[:2], y[:2]).values()) == {None}
