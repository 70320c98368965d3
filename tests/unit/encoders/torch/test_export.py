"""Exports of a Triplet: other programs get the model's vectors, and what cannot be exported is refused."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
library = pytest.importorskip("sentence_transformers")

from xlingual.encoders import text_encoders  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.models.folder import write_model  # noqa: E402
from xlingual.models.triplet import Triplet, TripletConfig  # noqa: E402
from xlingual.records import Texts  # noqa: E402
from xlingual.workflows.export import export_model  # noqa: E402

TITLES = ["a red chair", "", "lamp", "water, glass and a table", "日本 椅子", "a very long text " * 12]
BODIES = ["ein roter Stuhl steht am Tisch", "!", "a red chair " * 20, "the table", "text", "long lamp"]
OUT = 30  # dimensions of a half


def base_of(spec):
    return next(iter(text_encoders([spec], languages=["en"]).values()))


@pytest.fixture
def trained(tmp_path):
    """Give a function from a base's spec to the folder of a Triplet over it, with random weights."""

    def make(spec, **more):
        base = base_of(spec)
        dim = base.encode(Texts(["a"], ["en"], ["0"])).shape[1]
        config = TripletConfig(base_dim=dim, hidden_dim=40, out_dim=OUT, **more)
        below = {"name": "base", "identity": base.identity, "dim": dim}
        content = {"kind": "triplet", "model": config.to_dict(), "base": below}
        return write_model(tmp_path / "m", content, Triplet(config, seed=3).state_dict())

    return make


def recipes(role=None):
    n = len(TITLES)
    fields = {"title": TITLES, "body": BODIES}
    return Texts([""] * n, ["en"] * n, [str(i) for i in range(n)], fields=fields, role=role)


def ours(folder, spec, role=None):
    """Return the model's own vectors of recipes as xlingual gives them."""
    encoder = next(iter(text_encoders([f"model:{folder.path}::{spec}"], languages=["en"]).values()))
    vectors = encoder.encode(recipes(role))
    encoder.notes()
    return vectors


def filled(texts, others):
    return [one or other for one, other in zip(texts, others, strict=True)]


@pytest.mark.parametrize(
    ("kind", "scheme", "options"),
    [
        ("bert", "hf", ""),
        ("bert", "hf", "?pool=cls&max_length=9&prompt=query: "),
        ("xlmr", "hf", "?pool=last"),
        ("sentence_bert", "st", ""),
        ("sentence_bert", "st", "?dim=8&prompt=passage: "),
        ("sentence_plain", "st", "?max_length=7"),
        ("distilbert", "st", ""),
    ],
)
@pytest.mark.cases(2)
def test_the_library_gives_the_same_vectors(checkpoints, trained, tmp_path, kind, scheme, options):
    spec = f"{scheme}:{checkpoints(kind)}{options}"
    folder = trained(spec)
    made = export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    assert (made.dim, made.to) == (OUT, "sentence-transformers") and 0 <= made.difference < 1e-5
    model = library.SentenceTransformer(str(tmp_path / "out"), device="cpu")  # no remote code
    title, body = (model.encode(part) for part in (filled(TITLES, BODIES), filled(BODIES, TITLES)))
    expected = ours(folder, spec)
    np.testing.assert_allclose(np.hstack([title, body]), expected, atol=1e-5)
    assert np.ptp(expected, axis=0).max() > 0.1
    assert not list((tmp_path / "out").rglob("*.py")) and not list((tmp_path / "out").rglob("*.bin"))
    assert {path.name for path in tmp_path.iterdir()} == {"m", "out"}  # nothing is left beside it


def test_prompts_by_role_go_with_it(checkpoints, trained, tmp_path):
    spec = f"st:{checkpoints('sentence_bert')}?prompt=red: &query_prompt=the: "
    folder = trained(spec)
    export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    model = library.SentenceTransformer(str(tmp_path / "out"), device="cpu")
    found = {None: model.encode, "query": model.encode_query, "candidate": model.encode_document}
    vectors = {}
    for role, encode in found.items():
        vectors[role] = ours(folder, spec, role)
        np.testing.assert_allclose(encode(filled(TITLES, BODIES)), vectors[role][:, :OUT], atol=1e-5)
    assert np.abs(vectors["query"] - vectors["candidate"]).max() > 1e-3


def test_towers_of_their_own_are_exported_each(checkpoints, trained, tmp_path):
    spec = f"hf:{checkpoints('bert')}"
    folder = trained(spec, separate_towers=True, scaling="raw")
    expected = ours(folder, spec)
    for i, (field, texts) in enumerate((("title", filled(TITLES, BODIES)), ("body", filled(BODIES, TITLES)))):
        out = tmp_path / field
        export_model(folder.path, "sentence-transformers", out, base=spec, field=field)
        found = library.SentenceTransformer(str(out), device="cpu").encode(texts)
        np.testing.assert_allclose(found, expected[:, i * OUT : (i + 1) * OUT], atol=1e-5, rtol=1e-5)
        assert (
            f"reads the {'titles' if field == 'title' else 'bodies'} only" in (out / "README.md").read_text()
        )
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() > 0.1  # raw: not of unit length


