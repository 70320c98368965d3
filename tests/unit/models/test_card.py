"""The card of a model: complete, the same wherever the folder lies, and true of its weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.errors import InputError  # noqa: E402
from xlingual.models.card import (  # noqa: E402
    card,
    identity,
    parameters,
    signature,
)
from xlingual.models.configs import MlmmeConfig, TripletConfig  # noqa: E402
from xlingual.models.folder import write_model  # noqa: E402
from xlingual.models.mlmme import Mlmme  # noqa: E402
from xlingual.models.texts import Vocabulary  # noqa: E402
from xlingual.models.triplet import Triplet  # noqa: E402
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


def transform(path, places=("de", "en"), **model):
    arrays = {"offset": np.zeros((2, 2)), "bank": np.ones((7, 2)), "fitted_on": np.zeros((9, 16))}
    content = {
        "kind": "transform",
        "model": {"languages": list(places), "transforms": "whiten:", **model},
        "base": {"name": "e5", "identity": "st:1", "dim": 2, "languages": ["de", "en", "fr"]},
        "data": {"source": "p.parquet", "digest": "abc"},
    }
    return write_model(path, content, {name: one.astype(np.float32) for name, one in arrays.items()})


def test_it_tells_data_options_sizes_and_signature(tmp_path):
    folder = mlmme(tmp_path / "m", data={**DATA, "pictures": 135})
    text = card(folder)
    for part in (
        "\n# VSE++, made on a|b c.parquet\n",
        "One space of 4 dimensions for texts in no and images",
        "fc7 (3 dimensions), with the identity `vgg:1`",
        "| source | a\\|b c.parquet |",
        "| texts | no 1,234 |",
        "| images | 135 |",
        "| margin | 0.2 |",
        "| scores | image-no 412.25 |",
        "| joint dim | 4 |",
        f"| parameters | {parameters(folder):,} |",
        "| torch | 2 |",
        f"```\n{signature(folder)}\n```",
        "--text-encoder 'model:DIR'\n--image-encoder 'model:DIR::SPEC'",
    ):
        assert part in text
    assert "picture" not in text and "None" not in text


def test_the_head_is_yaml_and_norwegian_stays_a_language(tmp_path):
    yaml = pytest.importorskip("yaml")
    folder = mlmme(tmp_path / "m")
    head, text = card(folder).split("---\n")[1:3]
    assert yaml.safe_load(head) == {"language": ["no"], "library_name": "xlingual", "tags": ["xlingual"]}
    assert text.startswith("\n# ")
    head = card(triplet(tmp_path / "t"), library="x", topics=("a: b",), what="W.", use="U.").split("---\n")[1]
    assert yaml.safe_load(head) == {"library_name": "x", "tags": ["a: b"]}


def test_parameters_are_those_of_the_weights(tmp_path):
    folder = triplet(tmp_path / "m", separate_towers=True)
    assert parameters(folder) == 2 * ((6 + 1) * 5 + (5 + 1) * 4)
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
