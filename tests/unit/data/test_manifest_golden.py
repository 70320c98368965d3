"""What reading gives stays what it was, to the byte, in every format and form; and rows in memory agree."""

import warnings
from pathlib import Path

import pyarrow as pa
import pytest

from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning
from xlingual.records import digest

N = 300
TEXTS = [
    "ein Hut",
    "chapeau, rouge",
    'say "hi"',
    "two\nlines",
    " \t",
    "שלום",
    "👩‍🚀 fliegt",
    "x" * 70,
    "ein Hut",
]
LANGUAGES = ("de", "pt-BR", "ru", "en")


def cell(*key):
    """Return a number below 2³² that depends on the key alone."""
    return int.from_bytes(digest(*map(str, key))[:4], "little")


def long_row(i):
    return {
        "id": f"r{i // 2}-{i % 2}" if i % 5 else f"größe {i}",
        "lang": LANGUAGES[cell("lang", i) % 4],
        "text": f"{TEXTS[cell('text', i) % len(TEXTS)]}{'' if i % 3 else i % 40}",
        "item": f"item {cell('item', i) % 90}",
        "image": ["", f"p/{i % 31}.png", f"./p//{i % 31}.png", f"q/../p/{i % 7}.png"][cell("image", i) % 4],
        "cluster": f"{cell('cluster', i) % 40}",
        "split": ["train", "test", ""][cell("split", i) % 3],
        "kind": ["a", "b", "", "c"][cell("kind", i) % 4],
        "body": f"body {i}",
    }


def wide_row(i):
    text = {lang: TEXTS[cell(lang, i) % len(TEXTS)] for lang in ("fr", "zh-Hant", "de")}
    return {
        "id": f"w{i}",
        "text_fr": text["fr"] if i % 4 else "",
        "text_zh-Hant": text["zh-Hant"] if i % 9 else "",
        "text_fr_2": f"{text['fr']} 2" if i % 6 == 1 else "",
        "text_de": text["de"] if i % 3 else " ",
        "title_fr": f"t{i % 60}",
        "title_zh-Hant": "字",
        "title_de": "",
        "image": f"p/{i % 50}.png" if i % 7 else "",
        "split": "ab"[i % 2],
        "kind": ["x", "y"][i % 2],
    }


TABLES = {
    "long": [long_row(i) for i in range(N)],
    "long without items": [
        {name: value for name, value in long_row(i).items() if name not in ("item", "cluster")}
        for i in range(N)
    ],
    "long, bare": [{"lang": row["lang"], "text": row["text"]} for row in map(long_row, range(N))],
    "wide": [wide_row(i) for i in range(N)],
}
OPTIONS = {
    "all": {},
    "split": {"split": "train"},
    "rows": {"rows": "20:-30"},
    "both": {"split": "b", "rows": ":200"},
}
GOLDEN = {
    ("long", "all"): "a0998b1c69fa8371 ef4e332bf31a99d0",
    ("long", "split"): "f5376a6012e7bfee d09b2a78cf160325",
    ("long", "rows"): "7d733eae35121efe 5ac5f6c9ca72e0ab",
    ("long without items", "all"): "854f4f9588ad7c51 e506adcb6111f51e",
    ("long without items", "split"): "bb364e5c16c40320 6cec63239619e85d",
    ("long without items", "rows"): "cddbf310492845b8 650c8d4f25ba9a04",
    ("long, bare", "all"): "1b6dbb277d6b1149 261dd2a0adc9a49b",
    ("long, bare", "rows"): "45d48eeaafd78e3c d0e3590a8da88d37",
    ("wide", "all"): "0ea433c819377a21 4a809b1315e78ee2",
    ("wide", "rows"): "2f8670e3ae98c8c2 f9fda86425362b58",
    ("wide", "both"): "f99f365dbe252c18 c8d26479332971be",
}


def content(manifest, root):
    """Return one digest of everything that a manifest holds."""
    names = ("ids", "languages", "text", "item_ids", "split")
    parts = [
        f"{name} {None if getattr(manifest, name) is None else list(getattr(manifest, name))}"
        for name in names
    ]
    parts += [f"{name} {getattr(manifest, name).tolist()}" for name in ("language", "item", "cluster")]
    parts += [f"picture {manifest.image.tolist()}"]
    parts += [f"{getattr(manifest, name)}" for name in ("n_table_rows", "wide", "n_items")]
    parts += [str(Path(source).relative_to(root)) for source in manifest.image_source]
    for columns in (manifest.fields, manifest.labels):
        parts += [f"{name} {list(values)}" for name, values in columns.items()]
    for way in manifest.numberings:
        parts += [f"{way.unit} {way.index.tolist()} {dict(way.sizes)}"]
    return digest(*parts).hex()[:16]


def found(read, root):
    """Return the digest of a manifest, and that of all it holds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        manifest = read()
    return f"{manifest.digest[:16]} {content(manifest, root)}"


CASES = [
    (table, options)
    for table, rows in TABLES.items()
    for options, chosen in OPTIONS.items()
    if "split" not in chosen or chosen["split"] in {row.get("split") for row in rows}
]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv", ".tsv", "rows", "arrow table"])
@pytest.mark.parametrize(("table", "options"), CASES)
def test_reading_gives_what_it_gave(tmp_path, table_file, suffix, table, options):
    rows, chosen = TABLES[table], OPTIONS[options]
    if suffix == "rows":
        assert found(lambda: Manifest.of(rows, folder=tmp_path, **chosen), tmp_path) == GOLDEN[table, options]
    elif suffix == "arrow table":
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        given = pa.table(columns)
        assert (
            found(lambda: Manifest.of(given, folder=tmp_path, **chosen), tmp_path) == GOLDEN[table, options]
        )
    else:
        path = table_file(tmp_path / f"m{suffix}", rows)
        assert found(lambda: Manifest.read(path, **chosen), tmp_path) == GOLDEN[table, options]
