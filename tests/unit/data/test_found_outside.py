"""Manifests that went wrong in the hands of others: each is read rightly, or named."""

import gzip

import pytest

from xlingual.data.check import check
from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning, InputError


def test_a_stray_quotation_mark_in_tsv_swallows_no_lines(tmp_path):
    lines = [
        "id\ttext_en\ttext_de",
        '1\t"Come in\tKomm',
        "2\ta hat\tein Hut",
        '3\ta dog"\tein Hund',
    ]
    (tmp_path / "m.tsv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError):
        Manifest.read(tmp_path / "m.tsv")
    manifest, problems = Manifest.read_gathering(tmp_path / "m.tsv")
    assert list(manifest.ids) == ["2", "2", "3", "3"] and list(problems[0].rows) == [0]


def test_packed_text_files(tmp_path):
    (tmp_path / "m.csv.gz").write_bytes(gzip.compress(b"id,text_en,text_de\n1,a,b\n"))
    (tmp_path / "m.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "text_en": "a", "text_de": "b"}\n'))
    assert Manifest.read(tmp_path / "m.csv.gz").digest == Manifest.read(tmp_path / "m.jsonl.gz").digest


def test_codes_of_other_tools_are_languages():
    rows = [{"id": i, "lang": tag, "text": f"t{i}"} for i, tag in enumerate(["eng_Latn", "zh_TW", "zh_CN"])]
    with pytest.warns(DataWarning):
        assert Manifest.of(rows).languages == ("en", "zh-Hant", "zh-Hans")


def test_texts_of_zero_width_and_backslashes_in_paths(tmp_path):
    rows = [{"text_en": "a", "text_de": "\u200b", "image": "img\\1.png"}]
    manifest = Manifest.of(rows, folder=tmp_path)
    assert len(manifest) == 1
    assert "backslashes in paths" in {finding.kind for finding in check(manifest).findings}
