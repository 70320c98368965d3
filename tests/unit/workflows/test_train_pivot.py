"""`train pivot`: a gain where there is one, none where not, parts that share nothing, a model in use."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.planted import TAGS, rows_of, vectors_of, write

from xlingual import Manifest, crosslingual_retrieval
from xlingual.cli.main import run
from xlingual.embed.sides import embed_images
from xlingual.encoders import image_encoder, text_encoders
from xlingual.errors import InputError
from xlingual.models.card import card
from xlingual.models.folder import ModelFolder
from xlingual.report import page_of
from xlingual.results.pivot import Pivot
from xlingual.workflows.export import export_model
from xlingual.workflows.pivoting import train_pivot
from xlingual.workflows.pivoting.data import parts_of
from xlingual.workflows.pivoting.trained import refuse_replacing


def pivot(made, **options):
    return train_pivot(*made, **{"store": None, "pairs_from": "near", **options})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """150 items in German and English, of 50 things; English is turned."""
    return write(tmp_path_factory.mktemp("two"), rows_of(), turned=True)


@pytest.fixture(scope="module")
def found(made):
    return pivot(made)


@pytest.fixture(scope="module")
def folder(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    found.write(path)
    return path


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """Two languages with the same vectors, so that nothing can be gained."""
    return write(tmp_path_factory.mktemp("same"), rows_of(), noise=0.0, apart=0.0, things=100)


@pytest.fixture(scope="module")
def unchanged(aligned, tmp_path_factory):
    path = tmp_path_factory.mktemp("unchanged")
    result = pivot(aligned)
    result.write(path)
    return result, path


def words_of(result):
    return " ".join(sentence for block in page_of(result.found).verdict for sentence in block.sentences)


def test_languages_that_are_turned_come_together(found):
    result = found.found
    assert result.outcome == "better" and result.problem() is None
    assert result.chosen == result.tried[0].map != "none" and not result.given
    assert result.main.task == "crosslingual-retrieval" and result.main.measure == "R@10"
    assert result.main.difference > 0.5 and result.main.ci.low > 0.3
    assert {one.task for one in result.changes} == {"crosslingual-retrieval", "multilingual-pool"}
    assert [(one.source, one.target, one.same) for one in result.pairs] == [("de", "en", 0)]
    assert result.items == 97 and result.tested_items == 53


def test_spaces_that_are_the_same_stay(unchanged):
    result, _path = unchanged
    assert result.found.outcome == "unchanged" and result.found.chosen == "none"
    assert not result.found.changes and not result.found.kept
    assert words_of(result).startswith("No change")


def test_the_identity_is_a_model_like_any_other(unchanged, aligned, tmp_path):
    _, path = unchanged
    own, plain = (
        text_encoders(spec, languages=("de", "en")) for spec in (f"model:{path}::{aligned[1]}", aligned[1])
    )
    whole = Manifest.read(aligned[0])
    texts = whole.texts(np.arange(20))
    one, other = (next(iter(each.values())).encode(texts) for each in (own, plain))
    np.testing.assert_allclose(one, other / np.linalg.norm(other, axis=1, keepdims=True), atol=1e-6)
    made = export_model(path, "safetensors", tmp_path / "m")
    assert made.dim == 8


def test_another_image_encoder_judges(tmp_path):
    made = write(tmp_path, rows_of(450, alone=True), turned=True)
    np.save(tmp_path / "other.npy", np.load(tmp_path / "image.npy") @ np.diag(np.arange(1.0, 9)))
    result = pivot(made, judge=f"vectors:{tmp_path}/other.npy", map="procrustes", penalty=0.005).found
    assert result.judge == "other" and {one.task for one in result.changes} == {"backretrieval"}
    assert result.outcome == "better"
    with pytest.raises(InputError, match="cannot judge what was fitted on them"):
        pivot(made, judge=made[2])


def test_parts_share_no_item_and_no_text():
    rows = rows_of(90)
    for row in rows:
        if int(row["item"]) % 3 == 0:  # texts that two items share, with blanks around them
            row["text"] = f"{row['lang']} {int(row['item']) // 6} "
    data = Manifest.of(rows)
    parts = parts_of(data, np.arange(len(data)), 0.4, 0, 1000)
    one, other = (
        {(data.language[row], data.text[row].strip()) for row in each} for each in (parts.fit, parts.held_out)
    )
    assert not one & other
    assert not set(data.item[parts.fit]) & set(data.item[parts.held_out])
    assert len(parts.fit) + len(parts.held_out) == 180
    few = parts_of(data, np.arange(len(data)), 0.4, 0, 20)
    assert few.held_out.tolist() == parts.held_out.tolist()
    assert [len(set(data.item[few.fit][data.language[few.fit] == code])) for code in (0, 1)] == [20, 20]


def test_items_that_share_an_image_are_never_divided(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(40):
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(tmp_path / f"{number}.png")
    rows = [row | {"image": str(tmp_path / f"{int(row['item']) % 40}.png")} for row in rows_of(120)]
    data = Manifest.of(rows)
    parts = parts_of(data, np.arange(len(data)), 0.3, 1, 1000)
    assert not set(data.image[parts.fit]) & set(data.image[parts.held_out])
    assert len(parts.held_out) == 12 * 3 * 2  # 12 images, of three items in two languages each


def test_rows_it_was_fitted_on_are_not_evaluated(made, found, folder):
    data = Manifest.read(made[0])
    spec = f"model:{folder}::{made[1]}"
    with pytest.raises(InputError, match="was fitted on"):
        crosslingual_retrieval(data, spec, store=None)
    seen = found.found
    name, images = image_encoder(made[2], languages=list(data.languages))
    seen_images = embed_images(data, name, images, np.arange(len(data)), shown=False)
    parts = parts_of(data, np.arange(len(data)), 0.3, 0, 20_000, seen_images)
    held = data.part(parts.held_out)
    results = crosslingual_retrieval(held, [f"plain={made[1]}", f"own={spec}"], measures="R@10", store=None)
    for name, value in (("plain", seen.main.before), ("own", seen.main.after)):
        values = [entry.value for entry in results.entries if entry.encoder == name]
        assert np.mean(values) == pytest.approx(value, abs=1e-9)
    with pytest.raises(InputError, match="was fitted on"):
        pivot((made[0], spec, made[2]), seed=1)


@pytest.mark.parametrize(("pairs_from", "near", "same"), [("near", 1, 0), ("same", 0, 1), ("both", 1, 1)])
def test_where_pairs_come_from(made, pairs_from, near, same):
    result = pivot(made, pairs_from=pairs_from, map="ridge", penalty=0.02).found
    (pairs,) = result.pairs
    assert (pairs.near > 0, pairs.same) == (bool(near), 97 * same)
    assert result.conditions["pairs"] == pairs_from and result.outcome == "better"


def test_images_that_are_shuffled_change_nothing(made, tmp_path):
    image = np.load(made[2].removeprefix("vectors:"))[::2]
    shuffled = np.random.default_rng(3).permutation(image)
    np.save(tmp_path / "image.npy", np.repeat(shuffled, 2, axis=0))
    assert pivot((*made[:2], f"vectors:{tmp_path}/image.npy")).found.outcome == "unchanged"


def test_a_map_that_was_asked_for_is_given(made):
    result = pivot(made, map="none").found
    assert result.given and result.outcome == "unchanged" and [one.map for one in result.tried] == ["none"]
    result = pivot(made, map="centre").found
    assert result.chosen == "centre" and {one.map for one in result.tried} == {"none", "centre"}
    with pytest.raises(InputError, match=r"penalty.*name the kind"):
        pivot(made, penalty=0.1)
    with pytest.raises(InputError, match=r"expected one of chosen, none.*Did you mean 'ridge'"):
        pivot(made, map="rigde")
    with pytest.raises(InputError, match="expected a share from 0 to below 1"):
        pivot(made, held_out=1)


def test_the_language_that_others_come_to(made):
    result = pivot(made, map="ridge", penalty=0.02, to="en")
    np.testing.assert_allclose(result.map.of("en")[0], np.eye(8), atol=1e-6)
    assert result.found.to == "en"
    with pytest.raises(InputError, match=r"to=fr|to='fr'|fr.*de, en"):
        pivot(made, to="fr")


def test_the_same_again_and_threads(made, found):
    def numbers(result):
        return {
            name: value for name, value in result.found.to_dict().items() if name not in ("timings", "run")
        }

    assert numbers(pivot(made, threads=3)) == numbers(found)
    other = pivot(made, seed=1, map="centre").found
    assert other.conditions["held-out"] != found.found.conditions["held-out"]


def test_languages_that_were_left_out_are_no_part_of_the_map(tmp_path):
    """Also where they stand in the same rows of the table."""
    rows = rows_of(150, TAGS)
    text, image = vectors_of(rows, turned=True)
    for place, tag in enumerate(TAGS):
        np.save(tmp_path / f"t.{tag}.npy", text[place::3])
    np.save(tmp_path / "i.npy", image[::3])
    table = [{"id": str(i), **{f"name_{tag}": f"{tag} {i}" for tag in TAGS}} for i in range(150)]
    for row in table[:20]:
        row["name_en"] = " "
    pq.write_table(pa.Table.from_pylist(table), tmp_path / "wide.parquet")
    spec = f"vectors:{tmp_path}/t.{{lang}}.npy"
    given = (tmp_path / "wide.parquet", spec, f"vectors:{tmp_path}/i.npy")
    result = pivot(given, languages=["de", "en"], text_column="name_{lang}", map="procrustes", penalty=0.0)
    assert result.map.languages == ("de", "en") and list(result.found.languages) == ["de", "en"]
    assert result.found.outcome == "better"
    assert {one.task for one in result.found.changes} == {"crosslingual-retrieval"}
    result.write(tmp_path / "m")
    (encoder,) = text_encoders(f"model:{tmp_path}/m::{spec}", languages=["de", "en"]).values()
    with pytest.raises(InputError, match="was fitted on texts in de, en, and not in zh"):
        encoder.check_languages(["zh"])
    three = pivot(given, text_column="name_{lang}", map="procrustes", penalty=0.0)
    assert three.map.languages == TAGS and len(three.found.pairs) == 3
    assert all(one.difference > 0.3 for one in three.found.changes if one.measure == "R@10")


class TestBadInput:
    @pytest.mark.parametrize("value", [0.0, 1.0])
    def test_images_that_are_all_the_same(self, tmp_path, value):
        made = write(tmp_path, rows_of(60))
        np.save(tmp_path / "image.npy", np.full((120, 8), value, np.float32))
        with pytest.raises(InputError, match=r"cannot tell these images apart|vectors are other than zero"):
            pivot(made)


def test_model_folder_and_its_card(found, folder):
    assert Pivot.read(folder) == found.found
    model = ModelFolder.read(folder)
    assert model.config["model"]["languages"] == ["de", "en"]
    assert model.config["data"]["images"] == found.found.conditions["image-encoder"]
    assert f"| outcome | {found.found.outcome} |" in card(model)
    assert not [path for path in folder.iterdir() if path.name.startswith(".") or path.suffix == ".tmp"]
    with pytest.raises(InputError, match="would be lost"):
        refuse_replacing(folder, replace=False)
    refuse_replacing(folder, replace=True)


def test_exports_have_the_models_vectors(folder, found, tmp_path):
    from safetensors.numpy import load

    export_model(folder, "safetensors", tmp_path / "m")
    (file,) = (tmp_path / "m").rglob("*.safetensors")
    arrays = load(file.read_bytes())
    matrices = [each for each in arrays.values() if each.shape[-2:] == (8, 8)]
    assert sum(each.size for each in matrices) == 2 * 8 * 8


class TestCommand:
    @pytest.fixture(autouse=True)
    def _here(self, made, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        self.capsys = capsys
        self.given = ["train", "pivot", str(made[0]), "--text-encoder", made[1], "--image-encoder", made[2]]
        self.given += ["--pairs-from", "near", "--no-store", "--out", "m"]

    def test_a_model_a_report_and_how_to_use_them(self, tmp_path):
        assert run([*self.given, "--map", "procrustes", "--report"]) == 0
        _out, _err = self.capsys.readouterr()
        assert {"README.md", "config.json", "model.safetensors", "pivot.json", "report.html"} == {
            path.name for path in (tmp_path / "m").iterdir()
        }
        request = json.loads((tmp_path / "m" / "pivot.json").read_text())["request"]
        assert "procrustes" in json.dumps(request)
        assert "procrustes" in (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
        assert run(["report", "m", "--out", "r.html"]) == 0
        assert "image pairs" in (tmp_path / "r.html").read_text()
        before = (tmp_path / "m" / "model.safetensors").read_bytes()
        assert run([*self.given, "--map", "centre"]) != 0
        assert "--force" in self.capsys.readouterr().err
        assert (tmp_path / "m" / "model.safetensors").read_bytes() == before
        assert run([*self.given, "--map", "centre", "--force", "--json"]) == 0
        assert json.loads(self.capsys.readouterr().out)["chosen"] == "centre"
