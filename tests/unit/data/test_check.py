import io

import pytest
from PIL import Image

from xlingual.data.check import check
from xlingual.data.languages import in_other_script
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.data.tables import Problem
from xlingual.errors import DataWarning
from xlingual.languages import scripts_of


def png(color):
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2), color).save(buffer, "PNG")
    return buffer.getvalue()


def has(found, *words):
    return any(all(word in sentence for word in words) for sentence in found.warnings)


def test_counts_of_a_clean_manifest():
    rows = [{"id": i, "text_en": f"word {i}", "text_de": f"Wort {i}" if i else None} for i in range(30)]
    found = check(Manifest.of(rows))
    assert (found.n_table_rows, found.n_texts, found.n_items, found.n_items_multilingual) == (30, 59, 30, 29)
    assert found.pairs == {("en", "de"): 29}
    assert found.pictures is None and found.warnings == []
    assert [language.n_texts for language in found.languages] == [30, 29]


def test_texts_that_deserve_a_look():
    rows = [
        {"id": "a", "lang": "en", "text": "socks"},
        {"id": "b", "lang": "en", "text": "socks"},
        {"id": "c", "lang": "en", "text": "тёплые носки"},
        {"id": "d", "lang": "ru", "text": "warm socks"},
        {"id": "e", "lang": "ru", "text": "HDMI кабель длинный"},
        {"id": "f", "lang": "de", "text": "socks"},
    ]
    with pytest.warns(DataWarning):
        manifest = Manifest.of([*rows, {"id": "g", "lang": "de", "text": ""}])
    found = check(manifest)
    english, russian, german = found.languages
    assert english.repeated == ["b"] and english.other_script == ["c"]
    assert english.longest[0] == ("c", 12) and english.median_length == 5
    assert russian.other_script == ["d"] and german.empty == ["g"]
    assert found.shared_texts == {("en", "de"): 1}
    assert has(found, "1 of 3 pairs of languages have equal texts (most: 'en' and 'de', 1)")


def test_images_are_opened(tmp_path):
    (tmp_path / "good.png").write_bytes(png("red"))
    (tmp_path / "same.png").write_bytes(png("red"))
    (tmp_path / "bad.png").write_bytes(b"no image")
    names = ["good.png", "same.png", "bad.png", "none.png", "good.png", None]
    rows = [{"id": f"r{i}", "lang": "en", "text": f"t{i}", "image": name} for i, name in enumerate(names)]
    steps = []
    found = check(Manifest.of(rows, folder=tmp_path), lambda done, total: steps.append((done, total)))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    images = found.pictures
    assert (images.n_rows_with, images.n_rows_without, images.n_distinct) == (5, 1, 3)
    assert images.missing == [("r3", str(tmp_path / "none.png"))]
    assert [row for row, _ in images.unreadable] == ["r2"]
    assert images.same_bytes == [(str(tmp_path / "same.png"), str(tmp_path / "good.png"))]
    assert has(found, "1 image file is missing", "none.png")
    assert has(found, "1 image cannot be read (rows 'r2'", "bad.png")
    assert has(found, "1 image has the same bytes")
    assert images.without == ["r5"]
    assert has(
        found,
        "1 text has no image (ids 'r5'): evaluate with an image encoder such as pixels will refuse it",
    )
    assert not any("BytesIO" in sentence for sentence in found.warnings)
    assert has(found, "(not an image)")


def test_images_as_bytes():
    rows = [{"text_en": "a", "image": png("red")}, {"text_en": "b", "image": b"broken"}, {"text_en": None}]
    found = check(Manifest.of(rows))
    assert found.pictures.n_distinct == 2 and found.pictures.unreadable[0][0] == "2"
    assert found.n_items_without_text == 1 and has(found, "1 item has no text")


@pytest.mark.parametrize(
    ("tag", "text", "foreign"),
    [
        ("en", "naïve café", False),
        ("en", "Ｆｕｌｌｗｉｄｔｈ", False),
        ("en", "日本語の文章", True),
        ("ja", "日本語の文章とカタカナ", False),
        ("ja", "plain English", True),
        ("zh-Hant", "繁體中文", False),
        ("ko", "한국어 문장", False),
        ("sr", "ћирилица", False),
        ("sr", "latinica", False),
        ("sr-Cyrl", "latinica", True),
        ("hi", "हिन्दी में", False),
        ("th", "ภาษาไทย", False),
        ("he", "עברית", False),
        ("fa", "فارسی", False),
        ("el", "ελληνικά", False),
        ("el", "OK", False),  # too short to tell
        ("de", "123 – €", False),
        ("zh", "Sony WH-1000XM5 无线降噪耳机", False),  # names of brands and models are Latin everywhere
        ("zh", "Apple iPhone 15 Pro Max 256GB 手机", False),
        ("ja", "Panasonic LUMIX デジタルカメラ", False),
        ("ko", "Samsung Galaxy Buds FE 무선 이어폰", False),
        ("ar", "هاتف Samsung Galaxy S24 Ultra 256GB", False),
        ("ru", "Смартфон Samsung Galaxy S24 Ultra 256GB", False),
        ("zh", "This is a whole sentence in English, with one 字 in it", True),
        ("zh", "совсем другой язык 中", True),
        ("ru", "a cable for phones и computers of every kind", True),
        ("en", "日本語の文章 by Sony", True),
    ],
)
def test_scripts(tag, text, foreign):
    assert in_other_script(text, scripts_of(tag)) is foreign


