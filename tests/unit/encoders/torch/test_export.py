"""Exports: other programs get the model's vectors, and what cannot be exported is refused in one line."""

import json
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")
library = pytest.importorskip("sentence_transformers")

from xlingual.encoders import text_encoders  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.models.configs import DualEncoderConfig, MlmmeConfig, TripletConfig  # noqa: E402
from xlingual.models.dual_encoder import DualEncoder  # noqa: E402
from xlingual.models.folder import write_model  # noqa: E402
from xlingual.models.mlmme import Mlmme  # noqa: E402
from xlingual.models.texts import SHARED, Vocabulary  # noqa: E402
from xlingual.models.triplet import Triplet  # noqa: E402
from xlingual.records import Texts  # noqa: E402
from xlingual.transforms.affine import Affine, unit_rows  # noqa: E402
from xlingual.workflows.export import export_model  # noqa: E402

TEXTS = ["a red chair", "lamp !", "water, glass and a table", "日本 椅子", "a very long text " * 12, "!"]
BODIES = ["ein roter Stuhl steht am Tisch", "!", "a red chair " * 20, "the table", "text", "long lamp"]
WORDS = ["a", "red", "chair", "lamp", "water", "glass", "table", "long", "text", "日", "本"]
ST = "sentence-transformers"
LIST = {"languages": ["de", "en"]}


def encoder_of(spec):
    return next(iter(text_encoders([spec], languages=["de", "en"]).values()))


def below(spec):
    """Describe a base, as the folder of a model does."""
    base = encoder_of(spec)
    dim = base.encode(Texts(["a"], ["en"], ["0"])).shape[1]
    return {"name": "base", "identity": base.identity, "dim": dim, **LIST}


def random_weights(model):
    """Change every weight at random, also those that begin as zero."""
    draw = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim():
                weight.add_(torch.randn(weight.shape, generator=draw) * 0.3)
    return model.state_dict()


def triplet(path, spec, **more):
    base = below(spec)
    config = TripletConfig(base_dim=base["dim"], hidden_dim=40, out_dim=30, **more)
    content = {"kind": "triplet", "model": config.to_dict(), "base": base}
    return write_model(path / "m", content, Triplet(config, seed=3).state_dict()).path


def mapped(path, places, base, similarity="cosine"):
    rng = np.random.default_rng(len(places))
    matrix, offset = rng.normal(size=(len(places), base["dim"], 4)), rng.normal(size=(len(places), 4))
    map = Affine({tag: place for place, tag in enumerate(places)}, offset, matrix).rounded()
    content = {"kind": "transform", "base": base, "data": {"source": "products.parquet", "digest": "abc"}}
    content["model"] = {"languages": map.places, "transforms": "whiten:", "similarity": similarity}
    return write_model(path / "m", content, map.arrays()).path, map


def dual(path, checkpoint=None, base=None, **more):
    content, words, save = {"kind": "dual-encoder", "data": LIST}, {}, None
    network = None
    if base is not None:
        config, content["base"] = DualEncoderConfig("vectors", dim=base["dim"], hidden=5), base
    elif checkpoint is None:
        config = DualEncoderConfig(
            "words", dim=12, features=2 + len(WORDS) + 32, ngrams=(3, 4), buckets=32, hidden=5, **more
        )
        words = {SHARED: Vocabulary(tuple(WORDS))}
    else:
        from transformers import AutoModel, AutoTokenizer

        network = AutoModel.from_pretrained(checkpoint)
        config = DualEncoderConfig("transformer", dim=network.config.hidden_size, max_length=11, **more)

        def save(folder):
            network.config.save_pretrained(folder)
            AutoTokenizer.from_pretrained(checkpoint).save_pretrained(folder)

    weights = random_weights(DualEncoder(config, network=network))
    return write_model(path / "m", content | {"model": config.to_dict()}, weights, words, network=save).path


def mlmme(path):
    words = {"en": Vocabulary(tuple(WORDS)), "ja": Vocabulary(tuple(WORDS[1:]))}
    sizes = {tag: len(each) for tag, each in words.items()}
    config = MlmmeConfig(("en", "ja"), sizes, word_dim=6, state_dim=7, joint_dim=8, picture_dim=5)
    content = {"kind": "mlmme", "model": config.to_dict()}
    return write_model(path / "m", content, random_weights(Mlmme(config)), words).path


def ours(folder, base="", language="en", role=None, **more):
    (encoder,) = text_encoders([f"model:{folder}{base}"], languages=[language]).values()
    n = len(TEXTS)
    vectors = encoder.encode(Texts(TEXTS, [language] * n, list(map(str, range(n))), role=role, **more))
    encoder.notes()
    assert np.ptp(vectors, axis=0).max() > 0.1
    return vectors


def loaded(out, trusted=False):
    return library.SentenceTransformer(str(out), device="cpu", trust_remote_code=trusted)


def by_role(model):
    return {None: model.encode, "query": model.encode_query, "candidate": model.encode_document}.items()


