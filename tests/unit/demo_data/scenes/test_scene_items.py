import numpy as np
import pyarrow.parquet as pq
import pytest

from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import LANGUAGES, scene_rows, write_scenes
from xlingual.errors import InputError

FROZEN = {
    "ar": "لون الخلفية أزرق داكن. صورة فيها عدة أقمار صفراء بنقشة مربعات في الأعلى ونجمة "
    "بنية كبيرة في المنتصف.",
    "de": "In der Mitte gibt es einen braunen Stern vor dunkelblauem Hintergrund.",
    "en": "Everything is on a dark blue background. There are three yellow chequered moons "
    "at the top. A large brown star in the middle.",
    "es": "Tres lunas amarillas arriba, con fondo azul marino.",
    "fr": "L'image montre trois croissants de lune jaunes à carreaux et une grosse étoile "
    "brune au centre. L'arrière-plan est bleu marine.",
    "id": "Sebuah bintang di bagian tengah dan beberapa bulan sabit berwarna kuning di "
    "atas. Latar belakangnya biru tua.",
    "ja": "背景の色は紺色です。上に黄色いチェック柄の月が三つ、真ん中に茶色の星が一つ描かれています。",
    "ru": "Три месяца сверху. В центре на картинке крупная коричневая звёздочка.",
    "zh": "图中中间有一颗棕色的星星，还有三个黄色月牙。背景为深蓝色。",
}


def _row(item):
    return item.cells, item.image


def test_the_same_seed_gives_the_same_items():
    assert [_row(a) for a in scene_rows(5, ["en", "ja"], 4)] == [
        _row(b) for b in scene_rows(5, ["en", "ja"], 4)
    ]


def test_other_seeds_give_other_items():
    first, second = (list(scene_rows(30, ["en"], seed)) for seed in (0, 1))
    assert all(a.image != b.image for a, b in zip(first, second, strict=True))
    assert not {a.texts["en"] for a in first} & {b.texts["en"] for b in second}


def test_an_item_depends_neither_on_n_nor_on_the_other_languages():
    few = list(scene_rows(4, ["de"], 2, train=0))
    many = list(scene_rows(9, ["ru", "de", "en"], 2, train=0))
    for a, b in zip(few, many[:4], strict=True):
        assert a.image == b.image
        assert a.cells.items() <= b.cells.items()


def test_items_are_what_they_always_were():
    # Frozen: published numbers on scenes hold only while a seed means the same data.
    item = list(scene_rows(2, LANGUAGES, seed=0))[1]
    assert item.id == "scene-000001"
    assert item.texts == FROZEN


def test_the_body_says_what_the_title_says_and_more():
    item = list(scene_rows(2, ["en", "de"], seed=0))[1]
    assert item.bodies["en"] == (
        "The background is dark blue. There are three medium-sized yellow chequered crescent moons at the "
        "top. In the centre, a big brown plain star."
    )
    rows = list(scene_rows(300, ["en", "de"]))
    for language in ("en", "de"):
        assert len({row.titles[language] for row in rows}) > 290
        assert all(row.titles[language] != row.bodies[language] for row in rows)


