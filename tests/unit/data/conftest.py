import csv
import json

import pytest


def write_table(path, rows):
    """Write rows (mappings) in the format that the suffix of the path names; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {name: [row.get(name) for row in rows] for name in names}
        pq.write_table(pa.table(columns), path)
    elif path.suffix == ".jsonl":
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_bytes(("\n".join(lines) + "\n").encode())
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, delimiter="\t" if path.suffix == ".tsv" else ",", restval="")
            writer.writeheader()
            writer.writerows(rows)
    return path


@pytest.fixture
def table_file():
    return write_table