@pytest.mark.parametrize(
    ("kind", "scheme", "options"),
    [
        ("bert", "hf", "?pool=cls&max_length=9&prompt=query: "),
        ("xlmr", "hf", "?pool=last"),
        ("sentence_bert", "st", "?dim=8&prompt=red: &query_prompt=the: "),
        ("sentence_plain", "st", "?max_length=7"),
    ],
)
@pytest.mark.cases(2)
def test_layers_and_maps_go_with_their_base(checkpoints, tmp_path, kind, scheme, options):
    spec = f"{scheme}:{checkpoints(kind)}{options}"
    folder = triplet(tmp_path / "t", spec)
    export_model(folder, ST, tmp_path / "out", base=spec)
    fields = {"title": TEXTS, "body": BODIES}
    for role, encode in by_role(loaded(tmp_path / "out")):
        expected = ours(folder, f"::{spec}", role=role, fields=fields)
        np.testing.assert_allclose(np.hstack([encode(TEXTS), encode(BODIES)]), expected, atol=1e-5)
    folder, _ = mapped(tmp_path, ["de", None], below(spec))
    for tag in ("de", "fr"):
        result = export_model(folder, ST, tmp_path / tag, base=spec, language=tag)
        assert (result.dim, result.to) == (4, ST) and result.difference < 1e-5
        for role, encode in by_role(loaded(tmp_path / tag)):
            expected = ours(folder, f"::{spec}", tag, role)
            np.testing.assert_allclose(encode(TEXTS), expected, atol=1e-5 * max(1, np.abs(expected).max()))
    assert {path.name for path in tmp_path.iterdir()} == {"t", "m", "out", "de", "fr"}
    assert not list((tmp_path / "out").rglob("*.py")) and not list((tmp_path / "out").rglob("*.bin"))


def test_an_export_says_what_it_is_and_is_an_encoder_here(checkpoints, tmp_path):
    spec, out = f"hf:{checkpoints('bert')}", tmp_path / "out"
    folder = triplet(tmp_path, spec, separate_towers=True, scaling="raw")
    for field, half in (("title", slice(30)), ("body", slice(30, None))):
        export_model(folder, ST, out, base=spec, field=field, replace=True)
        vectors = encoder_of(f"st:{out}").encode(Texts(TEXTS, ["en"] * 6, list(map(str, range(6)))))
        expected = ours(folder, f"::{spec}", fields={"title": TEXTS, "body": TEXTS})[:, half]
        np.testing.assert_allclose(vectors, expected, atol=1e-5, rtol=1e-5)
    about = json.loads((out / "xlingual.json").read_text())
    assert about["field"] == "body" and about["model"] in about["signature"]
    assert 'model = SentenceTransformer("out")' in (out / "README.md").read_text(encoding="utf-8")
    (out / "stale").write_text("")
    with pytest.raises(InputError, match="--force replaces it"):
        export_model(folder, ST, out, base=spec, field="title")
    with pytest.raises(InputError, match="with --field title and with --field body"):
        export_model(folder, ST, out, base=spec, replace=True)
    export_model(folder, ST, out, base=spec, field="title", replace=True)
    assert not (out / "stale").exists()
    above = triplet(tmp_path / "above", f"st:{out}")
    with pytest.raises(InputError, match="name a new folder"):  # its own base
        export_model(above, ST, out, base=f"st:{out}", replace=True)


@pytest.mark.parametrize("more", [{}, {"separate": True, "context": True}], ids=["one", "context"])
@pytest.mark.parametrize("kind", ["words", "bert"])
def test_a_dual_encoder(checkpoints, tmp_path, kind, more):
    folder = dual(tmp_path, None if kind == "words" else checkpoints(kind), **more)
    export_model(folder, ST, tmp_path / "out")
    plain = kind == "bert" and not more  # modules of the library alone
    model = loaded(tmp_path / "out", trusted=not plain)
    for role, encode in by_role(model):
        np.testing.assert_allclose(encode(TEXTS, batch_size=2), ours(folder, role=role), atol=1e-5)
    if more:
        pairs = list(zip(TEXTS, BODIES, strict=True))
        expected = ours(folder, role="candidate", context=BODIES)
        np.testing.assert_allclose(model.encode_document(pairs), expected, atol=1e-5)
        with pytest.raises(ValueError, match="trust_remote_code"):
            loaded(tmp_path / "out")


def test_a_layer_over_an_encoder_that_is_exported_with_it(checkpoints, tmp_path):
    spec = f"st:{checkpoints('sentence_bert')}?prompt=red: &query_prompt=the: "
    folder = dual(tmp_path, base=below(spec))
    export_model(folder, ST, tmp_path / "out", base=spec)
    for role, encode in by_role(loaded(tmp_path / "out", trusted=True)):
        np.testing.assert_allclose(encode(TEXTS), ours(folder, f"::{spec}", role=role), atol=1e-5)


