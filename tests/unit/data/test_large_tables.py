"""Arrow files, tables in several files, and columns that are kept out of Python's memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual.data.manifest import Manifest

ROWS = [
    {
        "id": f"r{i}",
        "lang": ("en", "de")[i % 2],
        "text": f"größe {i // 2}",
        "item": f"{i // 2}",
        "image": f"{i}.png",
    }
    for i in range(20)
]
TABLE = pa.table({name: [row[name] for row in ROWS] for name in ROWS[0]})


def write_arrow(path, table, kind):
    write = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    with pa.OSFile(str(path), "wb") as sink, write(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return path


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("suffix", [".arrow", ".feather"])
def test_arrow_files_are_manifests(tmp_path, kind, suffix):
    read = Manifest.read(write_arrow(tmp_path / f"m{suffix}", TABLE, kind))
    assert read.digest == Manifest.of(ROWS, folder=tmp_path).digest
    assert read.text[5] == "größe 2"


@pytest.mark.parametrize(
    "names",
    [
        [f"train-{i:05}-of-00003.parquet" for i in range(3)],
        [f"part-{i}.parquet" for i in (1, 2, 10)],
        [f"data-{i:05}-of-00003.arrow" for i in range(3)],
    ],
)
def test_numbered_files_are_one_table(tmp_path, names):
    for part, name in enumerate(names):
        rows = TABLE.slice(part * 7, 7)
        if name.endswith(".arrow"):
            write_arrow(tmp_path / name, rows, "stream")
        else:
            pq.write_table(rows, tmp_path / name)
    (tmp_path / "dataset_info.json").write_text("{}")
    whole = Manifest.of(ROWS, folder=tmp_path)
    assert Manifest.read(tmp_path).digest == whole.digest
    assert Manifest.read(tmp_path, rows="6:9").text == whole.text[6:9]
