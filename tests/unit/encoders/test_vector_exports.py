"""The recipes of how-to/encoders/use-vectors.md for exports of vector databases, run on small exports."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.encoders import text_encoders

PAGE = (Path(__file__).parents[3] / "docs/how-to/encoders/use-vectors.md").read_text(encoding="utf-8")
RECIPES = {
    code.split()[1].strip(":,"): code for code in re.findall(r"```python\n(# .*?)```", PAGE, re.DOTALL)
}
IDS = ["9b2c-00", "9b2c-02", "9b2c-01"]
VECTORS = np.array([[0.5, -1.0], [2.0, 0.25], [0.0, 1.5]], dtype=np.float32)


def qdrant(folder, ids):
    points = [
        {"id": i, "payload": {"lang": "en"}, "vector": v} for i, v in zip(ids, VECTORS.tolist(), strict=True)
    ]
    answer = {"result": {"points": points, "next_page_offset": None}, "status": "ok", "time": 0.001}
    (folder / "scroll.json").write_text(json.dumps(answer))
    return "id"


def milvus(folder, ids):
    rows = [{"pk": i, "embedding": v, "title": "a"} for i, v in zip(ids, VECTORS.tolist(), strict=True)]
    (folder / "milvus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "pk"


def pgvector(folder, ids):
    with (folder / "pgvector.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sku", "embedding"])
        writer.writerows(
            [i, json.dumps(v).replace(" ", "")] for i, v in zip(ids, VECTORS.tolist(), strict=True)
        )
    return "sku"


def elasticsearch(folder, ids):
    hits = [
        {"_index": "products", "_id": str(i), "_score": 1, "_source": {"title": "a", "embedding": v}}
        for i, v in zip(ids, VECTORS.tolist(), strict=True)
    ]
    (folder / "elasticsearch.json").write_text("\n".join(map(json.dumps, hits)) + "\n")
    return "id"


EXPORTS = {"Qdrant": qdrant, "Milvus": milvus, "pgvector": pgvector, "Elasticsearch": elasticsearch}


@pytest.mark.parametrize("ids", [IDS, [7, 9, 8]], ids=["strings", "numbers"])
@pytest.mark.parametrize("database", EXPORTS)
def test_a_recipe(database, ids, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    column = EXPORTS[database](tmp_path, ids)
    exec(compile(RECIPES[database], f"use-vectors.md, {database}", "exec"), {})
    manifest = Manifest.of([{"id": i, "lang": "en", "text": str(i)} for i in sorted(ids)])
    spec = f"vectors:{database.lower()}.parquet?column=embedding&id={column}"
    encoder = text_encoders([spec], languages=["en"])[database.lower()]
    np.testing.assert_array_equal(encoder.encode(manifest.texts(np.arange(3))), VECTORS[[0, 2, 1]])


def test_every_recipe_is_run():
    assert set(RECIPES) >= set(EXPORTS)