def test_languages_of_an_mlmme(tmp_path):
    folder = mlmme(tmp_path)
    assert export_model(folder, ST, tmp_path / "out").dim == 8
    model = loaded(tmp_path / "out", trusted=True)
    for tag in ("en", "ja"):
        vectors = model.encode(TEXTS, language=tag, batch_size=4)
        np.testing.assert_allclose(vectors, ours(folder, language=tag), atol=1e-5)
    with pytest.raises(InputError, match="an encoder for each of en, ja"):
        model.encode(TEXTS)
    with pytest.raises(InputError, match="language 'jp' is unknown"):
        model.encode(TEXTS, language="jp")
    export_model(folder, ST, tmp_path / "out", language="ja", replace=True)
    vectors = loaded(tmp_path / "out", trusted=True).encode(TEXTS)
    np.testing.assert_allclose(vectors, ours(folder, language="ja"), atol=1e-5)


def test_the_library_writes_a_module_again_and_trains_it(tmp_path):
    export_model(dual(tmp_path, separate=True), ST, tmp_path / "out")
    model = loaded(tmp_path / "out", trusted=True)
    before = model.encode_document(TEXTS)
    model(model.preprocess(TEXTS, task="document"), task="document")["sentence_embedding"].sum().backward()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.grad is not None:
                weight += 0.1 * weight.grad.sign()
    after = model.encode_document(TEXTS)
    assert np.abs(after - before).max() > 1e-3
    model.save(str(tmp_path / "again"))
    np.testing.assert_allclose(
        loaded(tmp_path / "again", trusted=True).encode_document(TEXTS), after, atol=1e-6
    )


@pytest.mark.parametrize("places", [[None], ["de", "en", "zh-Hant"], ["de", None]])
def test_the_lines_of_the_readme_give_the_vectors_of_a_map(tmp_path, places):
    """The lines are run as they stand, for each language."""
    base = {"name": "lsa", "identity": "lsa:1", "dim": 6, **LIST}
    (folder, map), out = mapped(tmp_path, places, base, "csls?k=10"), tmp_path / "maps"
    assert export_model(folder, "safetensors", out).difference < 1e-5
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "`csls?k=10`" in text and "--offsets" in text
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    vectors = np.random.default_rng(1).normal(size=(5, 6)).astype(np.float32)
    for tag in places:
        lines = code.replace(
            f'"{"*" if places[0] is None else places[0]}.', f'"{"*" if tag is None else tag}.'
        )
        names = {"vectors": vectors}
        exec(lines.replace('"maps.safetensors"', repr(str(out / "maps.safetensors"))), names)
        expected = map.apply(unit_rows(vectors), ["fr" if tag is None else tag] * 5)
        np.testing.assert_allclose(names["mapped"], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("dual", {"to": "tensorflow"}, "choose one of"),
        ("dual", {"to": "safetensors"}, "in safetensors already"),
        ("dual", {"field": "title"}, "leave it out"),
        ("dual", {"base": "random:"}, "leave it out"),
        ("dual", {"out": "m", "replace": True}, "was not exported by xlingual"),
        ("mlmme", {"language": "jp"}, "cannot encode texts in jp"),
        ("map", {"to": "safetensors", "language": "de"}, "leave it out"),
        ("map", {}, "name it with --base SPEC"),
        ("map", {"base": "random:?dim=8"}, "only st: and hf: encoders"),
        ("triplet", {"base": "hf:{}"}, "with --language|is below it|leave"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(checkpoints, tmp_path, kind, options, said):
    spec = f"hf:{checkpoints('bert')}"
    folder = {
        "dual": lambda: dual(tmp_path),
        "mlmme": lambda: mlmme(tmp_path),
        "map": lambda: mapped(tmp_path, ["de", "en"], below("random:?dim=8"))[0],
        "triplet": lambda: triplet(tmp_path, f"{spec}?pool=cls"),
    }[kind]()
    options = {name: spec if one == "hf:{}" else one for name, one in options.items()}
    with pytest.raises(InputError, match=said) as raised:
        export_model(folder, options.pop("to", ST), tmp_path / options.pop("out", "out"), **options)
    assert "\n" not in str(raised.value) and {path.name for path in tmp_path.iterdir()} == {"m"}


def test_a_map_of_each_language_needs_one(checkpoints, tmp_path):
    spec = f"hf:{checkpoints('bert')}"
    folder, _ = mapped(tmp_path, ["de", "en"], below(spec))
    for tag, said in ((None, "with --language TAG"), ("fr", "not in 'fr'")):
        with pytest.raises(InputError, match=said):
            export_model(folder, ST, tmp_path / "out", base=spec, language=tag)
    folder, _ = mapped(tmp_path / "all", [None], below(spec))
    with pytest.raises(InputError, match="leave --language out"):
        export_model(folder, ST, tmp_path / "out", base=spec, language="de")


@pytest.mark.parametrize("to", [ST, "safetensors"])
def test_an_export_with_other_vectors_is_not_written(checkpoints, tmp_path, monkeypatch, to):
    spec = f"hf:{checkpoints('bert')}"
    folder, _ = mapped(tmp_path, ["de", "en"], below(spec))
    more = {"base": spec, "language": "en"} if to == ST else {}
    apply = Affine.apply
    monkeypatch.setattr(Affine, "apply", lambda map, *rows: 1 - apply(map, *rows))
    with pytest.raises(InputError, match="gives other vectors than the model"):
        export_model(folder, to, tmp_path / "out", **more)
    assert not (tmp_path / "out").exists()
