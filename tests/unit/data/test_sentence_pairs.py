"""Files of scored sentence pairs: every format, SemEval's own, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual.data.sentence_pairs import SentencePairs, parse_columns, read_sentence_pairs
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


def test_the_digest_tells_what_matters() -> None:
    base = SentencePairs("n", "f", ["1", "2"], pa.array([1.0, 2.0]).to_numpy(), ["a", "b"], ["c", "d"])
    same = SentencePairs("other", "g", ["1", "2"], base.score, ["a", "b"], ["c", "d"], 7)
    swapped = SentencePairs("n", "f", ["1", "2"], base.score, ["c", "d"], ["a", "b"])
    scored = SentencePairs("n", "f", ["1", "2"], base.score + 1, ["a", "b"], ["c", "d"])
    assert base.digest == same.digest
    assert len({base.digest, swapped.digest, scored.digest}) == 3


@pytest.mark.parametrize("kind", FORMATS)
def test_pairs_without_a_score_are_counted_and_left_out(tmp_path: Path, kind: str) -> None:
    rows = [*ROWS, {"id": "none", "score": None, "sentence1": "x", "sentence2": "y"}]
    path = written(tmp_path, rows, kind)
    with pytest.warns(DataWarning, match=r"1 of 6 pairs have no score and are left out"):
        pairs = SentencePairs.read(path)
    assert (len(pairs), pairs.n_unscored, "none" in pairs.ids) == (5, 1, False)


def test_rows_are_numbered_where_there_are_no_ids(tmp_path: Path) -> None:
    rows = [{name: row[name] for name in ("score", "sentence1", "sentence2")} for row in ROWS]
    rows.insert(0, {"score": None, "sentence1": "x", "sentence2": "y"})
    with pytest.warns(DataWarning):
        assert list(SentencePairs.read(written(tmp_path, rows, "jsonl")).ids) == ["2", "3", "4", "5", "6"]


def test_columns_of_other_names(tmp_path: Path) -> None:
    rows = [{"label": i, "a": f"x {i}", "b": f"y {i}", "n": f"k{i}"} for i in range(4)]
    columns = parse_columns("score=label, sentence1=a,sentence2=b,id=n")
    pairs = SentencePairs.read(written(tmp_path, rows, "csv"), columns)
    assert (pairs.score.tolist(), list(pairs.ids), pairs.first[3]) == (
        [0, 1, 2, 3],
        ["k0", "k1", "k2", "k3"],
        "x 3",
    )


@pytest.mark.parametrize(
    ("text", "words"), [("score", "ROLE=NAME"), ("=x", "no column"), ("scor=x", "Did you mean 'score'")]
)
def test_columns_that_are_named_wrongly(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_columns(text)


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


def test_a_header_of_three_columns_is_a_header(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text("score\tsentence1\tsentence2\n" + "".join(f"{i}\ta{i}\tb{i}\n" for i in range(4)))
    assert len(SentencePairs.read(path)) == 4


def some(**changes: Any) -> list[dict[str, Any]]:
    return [{**row, **changes} for row in ROWS]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"sentence1": "a", "sentence2": "b"}], r"no column 'score' \(--columns score=NAME .*sentence1"),
        (
            [{"score": 1, "sentence1": "a", "Sentence2": "b"}] * 5,
            "no column 'sentence2'.*Did you mean 'Sentence2'",
        ),
        (some(score="much"), "row 1, column 'score': found 'much' where a score is expected"),
        (some(score=True), "found the truth value True where a score"),
        (some(score=[1]), "found a list where a score"),
        (some(score="inf"), "the score inf is no number"),
        (some(score=None), "none of the 5 pairs has a score"),
        (some(score=2), r"all 5 scores \(column 'score'\) are 2"),
        (some(sentence2=" "), "row 1, column 'sentence2': the pair has a score but no sentence"),
        (some(sentence1=4), "column 'sentence1': found the number 4 where a text"),
        (some(id="x"), "rows 1 and 2 have the same id 'x'"),
        (ROWS[:1], "1 pair has a score: a correlation needs at least 4"),
        (ROWS[:3], "3 pairs have a score"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, rows: list[dict[str, Any]], words: str) -> None:
    path = written(tmp_path, rows, "jsonl")
    with pytest.raises(InputError, match=words) as caught:
        SentencePairs.read(path)
    assert "pairs.jsonl" in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    written(tmp_path, ROWS, "jsonl", "pairs2014")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "x.json").write_text("[]")
    (tmp_path / "bad.tsv").write_text("1\ta\tb\n2\tc\n")
    (tmp_path / "latin.tsv").write_bytes(b"1\ta\tb\n2\tc\t\xe9\n")
    for name, words in (
        ("pairs2015.jsonl", "no such file.*Did you mean 'pairs2014.jsonl'"),
        (".", "a folder; give a file"),
        ("empty.jsonl", "no column 'score'"),
        ("x.json", "ends in .*not in '.json'"),
        ("bad.tsv", "line 2: 2 fields where"),
        ("latin.tsv", "line 2 is not UTF-8"),
    ):
        with pytest.raises(InputError, match=words):
            SentencePairs.read(tmp_path / name)
    with pytest.raises(InputError, match="name one at least"):
        read_sentence_pairs([])


def test_files_of_one_name_are_named_by_their_folders_too(tmp_path: Path) -> None:
    for folder in ("2014", "2015"):
        (tmp_path / folder).mkdir()
    paths = [written(tmp_path / folder, ROWS, "jsonl") for folder in ("2014", "2015")]
    assert [one.name for one in read_sentence_pairs(paths)] == ["2014/pairs", "2015/pairs"]
    with pytest.raises(InputError, match="are both called '2014/pairs': give each file once"):
        read_sentence_pairs([paths[0], paths[0]])
