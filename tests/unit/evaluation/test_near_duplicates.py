"""Near-duplicates: which are found, clusters of them, warnings, and that no value moves."""

import warnings

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning
from xlingual.evaluation import near_duplicates as room
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.ranking import UnitVectors

LINES = 16  # of three variants each
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


class Table:
    """An encoder that looks vectors up by id, and has other ones for each language."""

    def __init__(self, vectors, identity="table"):
        self.vectors, self.identity = vectors, identity

    def encode(self, batch):
        noise = np.random.default_rng(len(batch.language[0])).normal(size=self.vectors.shape)
        return (self.vectors + 0.1 * noise).astype(np.float32)[[int(name) for name in batch.ids]]


class Images(Table):
    opens_images = False

    def encode(self, batch):
        return self.vectors.astype(np.float32)[[int(name) for name in batch.ids]]


def words(rng, count):
    return " ".join("".join(rng.choice(SYLLABLES, 4)) for _ in range(count))


@pytest.fixture(scope="module")
def shop():
    """Return rows, and vectors of images: three variants of each product, near-equal in texts and images."""
    rng = np.random.default_rng(0)
    line = np.repeat(np.arange(LINES), 3)
    said = {tag: [words(rng, 6) for _ in range(LINES)] for tag in ("en", "de")}
    rows = [
        {
            "id": str(i),
            "line": str(number),
            **{f"text_{tag}": f"{said[tag][number]} {i % 3}" for tag in ("en", "de")},
        }
        for i, number in enumerate(line.tolist())
    ]
    vectors = rng.normal(size=(LINES, 16))[line] + 0.05 * rng.normal(size=(3 * LINES, 16))
    return rows, vectors


def run(task, rows, vectors, cluster_column=None, **options):
    manifest = Manifest.of(rows, cluster_column=cluster_column)
    if task is not crosslingual_retrieval:
        options["image_encoder"] = Images(vectors, "images")
    if task in (backretrieval, crosslingual_retrieval):
        options["measures"] = ["R@3"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return task(manifest, text_encoders={"t": Table(vectors)}, pairs="en-de", store=None, **options)


def partition(codes):
    codes = np.asarray(codes)
    return {frozenset(np.flatnonzero(codes == code).tolist()) for code in set(codes.tolist())}


TASKS = (backretrieval, crosslingual_retrieval)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.cases(1)
def test_they_make_the_intervals_of_declared_lines_and_move_no_value(shop, task):
    plain, declared = run(task, *shop), run(task, *shop, cluster_column="line")
    found = run(task, *shop, cluster="near-duplicates")
    for a, b, c in zip(plain.entries, declared.entries, found.entries, strict=True):
        assert a.value == b.value == c.value
        assert (c.ci.low, c.ci.high) == pytest.approx((b.ci.low, b.ci.high), abs=1e-12)
        assert c.ci.high - c.ci.low > a.ci.high - a.ci.low
    names = [table["cluster"].to_pylist() for table in (declared.per_query, found.per_query)]
    assert partition(names[0]) == partition(names[1])


def test_near_images_are_relative_to_the_background_and_rarer_than_chance():
    rng = np.random.default_rng(5)
    wide = rng.normal(size=(400, 64)).astype(np.float32)
    assert room.near_cosine(UnitVectors(wide)) == pytest.approx(0.75, abs=0.02)
    shifted = room.near_cosine(UnitVectors(wide + 2))  # any two have a cosine of about .8
    assert shifted == pytest.approx(0.95, abs=0.01)
    flat = rng.normal(size=(400, 4)).astype(np.float32)  # every image has others that are near
    cosines = (flat / np.linalg.norm(flat, axis=1, keepdims=True)) @ (
        flat / np.linalg.norm(flat, axis=1, keepdims=True)
    ).T
    near = (cosines >= room.near_cosine(UnitVectors(flat))).sum(axis=1) - 1
    assert near.mean() < 0.15 < ((cosines >= 0.75).sum(axis=1) - 1).mean()
    assert room.near_cosine(UnitVectors(np.ones((5, 3), dtype=np.float32))) == 1.0
    assert room.near_cosine(UnitVectors(wide[:2])) == 1.0
