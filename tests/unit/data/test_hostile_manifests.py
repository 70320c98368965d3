"""Damaged and odd manifests, drawn with a seed: read, or refused in one line; never a traceback or a hang.

`HOSTILE_MANIFESTS=2000 pytest …` draws more of them.
"""

import gzip
import json
import os
import random
import time
import warnings
from resource import RUSAGE_SELF, getrusage

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from xlingual.data.check import check
from xlingual.data.manifest import Manifest

N = int(os.environ.get("HOSTILE_MANIFESTS", "60"))
CELLS = [
    *("", " ", "\u200b", "a", "größe", "字", '"', '"a', 'a"b', "a\tb", "a\nb", "a\r", "\x00", "\ufeff", "01"),
    *("NaN", "null", "true", "2020-01-01", "\\", "../x", "img\\1.png", "https://x.example/1.png", "#2"),
]
ODD = [None, 0, -1, 10**30, 1.5, float("nan"), True, [], [1], {}, {"a": {}}, [[]], "\ud800", "en_US"]
NAMES = [
    *("id", "lang", "text", "item", "image", "cluster", "split", "title", "text_en", "text_de", "text_en_2"),
    *("text_zh_TW", "text_eng_Latn", "title_en", "title_de", "", "a.b", "text_", "file_name", "text_en_99"),
]
FORMATS = (".csv", ".tsv", ".jsonl", ".json", ".csv.gz", ".jsonl.gz", ".parquet", ".arrow")


def table(rng, *, odd):
    names = list(dict.fromkeys(rng.choices(NAMES, k=rng.randint(1, 9))))
    if rng.random() < 0.7:
        names = list(dict.fromkeys([*rng.choice([("lang", "text"), ("text_en", "text_de")]), *names]))
    cells = [*CELLS, *["en", "de", "eng_Latn", "EN"] * 3, *(ODD if odd else ())]
    rows = [{name: rng.choice(cells) for name in names} for _ in range(rng.randint(0, 12))]
    for number, row in enumerate(rows):
        if "id" in names and rng.random() < 0.8:
            row["id"] = str(number)
    return names, rows


def content(rng, ending):
    kind = ending.removesuffix(".gz")
    names, rows = table(rng, odd=kind in (".jsonl", ".json"))
    if kind in (".csv", ".tsv"):
        mark = "," if kind == ".csv" else "\t"
        lines = [names, *([row[name] for name in names] for row in rows)]
        raw = "\n".join(mark.join(line) for line in lines).encode()
    elif kind == ".jsonl":
        lines = [json.dumps(row) for row in rows] + rng.choice([[], ["null"], ["[1]"], ["{"], ["5"]])
        raw = "\n".join(rng.sample(lines, len(lines))).encode()
    elif kind == ".json":
        raw = json.dumps(rows).encode()
    else:
        columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in names}
        columns["nested"] = pa.array([{"a": {"b": [1]}}] * len(rows), pa.struct([("a", pa.struct([]))]))
        sink = pa.BufferOutputStream()
        if kind == ".arrow":
            with pyarrow.ipc.new_file(sink, pa.table(columns).schema) as writer:
                writer.write_table(pa.table(columns))
        else:
            columns.pop("nested")
            pq.write_table(pa.table(columns), sink)
        raw = sink.getvalue().to_pybytes()
    raw = gzip.compress(raw) if ending.endswith(".gz") else raw
    damaged = bytearray(raw)
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        if damaged:
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged[: rng.choice([len(damaged)] * 4 + [len(damaged) // 2])])


def read_or_refused(path):
    """Return whether a manifest is read; it takes 20 seconds and 1 GiB at most, and problems are one line."""
    began, memory = time.monotonic(), getrusage(RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        manifest, problems = Manifest.read_gathering(path)
        if manifest is not None:
            check(manifest, problems=problems)
    assert all("\n" not in problem.sentence for problem in problems), path
    assert manifest is not None or problems
    assert time.monotonic() - began < 20 and getrusage(RUSAGE_SELF).ru_maxrss - memory < 1 << 20, path
    return manifest is not None


@pytest.mark.parametrize("ending", FORMATS)
def test_hostile_manifests_are_read_or_refused(tmp_path, ending):
    rng, n_read = random.Random(ending), 0
    for number in range(N):
        path = tmp_path / f"{number}{ending}"
        path.write_bytes(content(rng, ending))
        n_read += read_or_refused(path)
        path.unlink()
    assert 0 < n_read < N


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("deep.jsonl", b'{"text_en": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        ("deep.json", b'[{"text_en": ' * 50_000),
        ("digits.jsonl", b'{"id": ' + b"9" * 100_000 + b', "text_en": "a"}'),
        ("quotes.csv", b"id,text_en\n" + b'1,"a\n2,b"c\n' * 50_000),
        ("quotes.tsv", b"id\ttext_en\n" + b'1\t"a\n2\tb\n' * 30_000),
        ("columns.csv", b"text_en," + b",".join(b"c%d" % i for i in range(20_000)) + b"\n" + b"," * 20_000),
        ("numbers.csv", b"id,text_en,text_en_999999\n" + b"1,a,b\n" * 100_000),
        ("bomb.csv.gz", gzip.compress(b"text_en\n" + b"a\n" * (1 << 27))),
        ("bomb.jsonl.gz", gzip.compress(b" " * (1 << 29))),
    ],
)
def test_large_hostile_manifests(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)
    read_or_refused(tmp_path / name)
