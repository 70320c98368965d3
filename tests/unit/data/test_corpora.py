"""Every public corpus, from small files of its format: the texts in it, and how a wrong folder fails."""

import csv
import gzip
import io
import json
import warnings

import pytest

from xlingual.data.corpora.convert import convert
from xlingual.data.corpora.table import CORPORA, corpus_of
from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.sentence_pairs import SentencePairs
from xlingual.errors import DataWarning, InputError


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


def test_crossmodal_3600(folder):
    record = {"image/key": "k1", "image/locale": "de", "image/prompt": "x"}
    captions = {
        "de": {"caption": ["Ein Hund", "Hund"], "caption/tokenized": ["x"]},
        "fil": {"caption": ["Aso"]},
    }
    more = {"image/key": "k2", "de": {"caption": [" "]}, "quz": {"caption": ["Alqu"]}}
    path = folder({"captions.jsonl": [record | captions, more], "images/k1.jpg": b"x"})
    found, manifest = texts("xm3600", path)
    assert found == {
        ("de", "k1", "Ein Hund"),
        ("de", "k1", "Hund"),
        ("fil", "k1", "Aso"),
        ("quz", "k2", "Alqu"),
    }
    assert images(manifest) == {"images/k1.jpg", "k2.jpg"}
    made = convert("xm3600", path, path / "n.parquet", languages=["de", "quz"])
    assert dict(made.images) == {"there": 2, "missing": 1} and made.n_empty == 1
    assert set(made.texts) == {"de", "quz"}


def test_wit(folder):
    names = ("language", "page_url", "image_url", "page_title", "caption_reference_description")
    names += ("caption_attribution_description", "caption_alt_text_description")
    url = "https://upload.wikimedia.org/wikipedia/commons/a/ab/A%20cat.jpg"
    rows = [
        ("en", "p", url, "Cat", 'A "cat"\nasleep', "attr", ""),
        ("de", "p", url, "Katze", "", "attr", "Katze"),
        ("fr", "p", "https://x/b.jpg", "B", "", "attr" * 50_000, ""),
    ]
    table = io.StringIO(newline="")
    csv.writer(table, dialect="excel-tab").writerows([names, *rows])
    path = folder({"wit_v1.test.all-00000-of-00005.tsv.gz": table.getvalue(), "A cat.jpg": b"x"})
    found, manifest = texts("wit", path)
    assert found == {("en", url, 'A "cat"\nasleep'), ("de", url, "Katze")}
    assert images(manifest) == {"A cat.jpg"} and list(manifest.fields["title"]) == ["Cat", "Katze"]
    assert set(manifest.split) == {"test"}
    assert csv.field_size_limit() == 131072  # as it was: other readers say what to do about longer cells


def test_xflickrco(folder):
    def row(*sentences):
        return {"sentences": list(sentences), "id": "34", "img_path": "34.jpg"}

    path = folder(
        {
            "annotations/de/test.jsonl": [row("Ein Team")],
            "annotations/en/test.jsonl": [row("A team", "Men")],
            "annotations/de/train_5.jsonl": [row("nicht dies")],
        }
    )
    found, manifest = texts("xflickrco", path)
    assert found == {("de", "34.jpg", "Ein Team"), ("en", "34.jpg", "A team"), ("en", "34.jpg", "Men")}
    assert images(manifest) == {"34.jpg"}


def coco(captions, named=True):
    images = [{"id": 7, "file_name": "COCO_val2014_000000000007.jpg"}] if named else []
    rows = [{"id": i, "image_id": 7, "caption": text} for i, text in enumerate(captions, 1)]
    return {"info": {}, "images": images, "annotations": rows}


def test_coco_and_stair_share_their_images(folder):
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
    assert texts("coco", path)[0] == {("en", "7", "A dog"), ("en", "7", "Dog")}
    folder({"annotations/captions_val2017.json": coco(["A dog"])})
    with pytest.raises(InputError, match="of 2014 and of 2017"):
        texts("coco", path)


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


def test_flores(folder):
    path = folder(
        {
            "devtest/deu_Latn.devtest": "Eins.\nZwei.\nDrei.\n",
            "devtest/zho_Hans.devtest": "一。\n二。\n三。\n",
            "dev/deu_Latn.dev": "Null.\n",
            "metadata_devtest.tsv": "URL\tdomain\nu1\twiki\nu1\twiki\nu2\tnews\n",
        }
    )
    found, manifest = texts("flores", path, split="devtest")
    assert found == {
        (tag, f"devtest:{row}", text)
        for tag, column in (("de", ("Eins.", "Zwei.", "Drei.")), ("zh-Hans", ("一。", "二。", "三。")))
        for row, text in enumerate(column)
    }
    assert manifest.cluster.tolist() == [0, 0, 0, 0, 1, 1]
    assert len(texts("flores", path)[0]) == 7


