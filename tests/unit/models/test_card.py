"""The card of a model: complete, the same wherever the folder lies, and true of its weights."""

import shutil

import pytest

torch = pytest.importorskip("torch")

from xlingual.errors import InputError  # noqa: E402
from xlingual.models.card import (  # noqa: E402
    card,
    front_matter,
    identity,
    languages,
    parameters,
    signature,
    write_card,
)
from xlingual.models.card_words import words_of  # noqa: E402
from xlingual.models.folder import KINDS, ModelFolder, write_model  # noqa: E402
from xlingual.models.mlmme import Mlmme, MlmmeConfig  # noqa: E402
from xlingual.models.triplet import Triplet, TripletConfig  # noqa: E402
from xlingual.models.vocabulary import Vocabulary  # noqa: E402
from xlingual.signature import Signature  # noqa: E402

TRAINING = {
    "recipe": "vsepp",
    "margin": 0.2,
    "most_words": None,
    "device": "auto",
    "seed": 3,
    "joint_dim": 4,
    "epochs_run": 9,
    "best_epoch": 4,
    "seconds": 1.5,
    "score": 412.25,
    "scores": {"image-no": 412.25},
}
DATA = {"source": "a|b\nc.parquet", "digest": "abc", "validation_digest": "def", "texts": {"no": 1234}}


def mlmme(path, seed=0, **more):
    config = MlmmeConfig(("no",), {"no": 4}, 3, word_dim=2, state_dim=2, joint_dim=4)
    content = {
        "kind": "mlmme",
        "model": config.to_dict(),
        "base": {"name": "fc7", "identity": "vgg:1", "dim": 3},
        "training": TRAINING,
        "data": DATA,
        "environment": {"xlingual": "0.1.0", "torch": "2"},
        **more,
    }
    return write_model(path, content, Mlmme(config, seed).state_dict(), {"no": Vocabulary(("en", "to"))})


def triplet(path, **more):
    config = TripletConfig(base_dim=6, hidden_dim=5, out_dim=4, **more)
    base = {"name": "st", "identity": "st:12?", "dim": 6}
    return write_model(
        path, {"kind": "triplet", "model": config.to_dict(), "base": base}, Triplet(config).state_dict()
    )


def rows_of(folder, title):
    return dict(next(part.rows for part in card(folder).sections if part.title == title))


def test_it_tells_data_scores_options_sizes_and_signature(tmp_path):
    folder = mlmme(tmp_path / "m")
    titles = [part.title for part in card(folder).sections]
    assert titles == [
        *("What it is", "How to use it", "Data", "Scores", "Training", "Sizes", "Environment", "Signature")
    ]
    text = card(folder).markdown()
    assert rows_of(folder, "Data") == {
        "manifest": "a|b\nc.parquet",
        "digest": "abc",
        "digest of the validation": "def",
        "texts trained on": "no 1,234",
    }
    assert "| manifest | a\\|b c.parquet |" in text
    assert rows_of(folder, "Scores") == {"score": "412.2", "image-no": "412.2"}
    # what came out, what stands under Sizes, and what has no value are no options
    assert rows_of(folder, "Training") == {"recipe": "vsepp", "margin": "0.2", "device": "auto", "seed": "3"}
    assert rows_of(folder, "Sizes")["joint_dim"] == "4"
    assert rows_of(folder, "Environment") == {"xlingual": "0.1.0", "torch": "2"}
    assert f"```\n{signature(folder)}\n```" in text


def test_what_languages_share(tmp_path):
    said = []
    for text_map in ("shared", "per-language"):
        config = MlmmeConfig(("no",), {"no": 4}, 3, word_dim=2, state_dim=2, joint_dim=4, text_map=text_map)
        folder = mlmme(tmp_path / text_map, model=config.to_dict())
        said.append(card(folder).sections[0].sentences[0])
        assert rows_of(folder, "Sizes").get("text_map") == text_map


def test_the_head_is_yaml_and_norwegian_stays_a_language(tmp_path):
    yaml = pytest.importorskip("yaml")
    head, text = card(mlmme(tmp_path / "m")).markdown().split("---\n")[1:3]
    assert yaml.safe_load(head) == {"language": ["no"], "library_name": "xlingual", "tags": ["xlingual"]}
    assert text.startswith("\n# ")
    assert yaml.safe_load(front_matter((), ("a: b",), "x").strip("-")) == {
        "library_name": "x",
        "tags": ["a: b"],
    }


def test_what_is_written_is_the_card_wherever_the_folder_lies(tmp_path):
    folder = write_card(mlmme(tmp_path / "m"))
    written = (folder.path / "README.md").read_text(encoding="utf-8")
    moved = ModelFolder.read(shutil.move(folder.path, tmp_path / "elsewhere"))
    assert card(moved).markdown() == written
    assert str(tmp_path) not in written
    assert moved.digest == mlmme(tmp_path / "again").digest  # a card is no part of the model


def test_parameters_are_those_of_the_weights(tmp_path):
    folder = triplet(tmp_path / "m", separate_towers=True)
    assert parameters(folder) == 2 * ((6 + 1) * 5 + (5 + 1) * 4)
    assert rows_of(folder, "Sizes")["parameters"] == "118"
    (folder.path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match="is damaged"):
        parameters(folder)


def test_signatures_part_what_was_done_from_what_came_out(tmp_path):
    one = mlmme(tmp_path / "1")
    signed = signature(one)
    assert Signature.parse(str(signed)) == signed
    assert signed.system == {"encoder": identity(one), "base": "vgg:1"}
    assert identity(one) == f"model:mlmme:{one.digest[:16]}"
    assert (signed.conditions["data"], signed.conditions["validation"]) == ("abc", "def")

    def against(**training):
        other = mlmme(tmp_path / "2", seed=1, training={**TRAINING, **training})
        return signed.differences(signature(other))

    assert against(device="cuda", seconds=9, score=1.0, scores={}, best_epoch=1, threads=2) == []
    assert [said.partition(":")[0] for said in against(margin=0.3)] == ["options"]
    assert [said.partition(":")[0] for said in against(seed=4)] == ["options", "seed"]
    assert signature(mlmme(tmp_path / "3", seed=1)).system != signed.system
    assert [said.partition(":")[0] for said in against(text_map="per-language")] == ["options"]
    assert [said.partition(":")[0] for said in against(keep_epoch="last")] == ["options"]


def test_a_dual_encoder_in_words():
    model = {"tower": "words", "dim": 1200, "separate": False}
    config = {"kind": "dual-encoder", "model": model, "training": {"recipe": "dual-encoder"}}
    words = words_of("dual-encoder")
    assert words.title(config) == "Dual encoder"
    assert words.use(config, "m") == ("--text-encoder model:m",)
    assert languages({**config, "data": {"languages": ["en", "ar"]}}) == ("en", "ar")


def test_every_kind_has_words_of_its_own():
    for kind in KINDS:
        assert words_of(kind) is not words_of("another kind")


def test_shown_names_say_image_and_the_file_keeps_its_keys(tmp_path):
    made = mlmme(tmp_path / "m", data={**DATA, "pictures": 135})
    rows = {name: value for part in card(made).sections for name, value in part.rows}
    assert rows["images"] == "135" and rows["image_bias"] == "no" and rows["image_dim"] == "3"
    assert not any("picture" in name for name in rows)
    assert made.config["data"]["pictures"] == 135 and "picture_bias" in made.config["model"]
