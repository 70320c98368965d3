"""Models that give no dense vector are refused, in every shape of folder that they are saved in."""

import json

import pytest

pytest.importorskip("torch")

pytest.importorskip("sentence_transformers")

from xlingual.encoders import (
    text_encoders,
)
from xlingual.encoders.checkpoints import check_dense
from xlingual.encoders.sentence_transformer_kinds import ModelFolder
from xlingual.errors import InputError
from xlingual.records import Texts

BATCH = Texts(["a red chair"], ["en"], ["0"])
WORDS = {
    "sparse_encoder": "sparse encoder .*SPLADE",
    "multi_vector_encoder": "multi-vector encoder .*ColBERT.* MaxSim",
    "cross_encoder": "cross-encoder, which scores pairs",
}


def encoder(spec):
    return next(iter(text_encoders([spec], languages=["en"]).values()))


SERVED = ("sparse_encoder", "multi_vector_encoder")  # by st:, as they are


@pytest.mark.parametrize("scheme", ["st", "hf"])
@pytest.mark.parametrize("kind", WORDS)
def test_what_the_library_saves(checkpoints, scheme, kind):
    if scheme == "st" and kind in SERVED:
        assert isinstance(encoder(f"st:{checkpoints(kind)}"), ModelFolder)
        return
    hint = "write st: to score its texts as they are, or take" if kind in SERVED else "take"
    with pytest.raises(InputError, match=f"^{scheme}:.*: is a {WORDS[kind]}.* {hint} a dense one"):
        encoder(f"{scheme}:{checkpoints(kind)}")


@pytest.mark.parametrize("kind", ["sparse_encoder", "multi_vector_encoder"])
def test_modules_tell_where_the_settings_do_not(copied, kind):
    folder = copied(kind)
    (folder / "config_sentence_transformers.json").unlink()
    assert isinstance(encoder(f"st:{folder}"), ModelFolder)
    with pytest.raises(InputError, match=WORDS[kind]):
        encoder(f"hf:{folder}")


@pytest.mark.parametrize("kind", ["bert", "bert_masked", "sentence_bert"])
@pytest.mark.parametrize("scheme", ["st", "hf"])
def test_networks_without_a_head_of_labels_stay_encoders(checkpoints, scheme, kind):
    assert encoder(f"{scheme}:{checkpoints(kind)}").encode(BATCH).shape[0] == 1


def test_the_body_of_a_classifier_that_is_saved_alone(copied, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    folder = copied("cross_encoder")
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (folder / name).unlink()  # as cross-encoders were saved before 5.4 of the library
    for scheme in ("st", "hf"):
        with pytest.raises(
            InputError, match=r"classifier or a cross-encoder \(BertForSequenceClass.*save_pre"
        ):
            encoder(f"{scheme}:{folder}")
    AutoModel.from_pretrained(folder).save_pretrained(tmp_path / "body")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "body")
    assert encoder(f"hf:{tmp_path / 'body'}").encode(BATCH).shape == (1, 32)


def folder_of(path, settings=None, types=(), **config):
    """Write the files that show the kind of a model, and nothing else."""
    (path / "config.json").write_text(json.dumps(config))
    if settings is not None:
        (path / "config_sentence_transformers.json").write_text(json.dumps(settings))
    if types:
        listed = [{"idx": i, "path": str(i), "type": name} for i, name in enumerate(types)]
        (path / "modules.json").write_text(json.dumps(listed))
    return path


OLD = "sentence_transformers.models."
SPARSE_OLD = "sentence_transformers.sparse_encoder.models.SpladePooling.SpladePooling"
TAKEN = {
    "of before 5.0": {"settings": {"prompts": {}}, "types": (OLD + "Transformer", OLD + "Pooling")},
    "pooled, with a head in the checkpoint": {
        "settings": {"model_type": "SentenceTransformer"},
        "types": (OLD + "Transformer", OLD + "Pooling"),
        "architectures": ["BertForSequenceClassification"],
    },
    "a bare network among its architectures": {"architectures": ["NewModel", "NewForTokenClassification"]},
    "from left to right": {"architectures": ["Qwen3ForCausalLM"]},
    "with a decoder": {"architectures": ["T5ForConditionalGeneration"]},
    "damaged names": {"architectures": "BertModel"},
}


@pytest.mark.parametrize("shape", TAKEN)
def test_other_shapes_that_are_taken(tmp_path, shape):
    check_dense("x", folder_of(tmp_path, **TAKEN[shape]))


def test_the_index_file_of_a_colbert_and_routes_of_a_router_tell(tmp_path):
    folder_of(tmp_path, architectures=["BertModel"])
    (tmp_path / "artifact.metadata").write_text("{}")
    with pytest.raises(InputError, match="multi-vector"):
        check_dense("x", tmp_path)
    (tmp_path / "artifact.metadata").unlink()
    folder_of(tmp_path, types=("sentence_transformers.models.Router",))
    (tmp_path / "0").mkdir()
    routes = {"types": {"query_0": SPARSE_OLD}, "structure": {"query": ["query_0"]}}
    (tmp_path / "0/router_config.json").write_text(json.dumps(routes))
    with pytest.raises(InputError, match="sparse"):
        check_dense("x", tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("config_sentence_transformers.json", '{"prompts": "x"}', "prompts must be an object"),
        ("config_sentence_transformers.json", "[" * 100_000, "not JSON"),
        ("modules.json", "[" * 100_000, "not a list of modules"),
        (
            "2_Dense/config.json",
            '{"in_features": 32, "out_features": 20, "module_output_name": "x"}',
            "belong",
        ),
        ("tokenizer_config.json", '{"model_max_length": "x"}', "must be a number|cannot be loaded"),
    ],
)
def test_damaged_folders_are_one_line(copied, file, content, words):
    folder = copied("sentence_bert")
    (folder / file).write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        encoder(f"st:{folder}").encode(BATCH)
    assert "\n" not in str(caught.value)
