"""Inspection of results: from an evaluation to slices, kinds of error, hubs and a list of failures."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from xlingual import InputError, Manifest, backretrieval, crosslingual_retrieval
from xlingual.inspection.evaluated import data_of
from xlingual.inspection.failures import write_failures
from xlingual.inspection.inspect import inspect_results
from xlingual.report import page_of, verdict
from xlingual.report.render import html
from xlingual.results import Results
from xlingual.results.inspection import KINDS, Inspection

pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
N, DIM = 240, 12
WORDS = ("lamp", "chair", "book", "shoe", "=SUM(A1)", "toy")


class Given:
    """Gives each text the row of its item, by language."""

    def __init__(self, **sides):
        self.sides, self.identity = sides, "given"

    def encode(self, batch):
        rows = zip(batch.language, batch.ids, strict=True)
        return np.array([self.sides[tag][int(own[1:].split("/")[0])] for tag, own in rows], dtype=np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("inspected")
    rng = np.random.default_rng(0)
    rows = []
    for i in range(N):
        category = int(rng.integers(0, 4))
        path = made / f"{i}.png"
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(path)
        own = " ".join(rng.choice(WORDS, 3))
        rows.append(
            {
                "id": f"i{i}",
                "text_en": f"{own} {i}",
                "text_de": f"das {own} {i}",
                "image": path.name,
                "category": f"c{category}",
                "price": float(i) if i % 7 else None,
            }
        )
    import pyarrow as pa

    pq.write_table(pa.Table.from_pylist(rows), made / "manifest.parquet")
    return made


@pytest.fixture(scope="module")
def encoder(folder):
    """Return an encoder that knows all categories but one, c1, and has a hub."""
    rng = np.random.default_rng(1)
    category = np.array(pq.read_table(folder / "manifest.parquet")["category"].to_pylist())
    en = rng.standard_normal((N, DIM))
    de = en + 0.3 * rng.standard_normal((N, DIM))
    de[category == "c1"] = rng.standard_normal(((category == "c1").sum(), DIM))
    return Given(en=en, de=de)


@pytest.fixture(scope="module")
def results(folder, encoder):
    return crosslingual_retrieval(
        Manifest.read(folder / "manifest.parquet"), {"a": encoder}, measures="R@3", store=None
    )


@pytest.fixture(scope="module")
def inspected(results):
    return inspect_results(results, store=None)


def test_the_damaged_category_stands_first(inspected):
    (one,) = inspected.found.encoders
    (condition,) = one.slices[0].conditions
    assert (condition.feature, condition.part) == ("category", "c1")
    assert one.slices[0].difference < -0.5
    assert one.slices[0].ci.high < 0
    assert len(one.slices[0].examples) == 5
    assert "category: c1" in verdict(inspected.found)[1]


def test_numbers_are_those_of_the_queries(results, inspected):
    (one,) = inspected.found.encoders
    value = results.per_query["value"].to_numpy()
    assert one.value == pytest.approx(value.mean())
    assert (one.n_queries, one.n_failed) == (len(value), int((value < 0.5).sum()))
    assert sum(kind.n for kind in one.kinds) == one.n_failed
    assert {kind.kind for kind in one.kinds} == set(KINDS)
    for kind in one.kinds:
        assert sum(kind.by_pair.values()) == kind.n
    first = one.slices[0]
    item = results.per_query.to_pylist()
    data = results.data
    label = dict(
        zip(zip(data.ids, data.language.tolist(), strict=True), data.labels["category"], strict=True)
    )
    inside = [
        row["value"] for row in item if label[row["query"], data.languages.index(row["source"])] == "c1"
    ]
    assert first.n == len(inside)
    assert first.value == pytest.approx(np.mean(inside))
    assert first.of_errors == pytest.approx((1 - np.array(inside)).sum() / (1 - value).sum())


def test_columns_of_numbers_are_parts_of_equal_size(inspected):
    assert inspected.found.features["price"] == 4
    assert inspected.found.features["category"] == 4


def test_the_record_and_its_page(inspected, tmp_path):
    inspected.found.write(tmp_path)
    read = Inspection.read(tmp_path)
    assert read == inspected.found
    page = html.render(page_of(read))
    assert "category: c1" in page
    assert "<script>=SUM" not in page


def test_without_examples_there_are_no_texts(results):
    (one,) = inspect_results(results, store=None, examples=False).found.encoders
    assert all(not each.examples for each in (*one.slices, *one.kinds))
    assert not one.hubs.largest
    assert not one.hubs.unfound


def test_the_list_of_failures(results, inspected, tmp_path):
    table = inspected.failures()
    failed = [row for row in results.per_query.to_pylist() if row["value"] < 0.5]
    key = [(row["source"], row["target"], row["query"]) for row in failed]
    rows = table.to_pylist()
    assert sorted((row["source"], row["target"], row["query"]) for row in rows) == sorted(key)
    nearest = results.tables["neighbours"].to_pylist()
    for row in rows[:20]:
        own = [
            one["neighbour"]
            for one in nearest
            if (one["source"], one["target"], one["query"]) == (row["source"], row["target"], row["query"])
        ]
        assert [row[f"retrieved_id_{place}"] for place in (1, 2, 3)] == own[:3]
        assert row["answer"].startswith("das ") == (row["target"] == "de")
        assert row["image"].endswith(".png")
    assert any("category: c1" in row["slices"] for row in rows)
    for name in ("failures.csv", "failures.parquet"):
        write_failures(table, tmp_path / name)
    with (tmp_path / "failures.csv").open(encoding="utf-8-sig", newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == len(rows)
    assert not any(cell.startswith("=") for line in read for cell in line.values())
    assert pq.read_table(tmp_path / "failures.parquet").equals(table)


def test_backretrieval_knows_the_way_back(folder, encoder):
    found = backretrieval(
        Manifest.read(folder / "manifest.parquet"),
        {"a": encoder},
        image_encoder="pixels:",
        measures="R@3",
        store=None,
    )
    (one,) = inspect_results(found, store=None).found.encoders
    assert one.n_failed == sum(kind.n for kind in one.kinds)
    near = next(kind for kind in one.kinds if kind.kind == "near")
    assert all(3 < example.rank <= 15 for example in near.examples)


def test_where_all_tie_no_answer_was_close(folder):
    same = np.ones((N, DIM))
    found = crosslingual_retrieval(
        Manifest.read(folder / "manifest.parquet"), {"a": Given(en=same, de=same)}, measures="R@3", store=None
    )
    (one,) = inspect_results(found, store=None).found.encoders
    assert {kind.kind: kind.n for kind in one.kinds}["near"] == 0
    assert one.n_failed == 2 * N


def test_results_without_neighbours_say_so(folder, encoder):
    found = crosslingual_retrieval(
        Manifest.read(folder / "manifest.parquet"), {"a": encoder}, store=None, neighbours=False
    )
    (one,) = inspect_results(found, store=None).found.encoders
    assert "--no-neighbours" in one.hubs.note


def test_data_are_found_again_by_the_request(folder, encoder, tmp_path, monkeypatch):
    path = folder / "manifest.parquet"
    found = crosslingual_retrieval(path, {"a": encoder}, store=None)
    found.write(tmp_path)
    read = Results.read(tmp_path)
    with pytest.raises(InputError, match="do not say which manifest"):
        data_of(read)
    assert data_of(read, path).digest == Manifest.read(path).digest
    monkeypatch.setitem(read.request, "manifest", str(path))
    assert data_of(read).digest == Manifest.read(path).digest
    monkeypatch.setitem(read.request, "manifest", "gone.parquet")
    with pytest.raises(InputError, match=r"gone.parquet, is not here"):
        data_of(read)