def test_it_is_an_encoder_here_too(checkpoints, trained, tmp_path):
    spec = f"hf:{checkpoints('bert')}"
    folder = trained(spec)
    export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    n = len(TITLES)
    batch = Texts(filled(TITLES, BODIES), ["en"] * n, [str(i) for i in range(n)])
    found = base_of(f"st:{tmp_path / 'out'}").encode(batch)
    np.testing.assert_allclose(found, ours(folder, spec)[:, :OUT], atol=1e-5)


def test_what_it_says_of_itself(checkpoints, trained, tmp_path):
    spec = f"hf:{checkpoints('bert')}"
    folder = trained(spec, split="first-sentence")
    export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert 'model = SentenceTransformer("out")' in text and "np.hstack([title, body])" in text
    assert "title is a text's first sentence" in text and "the mean of the cosines" in text
    settings = json.loads((tmp_path / "out" / "xlingual.json").read_text(encoding="utf-8"))
    assert settings["model"] == f"model:triplet:{folder.digest[:16]}" and settings["field"] == "both"
    assert settings["base"] == folder.config["base"]["identity"]
    assert settings["model"] in settings["signature"]
    kinds = [part["type"] for part in json.loads((tmp_path / "out" / "modules.json").read_text())]
    names = ["Transformer", "Pooling", "Dense", "Dense", "Normalize"]
    assert kinds == [f"sentence_transformers.models.{name}" for name in names]


@pytest.mark.parametrize(
    ("kind", "spec", "said"),
    [
        ("bert", "hf:{}?pool=pooler", "pool=pooler has no equivalent"),
        ("sentence_bert", "st:{}?dtype=bfloat16", "dtype=bfloat16 has no equivalent"),
        ("bert", "chargram", "only st: and hf: encoders"),
    ],
)
def test_bases_that_the_library_cannot_be_are_refused(checkpoints, trained, tmp_path, kind, spec, said):
    if kind == "xlm":
        pytest.importorskip("sacremoses")
    spec = spec.format(checkpoints(kind))
    folder = trained(spec)
    with pytest.raises(InputError, match=said) as raised:
        export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    assert "\n" not in str(raised.value)
    assert {path.name for path in tmp_path.iterdir()} == {"m"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "name it with --base SPEC; it is base, hf:"),
        ({"base": "hf:{}?pool=cls"}, "was trained on another encoder"),
        ({"base": "hf:{}", "field": "title"}, "leave --field out"),
        ({"to": "tensorflow"}, "choose one of sentence-transformers, safetensors"),
        ({"base": "hf:{}", "out": "m"}, "was not exported by xlingual"),
        ({"base": "hf:{}", "out": "m", "replace": True}, "was not exported by xlingual"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(checkpoints, trained, tmp_path, options, said):
    bert = checkpoints("bert")
    folder = trained(f"hf:{bert}")
    settings = {name: v.format(bert) if isinstance(v, str) else v for name, v in options.items()}
    to, out = settings.pop("to", "sentence-transformers"), settings.pop("out", "out")
    with pytest.raises(InputError, match=said) as raised:
        export_model(folder.path, to, tmp_path / out, **settings)
    assert "\n" not in str(raised.value)
    assert (folder.path / "config.json").is_file()


def test_towers_of_their_own_need_a_field(checkpoints, trained, tmp_path):
    spec = f"hf:{checkpoints('bert')}"
    folder = trained(spec, separate_towers=True)
    with pytest.raises(InputError, match="with --field title and with --field body"):
        export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)


def test_an_export_is_replaced_on_request_only_and_never_its_own_base(checkpoints, trained, tmp_path):
    spec = f"hf:{checkpoints('bert')}"
    folder, out = trained(spec), tmp_path / "out"
    export_model(folder.path, "sentence-transformers", out, base=spec)
    (out / "stale").write_text("")
    with pytest.raises(InputError, match="--force replaces it"):
        export_model(folder.path, "sentence-transformers", out, base=spec)
    export_model(folder.path, "sentence-transformers", out, base=spec, replace=True)
    assert not (out / "stale").exists()
    above = trained(f"st:{out}")
    with pytest.raises(InputError, match="name a new folder"):
        export_model(above.path, "sentence-transformers", out, base=f"st:{out}", replace=True)


def test_an_export_with_other_vectors_is_not_written(checkpoints, trained, tmp_path, monkeypatch):
    from xlingual.workflows.export import checkpoint

    spec = f"hf:{checkpoints('bert')}?pool=cls"
    folder = trained(spec)
    monkeypatch.setitem(checkpoint._MODES, "cls", "mean_tokens")
    monkeypatch.setitem(checkpoint._MODES, "mean", "cls_token")
    with pytest.raises(InputError, match="gives other vectors than the model"):
        export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    assert not (tmp_path / "out").exists()


def test_languages_are_not_for_a_triplet(checkpoints, trained, tmp_path):
    folder = trained(f"hf:{checkpoints('bert')}")
    with pytest.raises(InputError, match="reads texts of all languages alike: leave --language out"):
        export_model(folder.path, "sentence-transformers", tmp_path / "m", language="en")