def test_titles_and_bodies_are_fields_of_the_texts_of_their_language(tmp_path):
    items = list(scene_rows(5, ["en", "de"]))
    manifest = Manifest.read(write_scenes(tmp_path, n=5, languages=["en", "de"], texts=2))
    texts = manifest.texts(np.arange(len(manifest)))
    for i, language in enumerate(texts.language):
        item = items[i // 4]
        assert (texts.fields["title"][i], texts.fields["body"][i]) == (
            item.titles[language],
            item.bodies[language],
        )


@pytest.mark.parametrize(("n", "train", "expected"), [(10, 0.5, 5), (7, 0.3, 2), (3, 0.0, 0), (4, 1.0, 4)])
def test_split_has_the_exact_sizes(n, train, expected):
    splits = [item.split for item in scene_rows(n, ["en"], train=train)]
    assert splits == ["train"] * expected + ["test"] * (n - expected)


def test_rows_are_made_one_at_a_time():
    rows = scene_rows(10**9, ["en"])
    assert [next(rows).id, next(rows).id] == ["scene-000000", "scene-000001"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": ["en", "xx"]}, "unknown language 'xx'"),
        ({"languages": ["dee"]}, "Did you mean 'de'"),
        ({"languages": []}, "no language"),
        ({"languages": "en"}, "give a list"),
        ({"languages": ["en", "de", "en"]}, "'en' is given twice"),
        ({"n": 0}, "n is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"train": 1.5}, "train is 1.5"),
        ({"size": 3}, "size is 3"),
    ],
)
def test_wrong_arguments_are_refused_at_once(changes, message, tmp_path):
    arguments = {"n": 3, "languages": ["en"]} | changes
    with pytest.raises(InputError, match=message) as caught:
        scene_rows(**arguments)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=message):
        write_scenes(tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_write_scenes_writes_a_wide_manifest_and_its_images(tmp_path):
    seen = []
    manifest = write_scenes(tmp_path / "a" / "b", n=6, languages=["ja", "en"], seed=8, progress=seen.append)
    assert manifest == tmp_path / "a" / "b" / "manifest.parquet"
    assert seen == [1, 2, 3, 4, 5, 6]
    rows = pq.read_table(manifest).to_pylist()
    described = ["text_ja", "text_en", "title_ja", "title_en", "body_ja", "body_en"]
    assert list(rows[0]) == ["id", "split", "image", *described]
    for row, item in zip(rows, scene_rows(6, ["en", "ja"], 8), strict=True):
        assert (row["id"], row["split"]) == (item.id, item.split)
        assert {"ja": row["text_ja"], "en": row["text_en"]} == item.texts
        assert row["image"] == f"images/{item.id}.png"
        assert (manifest.parent / row["image"]).read_bytes() == item.image
    assert len(list((manifest.parent / "images").iterdir())) == 6


def test_two_folders_of_one_seed_have_equal_bytes(tmp_path):
    for name in ("first", "second"):
        write_scenes(tmp_path / name, n=4, languages=["en", "ar"])
    files = [
        path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file()
    ]
    assert len(files) == 5
    for path in files:
        assert (tmp_path / "first" / path).read_bytes() == (tmp_path / "second" / path).read_bytes()


def test_an_interrupted_run_leaves_no_manifest(tmp_path):
    write_scenes(tmp_path, n=3, languages=["en"])

    def interrupt(done):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scenes(tmp_path, n=3, languages=["en"], seed=1, progress=interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images"]


def test_blocks_do_not_change_the_manifest(tmp_path, monkeypatch):
    whole = pq.read_table(write_scenes(tmp_path / "whole", n=7, languages=["en"], size=16))
    monkeypatch.setattr("xlingual.demo_data.scenes.folder.BLOCK", 3)
    blocks = pq.read_table(write_scenes(tmp_path / "blocks", n=7, languages=["en"], size=16))
    assert blocks.equals(whole)


def test_several_describers_of_a_language_are_independent_and_the_first_is_the_one_alone(tmp_path):
    alone, both = (list(scene_rows(20, ["en", "de"], 3, texts=count)) for count in (1, 2))
    for one, two in zip(alone, both, strict=True):
        assert list(two.texts) == ["en_1", "en_2", "de_1", "de_2"]
        assert (two.texts["en_1"], two.texts["de_1"]) == (one.texts["en"], one.texts["de"])
        assert two.image == one.image
    assert sum(two.texts["en_1"] == two.texts["en_2"] for two in both) < 5
    path = write_scenes(tmp_path, n=3, languages=["en"], texts=2, size=16)
    texts = ["text_en_1", "text_en_2", "title_en", "body_en"]
    assert pq.read_table(path).column_names == ["id", "split", "image", *texts]
    with pytest.raises(InputError, match="texts is 0: make at least 1 description"):
        scene_rows(3, ["en"], texts=0)
