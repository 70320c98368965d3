"""The papers' corpora, from small files of their layouts: the texts in them, and how a wrong folder fails."""

import gzip
import json
from pathlib import Path

import pytest

from xlingual.cli.main import run
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.papers.corpora import CORPORA, convert

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "corpora.md"


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = (json.dumps(content) if isinstance(content, dict) else content).encode()
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def converted(name, folder):
    """Return {(language, item, text)} of the manifest, and the manifest."""
    conversion = convert(name, folder)
    manifest = Manifest.read(conversion.manifest)
    assert sum(conversion.texts.values()) == len(manifest) and len(conversion.items) == manifest.n_items
    languages, items = (
        [manifest.languages[i] for i in manifest.language],
        [manifest.item_ids[i] for i in manifest.item],
    )
    return set(zip(languages, items, manifest.text, strict=True)), manifest


def images(manifest):
    return {
        manifest.image_source[i].relative_to(manifest.folder).as_posix() for i in manifest.image if i >= 0
    }


def coco(captions, *, named=True):
    rows = [{"id": i, "image_id": 7, "caption": text} for i, text in enumerate(captions, 1)]
    names = [{"id": 7, "file_name": "COCO_val2014_000000000007.jpg"}] if named else []
    return {"images": names, "annotations": rows}


def test_stair_captions_share_their_images_with_coco(tmp_path):
    write(
        tmp_path,
        {
            "stair_captions_v1.2_val.json": coco(["犬"], named=False),
            "stair_captions_v1.2_val_tokenized.json": coco(["犬 犬"]),
            "annotations/captions_val2014.json": coco(["A dog", "Dog"]),
        },
    )
    texts, manifest = converted("stair", tmp_path)
    assert texts == {("ja", "7", "犬"), ("en", "7", "A dog"), ("en", "7", "Dog")}
    assert images(manifest) == {"COCO_val2014_000000000007.jpg"} and set(manifest.split) == {"val"}


def test_multi30k(tmp_path):
    write(
        tmp_path,
        {
            "data/task1/raw/val.en.gz": "A man.\nA dog.\n",
            "data/task1/raw/val.de": "Ein Mann.\nEin Hund.\n",
            "data/task1/raw/test_2017_mscoco.en": "A cat.\n \n",
            "data/task1/image_splits/val.txt": "1.jpg\n2.jpg\n",
            "data/task2/raw/val.1.de.gz": "Mann.\nHund.\n",
            "data/task2/raw/val.2.de.gz": "Ein Kerl.\nEin Tier.\n",
            "data/task1/tok/val.lc.norm.tok.de": "no\n",
            "images/2.jpg": "x",
        },
    )
    texts, manifest = converted("multi30k", tmp_path)
    assert texts == {
        ("en", "1.jpg", "A man."),
        ("de", "1.jpg", "Ein Mann."),
        ("en", "2.jpg", "A dog."),
        ("de", "2.jpg", "Ein Hund."),
        ("en", "test_2017_mscoco:0", "A cat."),
    }
    assert images(manifest) == {"1.jpg", "images/2.jpg"}
    counts = convert("multi30k", tmp_path)
    assert counts.images == {"there": 2, "missing": 2, "unnamed": 1} and counts.n_empty == 1
    pairs = (("1.jpg", "Mann."), ("1.jpg", "Ein Kerl."), ("2.jpg", "Hund."), ("2.jpg", "Ein Tier."))
    assert converted("multi30k-task2", tmp_path)[0] == {("de", *pair) for pair in pairs}
    write(tmp_path, {"data/task1/raw/val.fr": "Un homme.\n"})
    before = counts.manifest.read_bytes()
    with pytest.raises(InputError, match=r"val\.fr has 1 lines and .* 2"):
        convert("multi30k", tmp_path)
    assert counts.manifest.read_bytes() == before


def test_ikea(tmp_path):
    write(
        tmp_path,
        {
            "IKEA/data.en.de/data.norm.tok.lc/val.norm.tok.lc.en": "a chair\na bed\n",
            "IKEA/data.en.de/data.norm.tok.lc/val.norm.tok.lc.de": "ein stuhl\nein bett\n",
            "IKEA/data.en.de/data.raw/val_WMT_2017.de.gz": "Ein Stuhl\nEin Bett\n",
            "IKEA/data.en.de/image.index/val_WMT_2017_images.txt": "5184.jpg\n1390.jpg\n",
            "IKEA/data.en.de/image.index/val_images.txt": "1.jpg\n",  # of another version
        },
    )
    texts, manifest = converted("ikea", tmp_path)
    assert texts == {
        ("en", "data.en.de:val:0", "a chair"),
        ("de", "data.en.de:val:0", "ein stuhl"),
        ("en", "data.en.de:val:1", "a bed"),
        ("de", "data.en.de:val:1", "ein bett"),
    }
    assert images(manifest) == {"5184.jpg", "1390.jpg"}
    assert list(manifest.fields["raw"]) == ["", "Ein Stuhl", "", "Ein Bett"]


@pytest.mark.parametrize("name", [*CORPORA, "stairs"])
def test_a_folder_without_the_corpus_writes_nothing(tmp_path, name):
    write(tmp_path, {"notes.md": "x"})
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError):
            convert(name, folder)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.md"]


def test_the_command_writes_a_manifest_that_is_evaluated(tmp_path, capsys):
    for lang in ("en", "de"):
        write(tmp_path, {f"task1/raw/val.{lang}": "".join(f"{n} {lang}\n" for n in range(20))})
    assert run(["data", "convert", "multi30k", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["texts"] == {"en": 20, "de": 20}
    assert run(["data", "convert", "multi30k", str(tmp_path)]) == 0
    assert "40 texts of 20 items" in capsys.readouterr().out
    manifest = str(tmp_path / "multi30k.parquet")
    assert run(["evaluate", "xlr", manifest, "--text-encoder", "chargram"]) == 0
    capsys.readouterr()
    for words in ((), ("stairs", str(tmp_path)), ("stair", str(tmp_path))):
        assert run(["data", "convert", *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_the_page_names_every_corpus():
    page = PAGE.read_text(encoding="utf-8")
    for name, corpus in CORPORA.items():
        assert all(word in page for word in (f"| `{name}` |", corpus.needed, corpus.citation, corpus.url))
