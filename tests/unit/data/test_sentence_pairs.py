"""Files of scored sentence pairs: every format, SemEval's own, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual.data.sentence_pairs import SentencePairs
from xlingual.errors import DataWarning, InputError

ROWS = [
    {"id": f"p{i}", "score": float(i), "sentence1": f'a "quoted" {i}', "sentence2": f"b, {i}"}
    for i in range(5)
]
FORMATS = ("parquet", "jsonl", "csv", "tsv")


def written(folder: Path, rows: list[dict[str, Any]], kind: str, name: str = "pairs") -> Path:
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    if kind == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path
    mark = "," if kind == "csv" else "\t"

    def quoted(value: Any) -> str:
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    lines = [mark.join(rows[0]), *(mark.join(quoted(value) for value in row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_holds_the_same(tmp_path: Path, kind: str) -> None:
    pairs = SentencePairs.read(written(tmp_path, ROWS, kind))
    assert (pairs.name, list(pairs.ids), len(pairs), pairs.n_unscored) == (
        "pairs",
        [f"p{i}" for i in range(5)],
        5,
        0,
    )
    assert pairs.score.tolist() == [0, 1, 2, 3, 4]
    assert list(pairs.first) == [row["sentence1"] for row in ROWS]
    assert list(pairs.second) == [row["sentence2"] for row in ROWS]
    assert pairs.digest == SentencePairs.read(written(tmp_path, ROWS, "jsonl", "other")).digest


@pytest.mark.parametrize("kind", FORMATS)
def test_pairs_without_a_score_are_counted_and_left_out(tmp_path: Path, kind: str) -> None:
    rows = [*ROWS, {"id": "none", "score": None, "sentence1": "x", "sentence2": "y"}]
    path = written(tmp_path, rows, kind)
    with pytest.warns(DataWarning, match=r"1 of 6 pairs have no score and are left out"):
        pairs = SentencePairs.read(path)
    assert (len(pairs), pairs.n_unscored, "none" in pairs.ids) == (5, 1, False)


@pytest.mark.parametrize("first", ['3.5\tone "half\tquote', "\tno score\there"])
@pytest.mark.parametrize("ending", ["tsv", "txt"])
def test_semeval_files_have_no_header_and_no_quotes(tmp_path: Path, first: str, ending: str) -> None:
    path = tmp_path / f"2014.images.test.{ending}"
    rest = "".join(f"{i}\ta '{i}\tb \"{i}\r\n" for i in range(5))
    path.write_bytes(f"{first}\n{rest}\n".encode())
    if first.startswith("\t"):
        with pytest.warns(DataWarning, match="1 of 6 pairs"):
            pairs = SentencePairs.read(path)
    else:
        pairs = SentencePairs.read(path)
        assert pairs.first[0] == 'one "half'
    assert pairs.name == "2014.images.test"
    assert (pairs.score.tolist()[-5:], pairs.second[-1]) == ([0, 1, 2, 3, 4], 'b "4')


def test_semeval_s_two_files(tmp_path: Path) -> None:
    path = tmp_path / "STS.input.images.txt"
    path.write_text("".join(f'a "{i}\tb {i}\tsource\n' for i in range(6)))
    gold = tmp_path / "STS.gs.images.txt"
    gold.write_text("0.5\n1\n\n3\n4\n5\n")
    with pytest.warns(DataWarning, match="1 of 6"):
        pairs = SentencePairs.read(path)
    assert pairs.score.tolist() == [0.5, 1, 3, 4, 5] and list(pairs.first[:1]) == ['a "0']
    gold.write_text("1\n2\n")
    with pytest.raises(InputError):
        SentencePairs.read(path)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "1\ta\tb\n",
        "score\tsentence1\tsentence2\n" + "1\ta\tb\n" * 5,
        "x\ta\tb\n" * 5,
        "".join(f"{i}\ta\t{'' if i == 3 else 'b'}\n" for i in range(5)),
        "1\ta\tb\n2\ta\n",
        "score\tsentence1\tsentence2\n" + "".join(f"{s}\ta\tb\n" for s in (1, 2, 3, "inf")),
    ],
)
def test_what_gives_no_correlation_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(content)
    with pytest.raises(InputError):
        SentencePairs.read(path)
