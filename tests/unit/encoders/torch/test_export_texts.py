"""Exports of dual encoders and of MLMME: sentence-transformers gives the model's vectors."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
library = pytest.importorskip("sentence_transformers")
if not hasattr(pytest.importorskip("sentence_transformers.models"), "InputModule"):
    pytest.skip("modules of our own need version 5 of the library", allow_module_level=True)

from xlingual.encoders import text_encoders  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.models.dual_encoder import DualEncoder, DualEncoderConfig  # noqa: E402
from xlingual.models.features import SHARED  # noqa: E402
from xlingual.models.folder import write_model  # noqa: E402
from xlingual.models.mlmme import Mlmme  # noqa: E402
from xlingual.models.mlmme_config import MlmmeConfig  # noqa: E402
from xlingual.models.vocabulary import Vocabulary  # noqa: E402
from xlingual.records import Texts  # noqa: E402
from xlingual.workflows.export import export_model  # noqa: E402

TEXTS = ["a red chair", "", "lamp !", "water, glass and a table", "日本 椅子", "a very long text " * 12]
AROUND = ["in the house", "", "on the table", "", "there", "the end"]
WORDS = ["a", "red", "chair", "lamp", "water", "glass", "table", "long", "text", "日", "本"]
FIRST = 2  # numbers before those of words


def random_weights(model):
    """Change every weight at random, also those that begin as zero."""
    draw = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim():
                weight.add_(torch.randn(weight.shape, generator=draw) * 0.3)
    return model.state_dict()


def words_model(path, **more):
    config = DualEncoderConfig(
        "words",
        dim=12,
        features=FIRST + len(WORDS) + 32,
        ngrams=(3, 4),
        buckets=32,
        hidden=5,
        dropout=0.5,
        **more,
    )
    weights = random_weights(DualEncoder(config))
    content = {"kind": "dual-encoder", "model": config.to_dict(), "data": {"languages": ["en", "ja"]}}
    return write_model(path / "m", content, weights, {SHARED: Vocabulary(tuple(WORDS))})


def network_model(path, checkpoint, **more):
    from transformers import AutoModel, AutoTokenizer

    network = AutoModel.from_pretrained(checkpoint)
    config = DualEncoderConfig("transformer", dim=network.config.hidden_size, max_length=11, **more)
    weights = random_weights(DualEncoder(config, network=network))
    content = {"kind": "dual-encoder", "model": config.to_dict(), "data": {"languages": ["en"]}}

    def save(folder):
        network.config.save_pretrained(folder)
        AutoTokenizer.from_pretrained(checkpoint).save_pretrained(folder)

    return write_model(path / "m", content, weights, network=save)


def mlmme_model(path, tags=("en", "ja"), **more):
    words = {tag: Vocabulary(tuple(WORDS[i:])) for i, tag in enumerate(tags)}
    config = MlmmeConfig(
        languages=tags,
        vocabulary_sizes={tag: len(own) for tag, own in words.items()},
        word_dim=6,
        state_dim=7,
        joint_dim=8,
        picture_dim=5,
        **more,
    )
    return write_model(
        path / "m", {"kind": "mlmme", "model": config.to_dict()}, random_weights(Mlmme(config)), words
    )


def ours(folder, role=None, language="en", base="", context=()):
    (encoder,) = text_encoders(f"model:{folder.path}{base}", languages=["en", "ja"]).values()
    n = len(TEXTS)
    found = encoder.encode(
        Texts(TEXTS, [language] * n, [str(i) for i in range(n)], role=role, context=context)
    )
    encoder.notes()
    return found


def loaded(out, trusted=True):
    return library.SentenceTransformer(str(out), device="cpu", trust_remote_code=trusted)


def assert_same(found, expected):
    assert np.ptp(expected, axis=0).max() > 0.1
    np.testing.assert_allclose(found, expected, atol=1e-5)


def check_roles(folder, out, trusted=True, base=""):
    model = loaded(out, trusted)
    for role, encode in (
        (None, model.encode),
        ("query", model.encode_query),
        ("candidate", model.encode_document),
    ):
        assert_same(encode(TEXTS, batch_size=2), ours(folder, role, base=base))
    return model


@pytest.mark.parametrize(
    "more",
    [{}, {"separate": True}, {"separate": True, "context": True}],
    ids=lambda more: "-".join(more) or "one",
)
def test_a_dual_encoder_of_words(tmp_path, more):
    folder = words_model(tmp_path, **more)
    made = export_model(folder.path, "sentence-transformers", tmp_path / "out")
    assert made.dim == 12 and made.difference < 1e-5
    model = check_roles(folder, tmp_path / "out")
    apart = np.abs(model.encode_query(TEXTS) - model.encode_document(TEXTS)).max()
    assert (apart > 0.1) == bool(more)
    if "context" in more:
        pairs = list(zip(TEXTS, AROUND, strict=True))
        assert_same(model.encode_document(pairs), ours(folder, "candidate", context=AROUND))
        assert "give pairs (answer, context)" in (tmp_path / "out" / "README.md").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"m", "out"}


def test_a_network_with_one_tower_needs_no_code(checkpoints, tmp_path):
    folder = network_model(tmp_path, checkpoints("bert"))
    export_model(folder.path, "sentence-transformers", tmp_path / "out")
    check_roles(folder, tmp_path / "out", trusted=False)
    kinds = [
        part["type"].rpartition(".")[2]
        for part in json.loads((tmp_path / "out" / "modules.json").read_text())
    ]
    assert kinds == ["Transformer", "Pooling", "Normalize"]
    assert "trust_remote_code" not in (tmp_path / "out" / "README.md").read_text()
    n = len(TEXTS)
    (encoder,) = text_encoders(f"st:{tmp_path / 'out'}", languages=["en"]).values()
    assert_same(encoder.encode(Texts(TEXTS, ["en"] * n, [str(i) for i in range(n)])), ours(folder))


def test_a_network_with_two_towers_and_contexts(checkpoints, tmp_path):
    folder = network_model(tmp_path, checkpoints("bert"), separate=True, context=True)
    export_model(folder.path, "sentence-transformers", tmp_path / "out")
    model = check_roles(folder, tmp_path / "out")
    pairs = list(zip(TEXTS, AROUND, strict=True))
    assert_same(model.encode_document(pairs), ours(folder, "candidate", context=AROUND))


def test_a_layer_over_an_encoder_that_is_exported_with_it(checkpoints, tmp_path):
    base = f"st:{checkpoints('sentence_bert')}?prompt=red: &query_prompt=the: "
    (below,) = text_encoders(base, languages=["en"]).values()
    dim = below.encode(Texts(["a"], ["en"], ["0"])).shape[1]
    config = DualEncoderConfig("vectors", dim=dim, hidden=5)
    content = {"kind": "dual-encoder", "model": config.to_dict(), "data": {"languages": ["en"]}}
    content["base"] = {"name": "base", "identity": below.identity, "dim": dim, "languages": ["en"]}
    folder = write_model(tmp_path / "m", content, random_weights(DualEncoder(config)))
    with pytest.raises(InputError, match="name it with --base SPEC"):
        export_model(folder.path, "sentence-transformers", tmp_path / "out")
    export_model(folder.path, "sentence-transformers", tmp_path / "out", base=base)
    model = check_roles(folder, tmp_path / "out", base=f"::{base}")
    assert np.abs(model.encode_query(TEXTS) - model.encode_document(TEXTS)).max() > 1e-3  # prompts by role


@pytest.mark.parametrize("more", [{}, {"max_length": 3}], ids=["whole", "cut"])
def test_languages_of_an_mlmme(tmp_path, more):
    folder = mlmme_model(tmp_path, **more)
    made = export_model(folder.path, "sentence-transformers", tmp_path / "out")
    assert made.dim == 8 and made.difference < 1e-5
    model = loaded(tmp_path / "out")
    for tag in ("en", "ja"):
        assert_same(model.encode(TEXTS, language=tag, batch_size=4), ours(folder, language=tag))
    assert np.abs(model.encode(TEXTS, language="en") - model.encode(TEXTS, language="ja")).max() > 0.1
    with pytest.raises(InputError, match="an encoder for each of en, ja: say which, as in encode"):
        model.encode(TEXTS)
    with pytest.raises(InputError, match=r"language 'jp' is unknown to the model\. It knows en, ja"):
        model.encode(TEXTS, language="jp")
    text = (tmp_path / "out" / "README.md").read_text()
    assert 'model.encode(texts, language="ja")' in text and "A call without `language` is refused" in text


def test_a_language_for_programs_that_name_none(tmp_path):
    folder = mlmme_model(tmp_path)
    export_model(folder.path, "sentence-transformers", tmp_path / "out", language="ja")
    model = loaded(tmp_path / "out")
    assert_same(model.encode(TEXTS), ours(folder, language="ja"))
    assert_same(model.encode(TEXTS, language="en"), ours(folder, language="en"))
    single = mlmme_model(tmp_path / "one", ("en",))
    export_model(single.path, "sentence-transformers", tmp_path / "single")
    assert_same(loaded(tmp_path / "single").encode(TEXTS), ours(single))


def test_the_library_writes_it_again_and_trains_it(tmp_path):
    folder = words_model(tmp_path, separate=True)
    export_model(folder.path, "sentence-transformers", tmp_path / "out")
    model = loaded(tmp_path / "out")
    before = model.encode_document(TEXTS)
    assert model[0].get_sentence_embedding_dimension() == 12
    features = model.preprocess(TEXTS, task="document")
    model(features, task="document")["sentence_embedding"].sum().backward()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.grad is not None:
                weight += 0.1 * weight.grad.sign()
    after = model.encode_document(TEXTS)
    assert np.abs(after - before).max() > 1e-3
    model.save(str(tmp_path / "again"))
    np.testing.assert_allclose(loaded(tmp_path / "again").encode_document(TEXTS), after, atol=1e-6)


def test_what_it_says_of_itself(tmp_path):
    folder = mlmme_model(tmp_path)
    export_model(folder.path, "sentence-transformers", tmp_path / "out", language="en")
    settings = json.loads((tmp_path / "out" / "xlingual.json").read_text())
    assert settings["model"] == f"model:mlmme:{folder.digest[:16]}" and settings["language"] == "en"
    assert settings["languages"] == ["en", "ja"]
    with pytest.raises(InputError, match="--force replaces it"):
        export_model(folder.path, "sentence-transformers", tmp_path / "out")
    export_model(folder.path, "sentence-transformers", tmp_path / "out", replace=True)
    with pytest.raises(ValueError, match="trust_remote_code"):
        loaded(tmp_path / "out", trusted=False)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("words", {"to": "safetensors"}, "whose weights are in safetensors already"),
        ("words", {"field": "title"}, "has no fields: leave --field out"),
        ("words", {"base": "random:"}, "reads texts itself: leave --base out"),
        ("words", {"language": "en"}, "has one encoder for all languages"),
        ("mlmme", {"language": "jp"}, "cannot encode texts in jp: it was trained on en, ja"),
        ("mlmme", {"base": "random:"}, "reads texts itself: leave --base out"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, kind, given, said):
    folder = (words_model if kind == "words" else mlmme_model)(tmp_path)
    options = dict(given)
    to, out = options.pop("to", "sentence-transformers"), options.pop("out", "out")
    with pytest.raises(InputError, match=said) as raised:
        export_model(folder.path, to, tmp_path / out, **options)
    assert "\n" not in str(raised.value)
    assert {path.name for path in tmp_path.iterdir()} == {"m"}


def test_an_export_with_other_vectors_is_not_written(tmp_path, monkeypatch):
    from xlingual.integrations import sentence_transformers as ours_there

    folder = words_model(tmp_path, separate=True)
    monkeypatch.setattr(ours_there, "_DOCUMENT", ())
    with pytest.raises(InputError, match="gives other vectors than the model"):
        export_model(folder.path, "sentence-transformers", tmp_path / "out")
    assert not (tmp_path / "out").exists()
