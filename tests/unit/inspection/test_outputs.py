"""The page of failures, the table for viewers, and the texts nearest to any text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from xlingual import InputError, Manifest, crosslingual_retrieval
from xlingual.inspection.failures_page import write_failures_page
from xlingual.inspection.inspect import Inspected, inspect_results
from xlingual.inspection.viewer_table import write_viewer_table
from xlingual.workflows.nearest import nearest

N = 40
TEXTS = {"en": "red lamp {}", "ar": "مصباح أحمر {}", "ja": "赤いランプ{}"}
HOSTILE = "</script><img src=x onerror=alert(2)>"
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Inspected]:
    folder, rng = tmp_path_factory.mktemp("made"), np.random.default_rng(3)
    Image.fromarray(rng.integers(0, 255, (12, 12, 3), dtype=np.uint8)).save(folder / "i.png")
    rows = [
        {"id": f"i{i}", **{f"text_{tag}": form.format(i) for tag, form in TEXTS.items()}, "image": "i.png"}
        for i in range(N)
    ]
    rows[0]["text_en"] = HOSTILE
    pq.write_table(pa.Table.from_pylist(rows), folder / "m.parquet")
    base = rng.standard_normal((N, 8))
    for tag in TEXTS:
        np.save(folder / f"bad.{tag}.npy", (base + rng.standard_normal((N, 8))).astype(np.float32))
    data = Manifest.read(folder / "m.parquet")
    specs = {"bad": f"vectors:{folder}/bad.{{lang}}.npy"}
    results = crosslingual_retrieval(data, specs, measures="R@3", store=None)
    return folder, inspect_results(results, data, store=None)


def test_a_page_holds_the_worst_failures_and_no_script_of_a_text(
    made: tuple[Path, Inspected], tmp_path: Path
) -> None:
    _, inspected = made
    failures = inspected.failures().to_pylist()
    written = write_failures_page(inspected.found, inspected.looked[0], tmp_path / "f.html", most=30)
    assert (written.queries, written.left_out) == (30, len(failures) - 30)
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2 and "<img" not in page and "'unsafe" not in page
    rest = re.sub(r'id="content">.*?</script>', "", page, flags=re.S)
    assert not re.findall(r"https?:|<link|@import|url\(|fetch\(|XMLHttpRequest", rest)
    content = json.loads(re.findall(r'id="content">(.*?)</script>', page, re.S)[0])
    for row, line in zip(content["rows"], failures, strict=False):
        assert (row["query"]["id"], row["target"], row["rank"]) == (
            line["query"],
            line["target"],
            line["rank"],
        )
        assert row["near"][0]["text"] == line["retrieved_text_1"] and row["answer"]["text"] == line["answer"]
        assert row["query"]["dir"] == ("rtl" if line["source"] == "ar" else "ltr")
    assert len(content["images"]) == 1


def test_a_table_has_every_query_and_its_place(made: tuple[Path, Inspected], tmp_path: Path) -> None:
    folder, inspected = made
    specs = {"bad": f"vectors:{folder}/bad.{{lang}}.npy"}
    write_viewer_table(inspected.looked, tmp_path / "t.parquet", specs, store=None)
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert len(rows) == 6 * N
    assert sum(row["kind"] != "answered" for row in rows) == len(inspected.failures())
    places: dict[str, tuple[float, float]] = {row["query"]: (row["x"], row["y"]) for row in rows}
    vectors = np.concatenate([np.load(folder / f"bad.{tag}.npy").astype(float) for tag in TEXTS])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    spread = np.sort(np.linalg.eigvalsh(np.cov(unit.T, bias=True)))[::-1][:2]
    assert np.var(list(places.values()), axis=0) == pytest.approx(spread)
    write_viewer_table(inspected.looked, tmp_path / "t.parquet", store=None)
    (first, *_) = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert first["x"] is None and first["image"][:2] == b"\xff\xd8"
    with pytest.raises(InputError, match=r"other.*no such encoder"):
        write_viewer_table(inspected.looked, tmp_path / "t.parquet", {"other": specs["bad"]}, store=None)


class Letters:
    """Texts are near where they have the same digits."""

    identity = "letters"

    def encode(self, batch: Any) -> np.ndarray:
        return np.array(
            [[text.count(d) + 0.01 for d in "0123456789"] for text in batch.text], dtype=np.float32
        )


def test_nearest_texts_of_each_language(made: tuple[Path, Inspected]) -> None:
    folder, _ = made
    near = nearest(folder / "m.parquet", Letters(), "number 37", k=3, store=None)
    for tag, form in TEXTS.items():
        texts = [row.text for row in near[tag]]
        assert texts[0] == form.format(37) and len(texts) == 3
        assert near[tag][0].score == pytest.approx(1) and near[tag][1].above == 1
    with pytest.raises(InputError, match="the data have en"):
        nearest(folder / "m.parquet", Letters(), "x", language="fr", store=None)
    with pytest.raises(InputError, match="vectors of the data's texts alone"):
        nearest(folder / "m.parquet", f"vectors:{folder}/bad.{{lang}}.npy", "x", store=None)