def test_tatoeba(folder):
    path = folder(
        {
            "tatoeba.deu-eng.deu": "Hallo.\nJa.\n",
            "tatoeba.deu-eng.eng": "Hello.\nYes.\n",
            "fra.txt": "Go.\tVa !\tCC-BY 2.0\n",
        }
    )
    assert texts("tatoeba", path)[0] == {
        ("en", "de-en:0", "Hello."),
        ("de", "de-en:0", "Hallo."),
        ("en", "de-en:1", "Yes."),
        ("de", "de-en:1", "Ja."),
        ("en", "fr-en:0", "Go."),
        ("fr", "fr-en:0", "Va !"),
    }
    assert {row[0] for row in texts("tatoeba", path, languages=["en", "fr"])[0]} == {"en", "fr"}


def test_bucc(folder):
    path = folder(
        {
            "fr-en/fr-en.training.fr": "fr-1\tBonjour\nfr-2\tNon\n",
            "fr-en/fr-en.training.en": "en-1\tCat\nen-2\tHello\n",
            "fr-en/fr-en.training.gold": "fr-1\ten-2\n",
        }
    )
    assert texts("bucc", path)[0] == {
        ("fr", "fr-en:fr-1", "Bonjour"),
        ("en", "fr-en:fr-1", "Hello"),
        ("fr", "fr-en:fr-2", "Non"),
        ("en", "fr-en:en-1", "Cat"),
    }


def squad(language):
    context = f"Ann sang {language}. Bob ran home."
    qas = [
        {
            "id": "q1",
            "question": f"Who {language}?",
            "answers": [{"text": "Bob", "answer_start": context.index("Bob")}],
        }
    ]
    return {"data": [{"title": "T", "paragraphs": [{"context": context, "qas": qas}]}]}


