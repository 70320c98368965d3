"""Exports of a repair: other programs get the vectors of `model:DIR::SPEC`."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder, write_model
from xlingual.records import Texts
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.workflows.export import export_model

DIM, OUT = 6, 4
TEXTS = ["a red chair", "ein roter Stuhl steht am Tisch", "lamp", "日本 椅子", "a very long text " * 12, "!"]
KINDS = {  # places, whether there is a matrix, and one for all
    "all": ([None], True, True),
    "by language": (["de", "en", "zh-Hant"], True, False),
    "one matrix, offsets by language": (["de", "en"], True, True),
    "offsets alone": (["de", "en"], False, True),
    "one language and all others": (["de", None], True, False),
    "a single language": (["de"], True, True),
}


def map_of(kind, dim=DIM):
    places, has_matrix, shared = KINDS[kind]
    rng = np.random.default_rng(len(places) + dim)
    out = OUT if has_matrix else dim
    matrix = rng.normal(size=(1 if shared else len(places), dim, out)) if has_matrix else None
    offset = rng.normal(size=(len(places), out))
    return Affine({tag: place for place, tag in enumerate(places)}, offset, matrix).rounded()


def write(path, map, base=None, similarity="cosine"):
    below = base or {"name": "lsa", "identity": "lsa:1", "dim": map.dim, "languages": ["de", "en"]}
    content = {
        "kind": "transform",
        "model": {"languages": map.places, "transforms": "whiten:", "similarity": similarity},
        "base": below,
        "data": {"source": "products.parquet", "digest": "abc"},
    }
    return write_model(path, content, map.arrays())


@pytest.fixture(params=list(KINDS))
def kind(request):
    return request.param


def tag_of(place):
    return "fr" if place is None else place


def expected(map, vectors, places):
    return map.apply(unit_rows(vectors), [tag_of(map.places[place]) for place in places])


def vectors_of(map, n=5):
    places = np.tile(np.arange(len(map.places)), n)
    return 3 * np.random.default_rng(1).normal(size=(len(places), map.dim)).astype(np.float32), places


def test_the_recipe_of_plain_arrays_gives_the_models_vectors(kind, tmp_path):
    """The lines of the README are run as they stand, for each language."""
    map = map_of(kind)
    out = tmp_path / "maps"
    made = export_model(write(tmp_path / "m", map).path, "safetensors", out)
    assert made.difference < 1e-5
    text = (out / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line]) == 5
    first = "*" if map.places[0] is None else map.places[0]
    vectors, _ = vectors_of(map)
    np.save(out / "v.npy", vectors)
    for place, tag in enumerate(map.places):
        own = code.replace(f'"{first}.', f'"{"*" if tag is None else tag}.')
        names = {"vectors": vectors}
        exec(own.replace('"maps.safetensors"', repr(str(out / "maps.safetensors"))), names)
        np.testing.assert_allclose(names["mapped"], expected(map, vectors, [place] * len(vectors)), atol=1e-5)
    ran = subprocess.run(
        [sys.executable, "-c", f"import numpy\nvectors = numpy.load('v.npy')\n{code}\nprint(mapped.shape)"],
        cwd=out,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == str((len(vectors), map.offset.shape[1]))


@pytest.mark.parametrize(
    ("to", "options", "said"),
    [
        ("safetensors", {"base": "random:"}, "leave --base out"),
        ("safetensors", {"language": "de"}, "maps of all languages alone: leave --language out"),
        ("safetensors", {"field": "title"}, "has no fields"),
        ("sentence-transformers", {}, "name it with --base SPEC; it is lsa, lsa:1; --to safetensors"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, to, options, said):
    folder = write(tmp_path / "m", map_of("by language"))
    with pytest.raises(InputError, match=said) as raised:
        export_model(folder.path, to, tmp_path / "out", **options)
    assert "\n" not in str(raised.value) and not (tmp_path / "out").exists()


def test_arrays_are_replaced_on_request_only(tmp_path):
    folder = write(tmp_path / "m", map_of("all"))
    for replace in (False, True):
        export_model(folder.path, "safetensors", tmp_path / "out", replace=replace)
    with pytest.raises(InputError, match="--force replaces it"):
        export_model(folder.path, "safetensors", tmp_path / "out")
    with pytest.raises(InputError, match="was not exported by xlingual"):
        export_model(folder.path, "safetensors", folder.path, replace=True)


def test_an_export_with_other_vectors_is_not_written(tmp_path, monkeypatch):
    folder = write(tmp_path / "m", map_of("by language"))
    monkeypatch.setattr(
        "xlingual.workflows.export.transform.matrix_and_offset",
        lambda map, tag: (map.matrix[0], map.offset[0]),
    )
    with pytest.raises(InputError, match="gives other vectors than the model"):
        export_model(folder.path, "safetensors", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ---- sentence-transformers


def base_of(spec):
    return next(iter(text_encoders([spec], languages=["de", "en"]).values()))


def below(spec):
    base = base_of(spec)
    dim = base.encode(Texts(["a"], ["en"], ["0"])).shape[1]
    return {"name": "st", "identity": base.identity, "dim": dim, "languages": ["de", "en"]}


def ours(folder, spec, tag, role=None):
    (encoder,) = text_encoders([f"model:{folder.path}::{spec}"], languages=[tag]).values()
    n = len(TEXTS)
    found = encoder.encode(Texts(TEXTS, [tag] * n, [str(i) for i in range(n)], role=role))
    encoder.notes()
    return found


@pytest.mark.parametrize(
    ("network", "scheme", "options", "mapped"),
    [
        ("sentence_bert", "st", "", "by language"),
        ("sentence_bert", "st", "", "all"),
        ("sentence_bert", "st", "?dim=8&prompt=passage: ", "one language and all others"),
        ("sentence_plain", "st", "?max_length=7", "offsets alone"),
        ("bert", "hf", "?pool=cls", "a single language"),
    ],
)
@pytest.mark.cases(2)
def test_the_library_gives_the_same_vectors(checkpoints, tmp_path, network, scheme, options, mapped):
    library = pytest.importorskip("sentence_transformers")
    spec = f"{scheme}:{checkpoints(network)}{options}"
    base = below(spec)
    map = map_of(mapped, base["dim"])
    folder = write(tmp_path / "m", map, base)
    several = len(map.places) > 1
    for tag in [tag_of(place) for place in map.places] if several else [None]:
        out = tmp_path / f"out-{tag}"
        made = export_model(folder.path, "sentence-transformers", out, base=spec, language=tag)
        assert made.difference < 1e-5
        model = library.SentenceTransformer(str(out), device="cpu")  # no remote code
        found = model.encode(TEXTS)
        own = ours(folder, spec, tag or map.places[0] or "en")
        np.testing.assert_allclose(found, own, atol=1e-5 * max(1, np.abs(own).max()))
        assert np.ptp(found, axis=0).max() > 1e-3
        assert str(model.similarity_fn_name).endswith("cosine")
        again = base_of(f"st:{out}").encode(
            Texts(TEXTS, ["de"] * len(TEXTS), [str(i) for i in range(len(TEXTS))])
        )
        np.testing.assert_allclose(again, found, atol=1e-5)


def test_prompts_by_role_go_with_it(checkpoints, tmp_path):
    library = pytest.importorskip("sentence_transformers")
    spec = f"st:{checkpoints('sentence_bert')}?prompt=red: &query_prompt=the: "
    base = below(spec)
    folder = write(tmp_path / "m", map_of("all", base["dim"]), base)
    export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)
    model = library.SentenceTransformer(str(tmp_path / "out"), device="cpu")
    for role, encode in (("query", model.encode_query), ("candidate", model.encode_document)):
        np.testing.assert_allclose(encode(TEXTS), ours(folder, spec, "en", role), atol=1e-5)
    assert "model.encode_query(asked)" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_languages_must_fit(checkpoints, tmp_path):
    pytest.importorskip("sentence_transformers")
    spec = f"st:{checkpoints('sentence_bert')}"
    base = below(spec)
    folder = write(tmp_path / "m", map_of("by language", base["dim"]), base)
    alike = write(tmp_path / "all", map_of("all", base["dim"]), base)
    cases = (
        (folder, None, r"a map for each language \(de, en, zh-Hant\).*with --language TAG"),
        (folder, "fr", "not in 'fr'"),
        (alike, "de", "maps texts of all languages alike: leave --language out"),
    )
    for model, tag, said in cases:
        with pytest.raises(InputError, match=said):
            export_model(model.path, "sentence-transformers", tmp_path / "o", base=spec, language=tag)
        assert not (tmp_path / "o").exists()


def test_a_base_that_is_no_network_is_refused(tmp_path):
    spec = f"random:?dim={DIM}"
    identity = base_of(spec).identity
    base = {"name": "random", "identity": identity, "dim": DIM, "languages": ["de", "en"]}
    folder = write(tmp_path / "m", map_of("all"), base)
    with pytest.raises(InputError, match="--to safetensors writes the map alone"):
        export_model(folder.path, "sentence-transformers", tmp_path / "out", base=spec)


def test_what_it_says_of_itself(tmp_path):
    folder = write(tmp_path / "m", map_of("by language"), similarity="csls?k=10")
    export_model(folder.path, "safetensors", tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    for word in (
        '- "de"',
        "`lsa` (6 dimensions) to 4 dimensions",
        "`csls?k=10`",
        "--offsets",
        "Map of vectors",
    ):
        assert word in text
    assert json.loads((tmp_path / "out" / "xlingual.json").read_text())["languages"] == [
        "de",
        "en",
        "zh-Hant",
    ]
    assert ModelFolder.read(tmp_path / "m").kind == "transform"
