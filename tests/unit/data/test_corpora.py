"""The papers' corpora, from small files of their formats: the texts in them, and how a wrong folder fails."""

import gzip
import json
from pathlib import Path

import pytest

from xlingual.data.corpora import CORPORA, convert
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "corpora.md"


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes files below a folder: text, bytes, or JSON lines of a list."""

    def write(files):
        for name, content in files.items():
            path = tmp_path / "c" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, list):
                content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
            elif isinstance(content, dict):
                content = json.dumps(content, ensure_ascii=False)
            raw = content if isinstance(content, bytes) else content.encode()
            path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
        return tmp_path / "c"

    return write


def texts(name, folder, **more):
    """Return {(language, item, text)} of the manifest, and the manifest."""
    out = folder / "m.parquet"
    made = convert(name, folder, out, **more)
    manifest = Manifest.read(out)
    found = {
        (manifest.languages[code], manifest.item_ids[item], text)
        for code, item, text in zip(manifest.language, manifest.item, manifest.text, strict=True)
    }
    assert sum(made.texts.values()) == len(manifest) and made.n_items == manifest.n_items
    return found, manifest


def images(manifest):
    return {
        manifest.image_source[i].relative_to(manifest.folder).as_posix() for i in manifest.image if i >= 0
    }


def coco(captions, named=True):
    images = [{"id": 7, "file_name": "COCO_val2014_000000000007.jpg"}] if named else []
    rows = [{"id": i, "image_id": 7, "caption": text} for i, text in enumerate(captions, 1)]
    return {"info": {}, "images": images, "annotations": rows}


def test_stair_captions_share_their_images_with_coco(folder):
    path = folder(
        {
            "stair_captions_v1.2_val.json": coco(["犬"], named=False),
            "stair_captions_v1.2_val_tokenized.json": coco(["犬 犬"]),
            "annotations/captions_val2014.json": coco(["A dog", "Dog"]),
        }
    )
    found, manifest = texts("stair", path)
    assert found == {("ja", "7", "犬"), ("en", "7", "A dog"), ("en", "7", "Dog")}
    assert images(manifest) == {"COCO_val2014_000000000007.jpg"} and set(manifest.split) == {"val"}


def test_multi30k(folder):
    path = folder(
        {
            "data/task1/raw/val.en.gz": "A man.\nA dog.\n",
            "data/task1/raw/val.de": "Ein Mann.\nEin Hund.\n",
            "data/task1/raw/test_2017_mscoco.en": "A cat.\n",
            "data/task1/image_splits/val.txt": "1.jpg\n2.jpg\n",
            "data/task2/raw/val.1.de.gz": "Mann.\nHund.\n",
            "data/task2/raw/val.2.de.gz": "Ein Kerl.\nEin Tier.\n",
            "data/task1/tok/val.lc.norm.tok.de": "no\n",
        }
    )
    found, manifest = texts("multi30k", path)
    assert found == {
        ("en", "1.jpg", "A man."),
        ("de", "1.jpg", "Ein Mann."),
        ("en", "2.jpg", "A dog."),
        ("de", "2.jpg", "Ein Hund."),
        ("en", "test_2017_mscoco:0", "A cat."),
    }
    assert images(manifest) == {"1.jpg", "2.jpg"}
    assert texts("multi30k-task2", path)[0] == {
        ("de", "1.jpg", "Mann."),
        ("de", "1.jpg", "Ein Kerl."),
        ("de", "2.jpg", "Hund."),
        ("de", "2.jpg", "Ein Tier."),
    }
    assert len(texts("multi30k", path, split="val", languages=["de"])[0]) == 2
    folder({"data/task1/raw/val.fr": "Un homme.\n"})
    with pytest.raises(InputError, match=r"val\.fr has 1 lines and .* 2"):
        texts("multi30k", path)


def test_ikea(folder):
    path = folder(
        {
            "IKEA/data.en.de/data.norm.tok.lc/val.norm.tok.lc.en": "a chair\na bed\n",
            "IKEA/data.en.de/data.norm.tok.lc/val.norm.tok.lc.de": "ein stuhl\nein bett\n",
            "IKEA/data.en.de/data.raw/val_WMT_2017.de.gz": "Ein Stuhl\nEin Bett\n",
            "IKEA/data.en.de/image.index/val_WMT_2017_images.txt": "5184.jpg\n1390.jpg\n",
            "IKEA/data.en.de/image.index/val_images.txt": "1.jpg\n",  # of another version
        }
    )
    found, manifest = texts("ikea", path)
    assert found == {
        ("en", "data.en.de:val:0", "a chair"),
        ("de", "data.en.de:val:0", "ein stuhl"),
        ("en", "data.en.de:val:1", "a bed"),
        ("de", "data.en.de:val:1", "ein bett"),
    }
    assert images(manifest) == {"5184.jpg", "1390.jpg"}
    assert list(manifest.fields["raw"]) == ["", "Ein Stuhl", "", "Ein Bett"]


@pytest.mark.parametrize("name", CORPORA)
def test_a_folder_without_the_corpus_writes_nothing(tmp_path, name):
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError):
            convert(name, folder, tmp_path / "out" / "m.parquet")
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_chosen_or_written_is_refused(folder, tmp_path):
    path = folder({"task1/raw/val.de": "x\n", "task1/image_splits/val.txt": "k.jpg\n", "k.jpg": b"x"})
    refused = [
        ("multi30", path / "m.parquet", {}),
        ("multi30k", path / "m.parquet", {"languages": ["dex"]}),
        ("multi30k", path / "m.parquet", {"languages": ["de", "en"]}),
        ("multi30k", path / "m.parquet", {"split": "vol"}),
        ("multi30k", path / "m.csv", {}),
        ("multi30k", tmp_path / "other" / "m.parquet", {}),  # the image is outside
    ]
    for name, out, options in refused:
        with pytest.raises(InputError):
            convert(name, path, out, **options)
        assert not out.exists()


def test_the_page_names_every_corpus():
    page = PAGE.read_text(encoding="utf-8")
    for name, corpus in CORPORA.items():
        assert f"| `{name}` |" in page and all(word in page for word in (*corpus.files, corpus.url))