def read_pool(name, folder, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        made = convert(name, folder, folder / "pool", overwrite=True, **more)
        pool = MultilingualPool.read(folder / "pool")
    q, c, tags = pool.questions, pool.candidates, pool.languages
    pairs = {
        (tags[q.language[i]], q.text[i], tags[c.language[j]], c.text[j])
        for i, j in zip(*(part.tolist() for part in pool.relevant), strict=True)
    }
    assert made.n_questions == len(q) and sum(made.texts.values()) == len(c)
    return pairs, pool


def test_xquad_and_mlqa(folder):
    pytest.importorskip("sentencex")
    path = folder({"xquad.en.json": squad("en"), "xquad.de.json": squad("de")})
    answers = {
        (asked, f"Who {asked}?", answered, "Bob ran home.")
        for asked in ("en", "de")
        for answered in ("en", "de")
    }
    pairs, pool = read_pool("xquad", path)
    assert pairs == answers and len(pool.candidates) == 4
    folder(
        {
            f"MLQA_V1/{split}/{split}-context-{one}-question-{other}.json": squad(one)
            for split in ("dev", "test")
            for one in ("en", "de")
            for other in ("en", "de")
        }
    )
    assert read_pool("mlqa", path)[0] == answers
    with pytest.raises(InputError, match="no file of the split 'tset'"):
        read_pool("mlqa", path, split="tset")


def test_miracl(folder):
    def language(tag, judged):
        version = f"miracl-v1.0-{tag}"
        return {
            f"{version}/topics/topics.{version}-dev.tsv": f"3\tquery {tag}\n4\tother {tag}\n",
            f"{version}/qrels/qrels.{version}-dev.tsv": judged,
            f"miracl-corpus-v1.0-{tag}/docs-0.jsonl.gz": [
                {"docid": f"{tag}#{i}", "title": "T", "text": f"passage {i}"} for i in range(3)
            ],
        }

    path = folder(
        language("sw", "3 Q0 sw#1 1\n3 Q0 sw#2 0\n") | language("te", "3\tQ0\tte#0\t1\n4\tQ0\tte#2\t1\n")
    )
    pairs, pool = read_pool("miracl", path)
    assert pairs == {
        ("sw", "query sw", "sw", "T passage 1"),
        ("te", "query te", "te", "T passage 0"),
        ("te", "other te", "te", "T passage 2"),
    }
    assert len(pool.candidates) == 6 and set(pool.questions.split) == {"dev"}
    assert {pair[0] for pair in read_pool("miracl", path, languages=["te"])[0]} == {"te"}


PAIRS = [{"sentence1": f"a {i}", "sentence2": f"b {i}", "score": i / 2} for i in range(5)]


def test_sts(folder):
    path = folder(
        {
            "STS2017.eval.v1.1/STS.input.track5.en-en.txt": "".join(f"a {i}\tb {i}\n" for i in range(5)),
            "STS2017.gs/STS.gs.track5.en-en.txt": "".join(f"{i / 2}\n" for i in range(5)),
        }
    )
    made = convert("sts17", path, path / "out")
    assert dict(made.texts) == {"en-en": 5}
    found = SentencePairs.read(path / "out" / "en-en.parquet")
    assert found.score.tolist() == [0, 0.5, 1, 1.5, 2] and list(found.second) == [f"b {i}" for i in range(5)]
    mteb = folder({f"mteb/test/{name}.jsonl.gz": PAIRS for name in ("de", "de-en")}) / "mteb"
    assert dict(convert("sts22", mteb, path / "22").texts) == {"de-de": 5, "de-en": 5}
    assert dict(convert("sts17", mteb, path / "17", languages=["de"]).texts) == {"de-de": 5}
    assert SentencePairs.read(path / "22" / "de-en.parquet").score.tolist() == [0, 0.5, 1, 1.5, 2]


def test_pairs_that_stand_twice_are_read_once(folder):
    other = [{**row, "sentence1": "other"} for row in PAIRS]
    path = folder(
        {"en-de.jsonl": other, "en-de.jsonl.gz": PAIRS, "en-fr.jsonl": PAIRS, "b/en-de.jsonl": PAIRS}
    )
    with pytest.warns(
        DataWarning, match=r"en-de\.jsonl is left out: it stands beside en-de\.jsonl\.gz"
    ) as said:
        made = convert("sts22", path, path / "22")
    assert len(said) == 1 and dict(made.texts) == {"en-de": 10, "en-fr": 5}
    assert "other" not in SentencePairs.read(path / "22" / "en-de.parquet").first


@pytest.mark.parametrize("name", CORPORA)
def test_a_wrong_folder_lists_the_files_that_are_expected(tmp_path, name):
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    corpus = corpus_of(name)
    out = "m.parquet" if corpus.kind == "manifest" else "m"
    with pytest.raises(InputError) as error:
        convert(name, tmp_path, tmp_path / "out" / out)
    for part in (corpus.title, next(iter(corpus.files)), "It holds notes.md", corpus.url):
        assert part in str(error.value)
    with pytest.raises(InputError, match="no such folder"):
        convert(name, tmp_path / "nothing", tmp_path / out)
    assert not (tmp_path / "out").exists()


def test_unknown_names_and_languages_get_the_nearest(folder, tmp_path):
    with pytest.raises(InputError, match="Did you mean 'xm3600'"):
        corpus_of("xm360")
    path = folder({"captions.jsonl": [{"image/key": "k", "de": {"caption": ["x"]}}]})
    with pytest.raises(InputError, match=r"no Crossmodal-3600 in 'dex'. Did you mean 'de'"):
        convert("xm3600", path, path / "m.parquet", languages=["dex"])


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
@pytest.mark.parametrize("name", ["flores", "sts17", "xquad"])
def test_a_wanted_language_that_is_not_there_is_refused(folder, name):
    files = {
        "flores": {f"dev/{tag}.dev": f"{tag}\n" for tag in ("eng_Latn", "deu_Latn")},
        "sts17": {f"{pair}.jsonl": PAIRS for pair in ("en-en", "en-de", "de-fr")},
        "xquad": {f"xquad.{tag}.json": squad(tag) for tag in ("en", "de")},
    }
    path = folder(files[name])
    out = path / ("m.parquet" if name == "flores" else "m")
    with pytest.raises(InputError) as error:
        convert(name, path, out, languages=["en", "fr"])
    assert f"no {CORPORA[name].title} in 'fr'." in str(error.value) and not out.exists()
    assert str(error.value).endswith("Its languages: de, en")


@pytest.mark.parametrize("name", ["sts17", "xquad"])
def test_what_is_written_as_a_folder_has_no_name_of_a_file(folder, name):
    path = folder({"en-en.jsonl": PAIRS, "xquad.en.json": squad("en")})
    with pytest.raises(InputError, match=r"out\.parquet is the name of a file.*such as \S*out$"):
        convert(name, path, path / "out.parquet")
    assert not (path / "out.parquet").exists()


def test_images_outside_the_folder_of_the_manifest_are_refused(folder, tmp_path):
    path = folder({"captions.jsonl": [{"image/key": "k", "de": {"caption": ["x"]}}], "k.jpg": b"x"})
    with pytest.raises(InputError, match=r"outside the folder of the manifest.*--out .*xm3600\.parquet"):
        convert("xm3600", path, tmp_path / "other" / "m.parquet")


def test_every_row_of_the_table_is_whole():
    for name, corpus in CORPORA.items():
        assert name == corpus.name and corpus.files and corpus.url.startswith("https://")
        assert corpus.licence and corpus.citation and corpus.about and not corpus.about.endswith(".")
