"""The line below the leaderboard, and the part of the page about the order."""

import numpy as np
import pytest

from xlingual import Manifest, backretrieval
from xlingual.evaluation.order_confidence import model
from xlingual.report.blocks import Figure, Fold, Prose, walk
from xlingual.report.pages import page_of
from xlingual.report.table import Table

N = 120


class Given:
    def __init__(self, name, vectors):
        self.identity, self.vectors = name, vectors.astype(np.float32)

    def encode(self, batch):
        (items,) = (each.index for each in batch.numberings if each.unit == "items")
        return self.vectors[items]


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    meaning = rng.standard_normal((N, 6))
    rows = [{"id": f"{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)]
    images = np.hstack([meaning, rng.standard_normal((N, 6))])
    encoders = {
        name: Given(
            name, np.hstack([meaning + size * rng.standard_normal((N, 6)), rng.standard_normal((N, 12))])
        )
        for name, size in (("good", 0.2), ("poor", 9))
    }
    return backretrieval(
        Manifest.from_rows(rows), encoders, image_encoder=Given("images", images), examples=False, store=None
    )


@pytest.fixture(scope="module")
def blocks(results):
    (section,) = page_of(results).sections[:1]
    return section.blocks


def test_the_line_is_in_both_media_below_the_board(blocks):
    for medium in ("page", "terminal"):
        shown = list(walk(blocks, medium))
        (place,) = (
            i
            for i, one in enumerate(shown)
            if isinstance(one, Prose) and ("Predicted order by true retrieval") in one.text
        )
        assert "right in about 9 of 10 such cases" in shown[place].text
        assert isinstance(shown[place - 1], Table) or medium == "page"


def test_the_part_has_the_diagram_and_the_kinds(blocks):
    (part,) = (one for one in blocks if isinstance(one, Fold) and "order of true retrieval" in one.title)
    (figure,) = (one for one in part.blocks if isinstance(one, Figure))
    spoken = [shape.title for shape in figure.drawing.shapes if shape.title]
    assert len([text for text in spoken if ": right" in text]) == len(model.fitted().bins)
    tables = [one for one in part.blocks if isinstance(one, Table)]
    assert len(tables[-1].rows) == len(model.fitted().failures)
    assert part not in list(walk(blocks, "terminal"))


def test_the_plot_without_a_name_is_still_that_of_the_leaderboard(results):
    assert results.plot().name == "bkr-r@10"
    assert results.plot("reliability").name == "reliability-on-data-sets-left-out"
