"""The check of a manifest: counts, and what deserves a look, by kind and number."""

import io

import numpy as np
import pytest
from PIL import Image

from xlingual import backretrieval
from xlingual.data.check import check
from xlingual.data.languages import in_other_script
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.errors import DataWarning
from xlingual.languages import scripts_of


def png(colour, kind="PNG", size=2):
    buffer = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(buffer, kind)
    return buffer.getvalue()


def counts(manifest):
    return {finding.kind: finding.count for finding in check(manifest).findings}


def test_counts_of_a_clean_manifest():
    rows = [{"id": i, "text_en": f"word {i}", "text_de": f"Wort {i}" if i else None} for i in range(30)]
    result = check(Manifest.of(rows))
    assert (result.n_table_rows, result.n_texts, result.n_items, result.n_items_multilingual) == (
        30,
        59,
        30,
        29,
    )
    assert result.pairs == {("en", "de"): 29} and result.pictures is None and result.findings == []


def test_texts_that_deserve_a_look():
    rows = [
        ("a", "en", "socks"),
        ("b", "en", "socks"),
        ("c", "en", "тёплые носки"),
        ("d", "ru", "warm socks"),
    ]
    rows += [("e", "ru", "HDMI кабель длинный"), ("f", "de", "socks"), ("g", "de", ""), ("h", "de", "a<br>b")]
    with pytest.warns(DataWarning):
        manifest = Manifest.of([dict(zip(("id", "lang", "text"), row, strict=True)) for row in rows])
    result = check(manifest)
    english, russian, german = result.languages
    assert english.repeated == ["b"] and english.other_script == ["c"]
    assert russian.other_script == ["d"] and german.empty == ["g"]
    assert result.shared_texts == {("en", "de"): 1}
    assert {"empty texts", "repeated texts", "equal texts", "other script"} <= {*counts(manifest)}
    assert counts(Manifest.of([{"lang": "en", "text": f"word {i}"} for i in range(9)])) == {"one language": 1}


def test_images_are_opened(tmp_path):
    for name, content in (("good", png("red")), ("same", png("red")), ("bad", b"no image")):
        (tmp_path / f"{name}.png").write_bytes(content)
    names = ["good.png", "same.png", "bad.png", "none.png", "good.png", None, "https://x.example/1.png"]
    rows = [{"id": f"r{i}", "lang": "en", "text": f"t{i}", "image": name} for i, name in enumerate(names)]
    rows.append({"id": "r8", "lang": "en", "text": "t8", "image": "a\\b.jpg"})
    steps = []
    manifest = Manifest.of(rows, folder=tmp_path)
    images = check(manifest, lambda done, total: steps.append((done, total))).pictures
    assert steps[-1] == (6, 6)
    assert (images.n_rows_with, images.without, images.n_distinct) == (7, ["r5"], 5)
    assert images.missing[0] == ("r3", str(tmp_path / "none.png"))
    assert [row for row, _ in images.unreadable] == ["r2"]
    kinds = ("missing images", "backslashes in paths", "URLs as images", "broken images")
    assert all(counts(manifest)[kind] == 1 for kind in (*kinds, "no image"))


def test_groups_of_near_equal_images_that_many_items_show():
    rng = np.random.default_rng(0)
    placeholder = Image.new("RGB", (128, 128), (235, 235, 235))
    placeholder.paste((120, 120, 140), (40, 50, 90, 80))
    rows = [{"text_en": f"a {i}", "text_de": f"b {i}"} for i in range(40)]
    for i, row in enumerate(rows):
        noise = Image.fromarray(rng.integers(0, 255, (8, 8, 3)).astype(np.uint8))
        out = io.BytesIO()
        (placeholder if i < 16 else noise.resize((64, 64))).save(out, "JPEG", quality=60 + 2 * min(i, 16))
        row["image"] = out.getvalue()
    manifest = Manifest.of(rows)
    ((name, n_items),) = check(manifest).pictures.shared
    assert name == "the image of '1'" and n_items == 16 and counts(manifest)["shared images"] == 1
    assert Manifest.of(rows, drop_shared_images=10).n_items == 24
    assert Manifest.of(rows, drop_shared_images=16).n_items == 40
    with pytest.warns(DataWarning, match="1 image, or group"):
        backretrieval(manifest, "chargram", image_encoder="pixels", measures="R@3", store=None)


@pytest.mark.parametrize(
    ("tag", "text", "foreign"),
    [
        ("en", "naïve café", False), ("en", "日本語の文章", True), ("ja", "日本語の文章とカタカナ", False),
        ("ja", "plain English", True), ("sr", "latinica", False), ("sr-Cyrl", "latinica", True),
        ("el", "OK", False), ("de", "123 – €", False), ("zh", "Sony WH-1000XM5 无线降噪耳机", False),
        ("ru", "Смартфон Samsung Galaxy S24 Ultra 256GB", False), ("zh", "совсем другой язык 中", True),
        ("zh", "This is a whole sentence in English, with one 字 in it", True),
    ],
)  # fmt: skip
def test_scripts(tag, text, foreign):
    assert in_other_script(text, scripts_of(tag)) is foreign


def test_pairs_that_are_too_small():
    rows = [{"text_en": f"word {i}", "text_de": f"Wort {i}", "image": png((i, 0, 0))} for i in range(20)]
    rows += [{"text_en": f"only {i}", "image": png((0, 9 * i + 9, 0))} for i in range(9)]
    first, second = check(Manifest.of(rows)).directions
    assert (first.source, first.target, first.n_both) == ("de", "en", 20)
    assert (first.n_sources, first.n_targets) == (10, 19)
    assert (second.n_sources, second.n_targets) == (19, 10)
    assert counts(Manifest.of(rows))["small pairs"] == 1
    rows += [{"text_en": "one more", "text_de": "noch eins", "image": png("white")}]
    assert "small pairs" not in counts(Manifest.of(rows))


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
