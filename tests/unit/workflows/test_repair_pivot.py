"""`repair --pivot`: maps fitted on near images are tried beside the transforms, and nothing else changes."""

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.align.fit import CCA
from xlingual.align.search import steps
from xlingual.encoders import Encoder
from xlingual.encoders.transform import FittedTransform
from xlingual.errors import DataWarning
from xlingual.models.folder import ModelFolder
from xlingual.report import verdict
from xlingual.results.repair import Repair
from xlingual.workflows.repairing import repair_encoder

TAGS, DIM, ITEMS, BOTH = ("de", "en"), 40, 300, 80
SCENES = np.random.default_rng(0).normal(size=(ITEMS // 2, DIM))  # of two items each


def content(item):
    return SCENES[item // 2] + 0.3 * np.random.default_rng(item).normal(size=DIM)


class Turned(Encoder):
    """Vectors of items, turned by language, with noise."""

    content, identity = ("text",), "turned"

    def encode(self, batch, /):
        turn = {
            tag: np.eye(DIM) + 0.2 * np.random.default_rng(place).normal(size=(DIM, DIM))
            for place, tag in enumerate(TAGS)
        }
        rows = []
        for text, tag in zip(batch.text, batch.language, strict=True):
            item = int(text.split()[1])
            noise = np.random.default_rng([item, TAGS.index(tag)]).normal(size=DIM)
            rows.append((content(item) + 0.3 * noise) @ turn[tag])
        return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a manifest whose first items have texts in both languages, and the spec of its images."""
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
        for i in range(ITEMS)
        for tag in (TAGS if i < BOTH else (TAGS[i % 2],))
    ]
    path = tmp_path_factory.mktemp("images") / "images.npy"
    np.save(path, np.array([content(int(row["item"])) for row in rows], dtype=np.float32))
    return Manifest.of(rows), f"vectors:{path}"


def few_steps(*given, **more):
    """Return some of the transforms that a repair tries, so that a test is quick."""
    wanted = ("centre:", "whiten:", "procrustes:", "ridge:")
    return [each for each in steps(*given, **more) if len(each) == 1 and each[0].spec in wanted]


@pytest.fixture(scope="module")
def both(made):
    """Return the repair without the pivot and with it."""
    data, images = made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xlingual.workflows.repairing.repaired.steps", few_steps)
        with pytest.warns(DataWarning, match="have one text only"):
            plain = repair_encoder(data, Turned(), hubs=False, store=None)
        with pytest.warns(DataWarning, match="have one text only"):
            return plain, repair_encoder(data, Turned(), pivot=images, hubs=False, store=None)


def test_maps_of_near_images_win_where_translations_are_few(both):
    plain, found = (one.found for one in both)
    assert found.chosen.startswith("pivot:") and not plain.chosen.startswith("pivot:")
    assert found.outcome == "better" and found.whole.after > plain.whole.after
    assert verdict(found)[0].startswith("An image pivot: ")


def test_all_else_that_is_tried_stays_what_it_is(both):
    plain, found = ({one.spec: one.value for one in each.found.tried} for each in both)
    more = found.keys() - plain.keys()
    assert all(spec.startswith("pivot:") for spec in more) and {f"pivot:{CCA}?penalty=0.8"} < more
    assert {spec: found[spec] for spec in plain} == plain
    conditions = both[1].found.conditions
    assert conditions["pivot"].startswith("vectors:")
    assert {**both[0].found.conditions, "pivot": conditions["pivot"]} == conditions


def test_the_model_names_the_images_that_it_was_fitted_on(both, tmp_path):
    plain, found = both
    for name, one in (("plain", plain), ("found", found)):
        one.write(tmp_path / name)
        folder = ModelFolder.read(tmp_path / name / "model")
        model = FittedTransform(folder, Turned())
        assert model.fitted_images == (found.found.conditions["pivot"] if one is found else None)
    assert Repair.read(tmp_path / "found").chosen == found.found.chosen
    vectors = found.test.questions
    tags = [found.test.pool.languages[code] for code in found.test.pool.questions.language]
    moved = model.map.apply(vectors, tags)
    assert moved == pytest.approx(found.map.apply(vectors, tags), abs=1e-6)
