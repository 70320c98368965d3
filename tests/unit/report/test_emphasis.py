"""What stands out in figures: highlighted encoders, one seed's points, and named language pairs."""

from itertools import combinations, permutations
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.stats import pearsonr, spearmanr

from xlingual.errors import InputError
from xlingual.report import Emphasis, as_html, page_of
from xlingual.report.blocks import Boxes, Figure, walk
from xlingual.report.emphasis import COLOURS, MOST, mark_of
from xlingual.report.figures import labels
from xlingual.report.figures.over_pairs import NARROW, ROOMY, name_places
from xlingual.report.figures.validation import Shown, against_xlr, coefficients_of, legend_against_xlr
from xlingual.results import by_key

HERE = Path(__file__).parent
made_validations = SimpleNamespace(**run_path(str(HERE / "validations.py")))
case_studies = SimpleNamespace(**run_path(str(HERE / "test_case_study.py")))
THREE = ("plain_2", "plain_1", "a" * 40)


def marks(drawing):
    return [shape for shape in drawing.shapes if shape.style.startswith("mark")]


def names(drawing):
    return [shape.text for shape in drawing.shapes if shape.style.split(" ")[0] == "name"]


def test_highlighted_encoders_have_marks_of_their_own_and_names_and_the_others_are_muted():
    pair = made_validations.full().pairs[0]
    found = against_xlr(pair, "BkR", 0.5, shown=Shown(highlighted=THREE))
    for drawing in (found.drawing, found.narrow):
        assert sorted(names(drawing)) == sorted(map(labels.shortened, THREE)) and not drawing.unnamed
        own = [shape for shape in marks(drawing) if "muted" not in shape.style]
        assert [shape.style for shape in own] == ["mark w0", "mark w1", "mark w2"]
        assert [shape.title.partition(":")[0].strip("\u2068\u2069") for shape in own] == list(THREE)
        assert len({shape.inside[0].name + str(sorted(shape.inside[0].attributes)) for shape in own}) >= 2
        muted = [shape for shape in marks(drawing) if "muted" in shape.style]
        assert len(own) + len(muted) == len(pair.encoders) and {s.inside[0].name for s in muted} == {"circle"}
        assert marks(drawing)[: len(muted)] == muted  # drawn first, beneath
        assert all(
            shape.style in ("name w0", "name w1", "name w2")
            for shape in drawing.shapes
            if shape.text in names(drawing)
        )
    plain = {
        shape.title: shape.inside[0].attributes for shape in marks(against_xlr(pair, "SIM", 0.5).drawing)
    }
    same = marks(against_xlr(pair, "SIM", 0.5, shown=Shown(highlighted=("nobody",))).drawing)
    assert {shape.title: shape.inside[0].attributes for shape in same} == plain
    keys = legend_against_xlr(0.5, Shown(highlighted=THREE))
    assert [key.text.strip("\u2068\u2069") for key in keys[:3]] == list(THREE)


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


def followed(page):
    """Return the texts of named pairs in the figure over pairs, and the titles of their marks."""
    blocks = [
        b for s in page.sections for b in walk(s.blocks) if isinstance(b, Figure) and b.style == "journey"
    ]
    drawings = [drawing for block in blocks for drawing in (block.drawing, block.narrow)]
    return [
        ([s.text for s in d.shapes if "pair-name" in s.style], [s.title for s in marks(d)]) for d in drawings
    ]


def test_a_case_study_follows_the_pairs_that_are_named():
    study = case_studies.study()
    page = page_of(study, emphasis=Emphasis(annotate=["en-ar", "ru:en"]))
    for texts, titles in followed(page):
        assert texts == ["en → ar", "ru → en"]
        assert len(titles) == 2 * len(study.models)
        assert [t.partition(",")[0] for t in titles] == ["en → ar"] * 4 + ["ru → en"] * 4
        values = {pair.value for pair in study.models[-1].pairs if (pair.source, pair.target) == ("en", "ar")}
        assert titles[3] == f"en → ar, TripletXL: {1000 * values.pop():.1f}"
    (section,) = [s for s in page.sections if s.title == "Over language pairs"]
    assert (
        section.about == "Every dot is a language pair; those with a name are followed from model to model."
    )
    plain = followed(page_of(study))
    assert plain[0][0] == ["ar → en", "ar → ru"]  # Triplet's worst
    with pytest.raises(
        InputError, match=r"--annotate en-id: no such language pair here\. .*There are ar-en, ar-ru"
    ):
        page_of(study, emphasis=Emphasis(annotate=["en-id"]))
    with pytest.raises(InputError, match="--highlight is for the scatter of a validation"):
        page_of(study, emphasis=Emphasis(highlight=["labse"]))


def evaluated(made, n_languages=3):
    pairs = list(permutations(("en", "zh-Hant", "pt-BR", "ru", "id")[:n_languages], 2))
    rows = [
        made.summary("backretrieval", name, "R@10", 0.1 + 0.03 * i + shift, *pair)
        for name, shift in (("good", 0.2), ("poor", 0.0))
        for i, pair in enumerate(pairs)
    ]
    rows += [made.summary("backretrieval", name, "R@10", 0.3) for name in ("good", "poor")]
    return made.results([], rows)


def test_an_evaluation_names_pairs_in_its_box_plot(made):
    results = evaluated(made)
    plain = [b for s in page_of(results).sections for b in s.blocks]
    assert any(isinstance(b, Boxes) for b in plain) and not followed(page_of(results))
    page = page_of(results, emphasis=Emphasis(annotate=["en-zh-Hant", "pt-BR-en"]))
    assert not any(isinstance(b, Boxes) for s in page.sections for b in s.blocks)
    for texts, titles in followed(page):
        assert sorted(texts) == ["en → zh-Hant", "pt-BR → en"] and len(titles) == 4
    with pytest.raises(InputError, match="--annotate en-ru: no such language pair here"):
        page_of(results, emphasis=Emphasis(annotate=["en-ru"]))
    one = made.results([], by_key(results.summary, source="en", target="pt-BR"))
    with pytest.raises(InputError, match="There are none"):
        page_of(one, emphasis=Emphasis(annotate=["en-pt-BR"]))


LONG = st.sampled_from(["en → ar", "zh-Hans → pt-BR", "ar → zh-Hant-HK", "ru → id"])


@given(st.lists(st.tuples(st.floats(0, 340), LONG), min_size=1, max_size=MOST))
def test_names_of_pairs_never_overlap(wanted):
    spots, texts = [x for x, _ in wanted], [text for _, text in wanted]
    for layout in (ROOMY, NARROW):
        places = name_places(spots, texts, layout)
        for (x, line, text), (other_x, other_line, other) in combinations(
            [(x, line, text) for (x, line), text in zip(places, texts, strict=True)], 2
        ):
            if line == other_line:
                assert abs(x - other_x) >= (labels.width_of(text) + labels.width_of(other)) / 2
        assert all(
            labels.width_of(text) / 2 <= x <= layout.width - labels.width_of(text) / 2
            for (x, _), text in zip(places, texts, strict=True)
        )
