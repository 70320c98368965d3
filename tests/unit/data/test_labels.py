"""Further columns of few different values, which divide queries into parts."""

from xlingual.data.manifest import Manifest


def rows(n=20):
    return [
        {
            "id": f"i{i}",
            "text_en": f"e{i}",
            "text_de": f"d{i}" if i else "",
            "title_en": "u",
            "title_de": "t",
            "kind": "ab"[i % 2],
            "size": i % 3,
            "sold": bool(i % 2),
            "price": i / 2,
            "name": f"n{i}",
            "gap": None if i % 4 else "x",
            "split": "train" if i < 10 else "test",
        }
        for i in range(n)
    ]


def test_columns_with_few_values_are_labels_of_every_text():
    manifest = Manifest.of(rows())
    assert set(manifest.labels) == {"kind", "size", "sold", "gap", "split"}
    assert len(manifest.labels["kind"]) == len(manifest) == 39
    assert manifest.labels["size"][:3] == ["0", "1", "1"]  # the first item has one text
    assert manifest.labels["gap"][:2] == ["x", None]


def test_labels_follow_chosen_rows():
    manifest = Manifest.of(rows(), split="test")
    assert set(manifest.labels["split"]) == {"test"}
    assert len(manifest.labels["kind"]) == len(manifest) == 20


def test_columns_that_nearly_name_the_rows_are_no_labels():
    assert "kind" not in Manifest.of(rows(3)).labels  # two values in three rows


def test_an_arrow_table_and_rows_have_the_same_labels(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "m.parquet")
    assert Manifest.read(tmp_path / "m.parquet").labels == Manifest.of(rows()).labels
