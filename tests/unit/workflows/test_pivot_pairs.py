"""`data pivot-pairs`: pairs of texts with weights, as a file to train on."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.planted import TAGS, rows_of, write

from xlingual.cli.main import run
from xlingual.errors import InputError
from xlingual.workflows.pivoting import pivot_pairs
from xlingual.workflows.pivoting.text_pairs import COLUMNS


def paired(made, **options):
    return pivot_pairs(made[0], made[2], store=None, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write(tmp_path_factory.mktemp("pairs"), rows_of(60), things=25, turned=True)


def numbers(record):
    return tuple(int(record[f"{side}_id"][2:]) for side in ("anchor", "positive"))


def test_near_pairs_are_of_different_items_that_show_one_thing(tmp_path):
    made = write(tmp_path, rows_of(100, alone=True), things=25)
    found = paired(made)
    assert len(found.records) > 20 and found.map is None
    right = [i % 25 == j % 25 for i, j in map(numbers, found.records)]
    assert np.mean(right) > 0.8
    for record in found.records:
        assert tuple(record) == COLUMNS
        assert record["kind"] == "near" and 0.5 < record["weight"] < 1
        assert (record["anchor_language"], record["positive_language"]) == ("de", "en")
        i, j = numbers(record)
        assert i != j and (record["anchor"], record["positive"]) == (f"de {i}", f"en {j}")
    weights = [record["weight"] for record in found.records]
    assert weights == sorted(weights, reverse=True)
    assert f"{len(found.records)} pairs" in found.summary


@pytest.mark.parametrize("pairs_from", ["near", "same", "both"])
def test_where_pairs_come_from(made, pairs_from):
    records = paired(made, pairs_from=pairs_from).records
    same = [numbers(record) for record in records if record["kind"] == "same"]
    assert same == ([] if pairs_from == "near" else [(i, i) for i in range(60)])
    assert {record["weight"] for record in records if record["kind"] == "same"} <= {1.0}
    near = [numbers(record) for record in records if record["kind"] == "near"]
    assert all(i != j for i, j in near) and bool(near) == (pairs_from != "same")


def test_several_texts_of_an_item_stand_side_by_side(tmp_path):
    rows = rows_of(40)
    more = [{**row, "id": row["id"] + "b", "text": row["text"] + " b"} for row in rows if row["lang"] == "de"]
    more += [{**row, "id": row["id"] + "b", "text": row["text"] + " b"} for row in rows if row["id"] == "en3"]
    records = paired(write(tmp_path, rows + more), pairs_from="same").records
    assert len(records) == 41  # the second German text has a partner for item 3 alone
    (second,) = (record for record in records if record["anchor"].endswith("b"))
    assert (second["anchor_id"], second["positive_id"]) == ("de3b", "en3b")


def test_texts_help_to_choose(tmp_path):
    made = write(tmp_path, rows_of(90), things=30, noise=0.7)
    found = paired(made, text_encoder=made[1], pairs_from="near")
    assert found.map is not None and found.map != "none"
    assert found.map in found.summary
    plain = paired(made, pairs_from="near")
    right = [np.mean([i % 30 == j % 30 for i, j in map(numbers, each.records)]) for each in (found, plain)]
    assert len(found.records) > 30 and right[0] > right[1]


def test_three_languages_have_three_kinds_of_pairs(tmp_path):
    records = paired(write(tmp_path, rows_of(120, TAGS, alone=True))).records
    kinds = {(record["anchor_language"], record["positive_language"]) for record in records}
    assert kinds == {("de", "en"), ("de", "zh"), ("en", "zh")}


def test_the_same_seed_and_threads(made):
    one, other = (paired(made, threads=threads, most=40) for threads in (1, 3))
    assert one.records == other.records
    assert paired(made, most=40, seed=1).records != one.records


def test_both_formats_hold_the_same(made, tmp_path):
    found = paired(made)
    for name in ("p.parquet", "more/p.jsonl"):
        found.write(tmp_path / name)
    table = pq.read_table(tmp_path / "p.parquet")
    assert table.column_names == list(COLUMNS) and table.to_pylist() == list(found.records)
    lines = (tmp_path / "more" / "p.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == list(found.records)
    with pytest.raises(InputError, match=r"\.parquet or \.jsonl"):
        found.write(tmp_path / "p.csv")


def test_the_command(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = ["data", "pivot-pairs", str(made[0]), "--image-encoder", made[2], "--no-store", "--out"]
    assert run([*given, "p.jsonl"]) == 0
    before = (tmp_path / "p.jsonl").read_bytes()
    assert run([*given, "p.jsonl", "--pairs-from", "same"]) != 0
    assert "--force" in capsys.readouterr().err and (tmp_path / "p.jsonl").read_bytes() == before
    assert run([*given, "p.jsonl", "--pairs-from", "same", "--force", "--quiet"]) == 0
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 60
    assert run([*given, "p.csv"]) != 0
    assert run([*given, "q.parquet", "--languages", "de"]) != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.jsonl"]
