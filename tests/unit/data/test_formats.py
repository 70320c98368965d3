import gzip
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError

SUFFIXES = (".parquet", ".jsonl", ".csv", ".tsv")
TEXTS = ["NA", "null", "1.0", "001", "a\tb", 'say "hi", please', "two\nlines", "two\r\nlines", "שלום", "👩‍🚀"]
WIDE = [
    {
        "id": f"p{i}",
        "split": "ab"[i % 2],
        "image": f"{i % 7}.png",
        "text_en": text,
        "text_zh-Hant": f"{text}!",
    }
    for i, text in enumerate(TEXTS)
]
LONG = [
    {"id": row["id"], "lang": lang, "text": row[f"text_{lang}"], "item": row["id"], "image": row["image"]}
    for row in WIDE
    for lang in ("en", "zh-Hant")
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("rows", [WIDE, LONG], ids=["wide", "long"])
def test_every_format_and_form_gives_the_same_manifest(tmp_path, table_file, suffix, rows):
    read = Manifest.read(table_file(tmp_path / f"m{suffix}", rows))
    assert read.digest == Manifest.of(WIDE, folder=tmp_path).digest
    assert read.text[::2] == TEXTS
    assert read.languages == ("en", "zh-Hant")
    assert len(read.image_source) == 7
    assert read.image_source[0] == tmp_path / "0.png"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_byte_order_mark_is_passed_over(tmp_path, table_file, suffix):
    path = table_file(tmp_path / f"m{suffix}", WIDE)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Manifest.read(path).ids[0] == "p0"


visible = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda text: any(not c.isspace() and unicodedata.category(c) != "Cf" for c in text)
)


@given(texts=st.lists(visible, min_size=1, max_size=5), suffix=st.sampled_from(SUFFIXES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_any_format(tmp_path, table_file, texts, suffix):
    rows = [{"id": i, "lang": "en", "text": text} for i, text in enumerate(texts)]
    manifest = Manifest.read(table_file(tmp_path / f"m{suffix}", rows))
    assert manifest.text == texts
    assert manifest.digest == Manifest.of(rows).digest


def test_folders(tmp_path, table_file):
    with pytest.raises(InputError, match=r"holds no manifest: looked for metadata\.jsonl, metadata\.csv"):
        Manifest.read(tmp_path)
    rows = [{"file_name": "train/1.png", "lang": "en", "text": "one", "image": "ignored"}]
    table_file(tmp_path / "metadata.jsonl", rows)
    manifest = Manifest.read(tmp_path)
    assert manifest.image_source == [tmp_path / "train" / "1.png"]
    assert manifest.path == tmp_path / "metadata.jsonl"
    table_file(tmp_path / "manifest.csv", rows)
    with pytest.raises(InputError, match="name the one"):
        Manifest.read(tmp_path)


HOSTILE = [
    ("m.ods", b""), ("m.xlsx", b""), ("m.parquet", b"PAR1 no"), ("m.parquet", b""), ("m.arrow", b"none" * 20),
    ("m.jsonl", b'{"id": 1, "lang": "en", "text": "a"}\n\n{"id": 2,'), ("m.jsonl", b"[" * 100_000),
    ("m.jsonl", b"[1, 2]"), ("m.jsonl", b"[1]\n[2]\n"), ("m.jsonl", b"null\n"), ("m.jsonl", b""),
    ("m.jsonl", b'{"lang": "en"}\n"\\u00fc"\n'), ("m.jsonl", b'{"lang": "en", "text": "\\ud800"}'),
    ("m.jsonl", b'{"text_en": {}, "id": []}'),
    ("m.csv", b""), ("m.csv", b"id,lang,text\n"), ("m.csv", b"lang,text\nen,ok\nen,a,b\n"),
    ("m.csv", b"lang,text\nen\n"), ("m.csv", b'lang,text\nen,"open\n'), ("m.csv", b'lang,text\nen,"a" b\n'),
    ("m.csv", b"lang,text,text\nen,a,b\n"), ("m.csv", b"lang,text\nen,\xff\n"),
    ("m.csv", b"lang,text\nen,ok\nen,\xc3"), ("m.csv", "lang,text".encode("utf-16")),
    ("m.csv.gz", b"no gz"), ("m.csv.gz", gzip.compress(b"lang,text\nen,a\n", mtime=0)[:-4]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), HOSTILE)
def test_hostile_files_are_refused_in_one_line_that_names_them(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        Manifest.read(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_the_header_says_what_divides_columns(tmp_path, mark):
    (tmp_path / "m.csv").write_text(f"lang{mark}text\nde{mark}Größe, blau\n", encoding="utf-8")
    assert Manifest.read(tmp_path / "m.csv").text == ["Größe, blau"]


VALUES = ["2020-01-01", "12:00", 12345678901234567890, 1, 1.0, 2.5, True, None, "x", "2020-01-01T10:00:00Z"]


@given(st.lists(st.lists(st.sampled_from(VALUES), min_size=2, max_size=2), min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_lines_keep_every_value(tmp_path, rows):
    """Arrow would take dates for times, and round whole numbers: then Python reads the lines."""
    records = [
        {"id": i, "lang": "en", "text": f"t{i}", "split": a, "date": b} for i, (a, b) in enumerate(rows)
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    read, expected = Manifest.read(tmp_path / "m.jsonl"), Manifest.of(records)
    assert read.split == expected.split and read.labels == expected.labels and read.fields == expected.fields


def test_examples_of_the_page_are_the_same_data(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "reference" / "manifest.md").read_text(encoding="utf-8")
    blocks = [block.strip() + "\n" for block in page.split("```")[1::2] if block.strip().startswith("id,")]
    assert len(blocks) == 2
    for name, block in zip(("long.csv", "wide.csv"), blocks, strict=True):
        (tmp_path / name).write_text(block, encoding="utf-8")
    long, wide = Manifest.read(tmp_path / "long.csv"), Manifest.read(tmp_path / "wide.csv")
    assert long.text == wide.text and long.item_ids == wide.item_ids
    assert long.item.tolist() == wide.item.tolist() == [0, 0, 1]
    assert long.image.tolist() == wide.image.tolist() == [0, 0, 1]