def test_pairs_that_are_too_small():
    rows = [{"text_en": f"word {i}", "text_de": f"Wort {i}", "image": png((i, 0, 0))} for i in range(20)]
    rows += [{"text_en": f"own {i}", "image": png((0, i + 1, 0))} for i in range(9)]
    found = check(Manifest.of(rows))
    first, second = found.directions
    assert (first.source, first.target, first.n_both) == ("de", "en", 20)
    assert (first.n_sources, first.n_targets, first.n_pictures) == (10, 19, 10)
    assert (second.n_sources, second.n_targets, second.n_pictures) == (19, 10, 19)
    assert has(
        found, "1 of 2 language pairs has 10 source images or fewer (de-en 10)", "R@10", "--measure R@k"
    )
    rows += [{"text_en": "one more", "text_de": "noch eins", "image": png("white")}]
    assert check(Manifest.of(rows)).warnings == []
    same = [row | {"image": png("red")} for row in rows]
    assert has(check(Manifest.of(same)), "2 of 2 language pairs have 10 source images", "de-en 1, en-de 1")


@pytest.mark.parametrize(
    ("n_both", "n_en", "n_de"), [(25, 0, 0), (12, 3, 0), (0, 4, 5), (1, 3, 0), (1, 0, 2)]
)
def test_sides_are_those_that_are_sampled(n_both, n_en, n_de):
    rows = [{"text_en": f"b{i}", "text_de": f"B{i}"} for i in range(n_both)]
    rows += [{"text_en": f"e{i}"} for i in range(n_en)] + [{"text_de": f"d{i}"} for i in range(n_de)]
    manifest = Manifest.of(rows)
    for pair in check(manifest).directions:
        (sample,) = Sampler(manifest).non_matching(pair.source, pair.target)
        assert (pair.n_sources, pair.n_targets) == (len(sample.source), len(sample.target))


def test_one_language_only():
    found = check(Manifest.of([{"id": i, "lang": "en", "text": f"word {i}"} for i in range(30)]))
    assert found.directions == []
    assert has(found, "the only language is 'en': at least two are needed")


def kinds(found):
    return {finding.kind: finding for finding in found.findings}


def test_what_exports_of_shops_bring_along(tmp_path):
    cells = ["https://shop.example/1.jpg", "a.jpg|b.jpg|c.jpg", "gone.png", "http:/shop.example/2.png"]
    texts = ["Tom &amp; Jerry", "a<br>b", "AT&T; black&white; 1 < 2 > 0", "caf&#233;"]
    rows = [
        {"id": f"p{i}", "lang": tag, "text": f"{tag} {text}", "image": cell.replace("gone", f"{tag}-gone")}
        for tag in ("en", "de")
        for i, (text, cell) in enumerate(zip(texts, cells, strict=True))
    ]
    found = check(Manifest.of(rows, folder=tmp_path))
    assert found.html == ["p0", "p1", "p3"] * 2
    assert has(found, "6 texts hold entities or tags of HTML", "ids 'p0', 'p1', 'p3' and 3 more")
    assert has(found, "2 images are URLs (https://shop.example/1.jpg, http://shop.example/2.png)", "download")
    assert has(found, "1 cell names several images", "a.jpg|b.jpg|c.jpg", "keep the path of the first")
    assert has(found, "2 image files are missing", "gone.png")
    assert kinds(found)["URLs as images"].count == 2 and kinds(found)["missing images"].count == 2


def test_ids_that_are_repeated_in_each_language():
    rows = [{"id": i, "lang": tag, "text": f"{tag} {i}"} for i in range(12) for tag in ("en", "de")]
    words = "12 ids stand in several languages ('0', '1', '2' and 9 more), each time for another item"
    assert has(check(Manifest.of(rows)), words, "--item-column")
    assert "ids in several languages" not in kinds(check(Manifest.of(rows, item_column="id")))
    apart = [row | {"id": f"{row['lang']}{row['id']}"} for row in rows]
    assert "ids in several languages" not in kinds(check(Manifest.of(apart)))


def test_problems_of_reading_come_first_and_together():
    problems = [
        Problem("note", "encoding", "read as UTF-16"),
        Problem("error", "image path", "row 3: outside", [2]),
        Problem("error", "image path", "row 5: outside", [4, 8]),
        Problem("error", "row width", "row 9: 3 fields", [8], ["row 9 (line 12): 3 fields"]),
    ]
    manifest = Manifest.of([{"id": i, "lang": "en", "text": f"word {i}"} for i in range(30)])
    found = check(manifest, problems=problems).findings
    assert [(one.severity, one.kind, one.count) for one in found] == [
        ("error", "image path", 3),
        ("error", "row width", 1),
        ("warning", "one language", 1),
        ("note", "encoding", 1),
    ]
    assert found[0].examples == ("row 3", "row 5", "row 9") and found[0].sentence == "row 3: outside"
