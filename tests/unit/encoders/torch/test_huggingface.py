"""`hf:` for texts: against transformers and sentence-transformers used directly, on small random networks."""

import json
import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from xlingual.encoders import Encoder, kind_of, text_encoders  # noqa: E402
from xlingual.encoders.huggingface import HuggingFaceEncoder  # noqa: E402
from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.records import Texts  # noqa: E402

TEXTS = [
    "a red chair",
    "ein roter Stuhl steht am Tisch",
    "",
    "lamp",
    "a very long text " * 12,
    "a red chair",
    "water, glass and a table for the lamp of the red chair",
    "日本 椅子",
    "!",
]
KINDS = ["bert", "bert_masked", "distilbert", "xlmr", "qwen", "t5", "clip", "siglip", "xlm"]


def texts(words=TEXTS, language="en", **more):
    return Texts(list(words), [language] * len(words), [str(i) for i in range(len(words))], **more)


def encoder(folder, options="") -> HuggingFaceEncoder:
    return text_encoders({"hf": f"hf:{folder}{options}"}, languages=["en", "de"])["hf"]


def folder_of(checkpoints, kind):
    if kind == "xlm":
        pytest.importorskip("sacremoses")
    return checkpoints(kind)


def direct(folder, words, maximum=None):
    """Return the outputs of transformers used directly, one text at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    for text in words:
        cut = {"truncation": True, "max_length": maximum} if maximum else {}
        inputs = tokenizer(text, return_tensors="pt", **cut)
        with torch.no_grad():
            yield model(**inputs, output_hidden_states=True), inputs


@pytest.mark.parametrize("kind", ["bert", "xlmr", "distilbert"])
@pytest.mark.cases(1)
def test_mean_pooling_is_that_of_sentence_transformers(checkpoints, kind):
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.models")
    folder = str(checkpoints(kind))
    word = modules.Transformer(folder, max_seq_length=40)
    model = library.SentenceTransformer(modules=[word, modules.Pooling(32)], device="cpu")
    expected = model.encode(TEXTS, batch_size=3)
    np.testing.assert_allclose(encoder(folder).encode(texts()), expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "maximum"), [("bert", 40), ("xlmr", 40), ("distilbert", 40)])
@pytest.mark.cases(2)
def test_first_and_last_token(checkpoints, kind, maximum):
    folder = checkpoints(kind)
    outputs = [out.last_hidden_state[0].numpy() for out, _ in direct(folder, TEXTS, maximum)]
    first, last = encoder(folder, "?pool=cls"), encoder(folder, "?pool=last")
    np.testing.assert_allclose(first.encode(texts()), [hidden[0] for hidden in outputs], atol=1e-5)
    np.testing.assert_allclose(last.encode(texts()), [hidden[-1] for hidden in outputs], atol=1e-5)


def test_the_last_token_of_a_network_that_reads_from_left_to_right(checkpoints):
    folder, words = checkpoints("qwen"), [text for text in TEXTS if text][:3]
    expected = [out.last_hidden_state[0, -1].numpy() for out, _ in direct(folder, words)]
    np.testing.assert_allclose(encoder(folder, "?pool=last").encode(texts(words)), expected, atol=1e-5)


def test_the_pooler_is_the_networks_own_head(checkpoints):
    folder = checkpoints("bert")
    expected = [out.pooler_output[0].numpy() for out, _ in direct(folder, TEXTS, 40)]
    np.testing.assert_allclose(encoder(folder, "?pool=pooler").encode(texts()), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "reading"),
    [("clip", {"max_length": 40}), ("siglip", {"max_length": 24, "padding": "max_length"})],
)
def test_a_network_for_texts_and_images_gives_its_projection(checkpoints, kind, reading):
    folder = checkpoints(kind)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    for text, found in zip(TEXTS, encoder(folder).encode(texts()), strict=True):
        inputs = tokenizer(text, return_tensors="pt", truncation=True, **reading)
        for name in ("token_type_ids", *(["attention_mask"] if kind == "siglip" else [])):
            inputs.pop(name, None)
        with torch.no_grad():
            expected = model.get_text_features(**inputs)
        np.testing.assert_allclose(found, getattr(expected, "pooler_output", expected)[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.cases(4)
def test_other_texts_in_the_batch_change_no_vector(checkpoints, kind):
    hf = encoder(folder_of(checkpoints, kind))
    together = hf.encode(texts())
    assert together.dtype == np.float32
    alone = np.concatenate([hf.encode(texts([text])) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(TEXTS))
    by_two = encoder(folder_of(checkpoints, kind), "?batch=2").encode(texts().take(order))
    np.testing.assert_allclose(by_two, together[order], atol=1e-5)
    np.testing.assert_array_equal(together[0], together[5])
    assert np.abs(together[0] - together[1]).max() > 1e-3


@pytest.mark.parametrize("kind", ["bert", "xlmr", "clip", "siglip", "t5"])
def test_an_empty_batch(checkpoints, kind):
    hf = encoder(checkpoints(kind))
    encoded = hf.encode_noting(texts([]))
    assert encoded.vectors.shape == (0, hf.encode(texts()).shape[1])
    assert encoded.truncated.shape == (0,)


def test_a_text_without_tokens_has_the_zero_vector(checkpoints):
    vectors = encoder(checkpoints("qwen")).encode(texts(["", "a red chair", ""]))
    assert not vectors[[0, 2]].any()
    assert vectors[1].any()


def test_texts_that_are_cut_are_noted(checkpoints):
    words = ["a" * count for count in range(1, 12)]  # a token for each letter
    encoded = encoder(checkpoints("bert"), "?max_length=8").encode_noting(texts(words))
    np.testing.assert_array_equal(encoded.truncated, np.arange(1, 12) > 6)
    np.testing.assert_allclose(encoded.vectors[6:], encoded.vectors[[5] * 5], atol=1e-6)
    whole = encoder(checkpoints("bert")).encode_noting(texts(words))
    assert not whole.truncated.any()
    np.testing.assert_allclose(whole.vectors[:6], encoded.vectors[:6], atol=1e-5)


def test_prompts_by_role(checkpoints):
    folder = checkpoints("bert")
    plain, hf = encoder(folder), encoder(folder, "?query_prompt=query: &candidate_prompt=passage: ")
    assert hf.content == ("text", "role")
    with pytest.warns(DataWarning, match="query_prompt and candidate_prompt are not used"):
        np.testing.assert_allclose(hf.encode(texts()), plain.encode(texts()), atol=1e-5)
    for role, prompt in (("query", "query: "), ("candidate", "passage: ")):
        expected = plain.encode(texts([prompt + text for text in TEXTS]))
        np.testing.assert_allclose(hf.encode(texts(role=role)), expected, atol=1e-5)
    both = encoder(folder, "?prompt=text: &query_prompt=query: ")
    expected = plain.encode(texts(["text: lamp"]))
    np.testing.assert_allclose(both.encode(texts(["lamp"], role="candidate")), expected, atol=1e-6)
    assert encoder(folder, "?prompt=text: ").content == plain.content == ("text",)


def test_the_identity_names_what_changes_vectors(copied):
    folder = copied("bert")
    base = encoder(folder)
    assert isinstance(base, Encoder)
    same = ["?batch=3", "?device=cpu", "?pool=mean"]
    assert {encoder(folder, option).identity for option in same} == {base.identity}
    assert encoder(copied("bert", "elsewhere")).identity == base.identity
    other = [
        *("?pool=cls", "?max_length=9", "?dtype=float16"),
        *("?prompt=a", "?query_prompt=a", "?candidate_prompt=a", "?query_prompt=b"),
    ]
    identities = {base.identity, *(encoder(folder, option).identity for option in other)}
    assert len(identities) == 1 + len(other)
    assert all(name.isprintable() and "|" not in name for name in identities)


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "tokenizer.json", "config.json"])
def test_a_changed_file_is_another_identity(copied, name):
    folder = copied("bert")
    before = encoder(folder).identity
    raw = (folder / name).read_bytes()
    (folder / name).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]) if name != "config.json" else raw + b" ")
    assert encoder(folder).identity != before


def test_files_that_change_between_identity_and_loading(copied):
    folder = copied("bert")
    hf = encoder(folder)
    assert hf.identity
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"hidden_act": "relu"}))
    with pytest.raises(InputError, match="changed while it was read"):
        hf.encode(texts())


def test_half_precision_is_close(checkpoints):
    vectors = encoder(checkpoints("bert")).encode(texts())
    half = encoder(checkpoints("bert"), "?dtype=bfloat16").encode(texts())
    assert half.dtype == np.float32
    difference = np.abs(half - vectors).max()
    assert 1e-6 < difference < 0.1


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("distilbert", "?pool=pooler", r"no pool=pooler; it has mean, cls, last$"),
        ("qwen", "?pool=cls", r"no pool=cls; it has mean, last$"),
        ("bert_masked", "?pool=pooler", r"the checkpoint has no pooler \(pooler\.dense\.bias\)"),
        ("clip", "?pool=mean", "has its own pooling: leave pool out$"),
        ("bert", "?max_length=41", r"max_length=41 is more than the 40 tokens"),
        ("xlmr", "?max_length=41", r"max_length=41 is more than the 40 tokens"),
        ("bert", "?max_length=2", r"max_length=2 leaves no room beside 2 special tokens"),
        ("bert", "?device=gpu", r"device=gpu is none: write cpu, cuda, cuda:1 or mps$"),
        ("bert", "?device=cuda:99", r"device=cuda:99 is not on this machine, which has .*cpu"),
        ("bert", "?revision=main", r"revision=main is of a model on a hub, but this is a folder$"),
    ],
)
def test_what_does_not_fit_the_model(checkpoints, kind, options, message):
    with pytest.raises(InputError, match=message) as caught:
        encoder(checkpoints(kind), options).encode(texts())
    assert "\n" not in str(caught.value)


def test_a_pickle_is_refused(copied):
    folder = copied("bert")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is a pickle, .*save_pretrained\(NEW\)$"):
        encoder(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(InputError, match=r"a \.safetensors file is needed$"):
        encoder(folder)


def test_code_of_a_model_is_never_run(copied, tmp_path):
    folder, ran = copied("bert"), tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass C: pass\n")
    settings = json.loads((folder / "config.json").read_text()) | {"model_type": "own"}
    auto = {"AutoConfig": "own.C", "AutoModel": "own.C"}
    (folder / "config.json").write_text(json.dumps(settings | {"auto_map": auto}))
    with pytest.raises(
        InputError, match=r"comes with Python code, which is not run .*remote-code=COMMIT.*python:MODULE"
    ):
        encoder(folder).encode(texts())
    assert not ran.exists()


def test_broken_files_are_named_in_one_line(copied):
    folder = copied("bert")
    (folder / "model.safetensors").write_bytes(b"not a table")
    with pytest.raises(InputError, match=r"cannot be loaded \(Safetensor") as caught:
        encoder(folder).encode(texts())
    assert "\n" not in str(caught.value)
    (folder / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"config\.json: not JSON"):
        encoder(folder)
    (folder / "config.json").unlink()
    with pytest.raises(InputError, match=r"no config\.json of transformers in this folder"):
        encoder(folder)


def test_a_batch_that_does_not_fit_is_halved(checkpoints, monkeypatch):
    hf = encoder(checkpoints("bert"), "?batch=8")
    expected, run = hf.encode(texts()), hf.network.run

    def small_memory(pieces):
        if len(pieces) > 1:
            raise torch.OutOfMemoryError("Tried to allocate 20 GiB")
        return run(pieces)

    monkeypatch.setattr(hf.network, "run", small_memory)
    with pytest.warns(DataWarning, match=r"a batch of [2-8] did not fit into memory, one of 1 did: "):
        found = hf.encode(texts())
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_nothing_of_torch_is_loaded_before_the_first_vector(checkpoints, monkeypatch):
    for name in ("torch", "transformers"):  # there, but of no use
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    hf = encoder(checkpoints("bert"))
    assert hf.identity.startswith("hf:")
    assert hf.content == ("text",)


def test_a_network_that_reads_characters_needs_no_vocabulary(copied):
    folder = copied("bert")
    for path in [*folder.glob("tokenizer*"), *folder.glob("vocab*")]:
        path.unlink()
    settings = {"tokenizer_class": "CanineTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    assert isinstance(encoder(folder), Encoder)


def test_an_added_token_without_an_embedding_counts_where_a_text_has_it(copied):
    folder = copied("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["<image>"])
    tokenizer.save_pretrained(folder)
    one = encoder(folder)
    assert one.encode(texts(["lamp"])).shape == (1, 32)
    with pytest.raises(InputError, match="they do not belong together"):
        one.encode(texts(["a <image> lamp"]))


def test_options_by_role_are_not_ignored_silently(checkpoints):
    one = encoder(checkpoints("bert"), "?query_prompt=query: ")
    with pytest.warns(DataWarning, match="these texts have no role: query_prompt is not used; write prompt="):
        plain = one.encode(texts(["lamp"]))
    np.testing.assert_array_equal(one.encode(texts(["lamp"])), plain)  # warned once
    encoder(checkpoints("bert"), "?query_prompt=query: ").encode(texts(["lamp"], role="query"))
    encoder(checkpoints("bert"), "?query_prompt=query: &prompt=a").encode(texts(["lamp"]))


@pytest.mark.parametrize(("kind", "known"), [("clip", {"trained_on_images": True}), ("bert", {})])
def test_a_tower_for_texts_of_a_model_of_images_is_known_as_such(checkpoints, kind, known):
    assert kind_of(encoder(checkpoints(kind))) == {"kind": "general", **known}


def test_the_first_dimensions_only(checkpoints):
    folder = checkpoints("bert")
    whole, first = (
        text_encoders({"a": f"hf:{folder}?device=cpu{dim}"}, languages=["en"])["a"] for dim in ("", "&dim=5")
    )
    batch = Texts(["a red chair", "a table"], ["en", "en"], ["1", "2"])
    np.testing.assert_array_equal(first.encode(batch), whole.encode(batch)[:, :5])
    assert first.identity != whole.identity
    with pytest.raises(InputError, match="dim=999, but the model's vectors have"):
        text_encoders({"a": f"hf:{folder}?device=cpu&dim=999"}, languages=["en"])["a"].encode(batch)
