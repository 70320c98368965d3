"""`compress` from the data to the page: the same numbers as the evaluations give, and errors in a line."""

import json
import warnings
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import Compression, Manifest, compress, crosslingual_retrieval, multilingual_pool
from xlingual.cli.main import run
from xlingual.encoders import text_encoders
from xlingual.errors import DataWarning, InputError
from xlingual.models.folder import write_model
from xlingual.report import page_of, verdict
from xlingual.report.blocks import walk
from xlingual.report.render import html
from xlingual.results.compression import KEPT

ITEMS, DIM = 60, 16
HERE = Path(__file__).parent
drawn = SimpleNamespace(**run_path(str(HERE / "evaluation" / "multilingual_pool" / "drawn.py")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a manifest of two splits, and vectors of its texts by id."""
    rng, made = np.random.default_rng(0), tmp_path_factory.mktemp("data")
    items = rng.normal(size=(2 * ITEMS, DIM)) * np.linspace(2, 0.2, DIM) + 0.3
    rows, ids, vectors = [], [], []
    for i in range(2 * ITEMS):
        for tag, noise in (("de", 0.5), ("en", 0.3), ("zh", 0.8)):
            split = "test" if i < ITEMS else "train"
            rows.append(
                {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": f"i{i}", "split": split}
            )
            ids.append(f"{tag}{i}")
            vectors.append(items[i] + noise * rng.normal(size=DIM))
    (made / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    np.savez(made / "v.npz", v=np.array(vectors, dtype=np.float32), ids=np.array(ids))
    return made


@pytest.fixture(scope="module")
def spec(folder):
    return f"e=vectors:{folder}/v.npz?key=v&id=ids"


@pytest.fixture(scope="module")
def manifest(folder):
    return Manifest.read(folder / "m.jsonl", split="test")


@pytest.fixture(scope="module")
def fit(folder):
    return f"{folder}/m.jsonl#train"


@pytest.fixture(scope="module")
def found(manifest, spec, fit):
    return quiet(manifest, spec, fit=fit, dims=[16, 8], measure="RR", rescore=5, replicates=199)


def quiet(*given, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return compress(*given, store=None, **more)


def test_there_is_every_form_and_their_bytes(found):
    assert {form.name: form.bytes for form in found.forms} == {
        "f16 16": 32, "int8 16": 16, "binary 16": 2, "binary 16 rescored": 2,
        "f32 8": 32, "f16 8": 16, "int8 8": 8, "binary 8": 1, "binary 8 rescored": 1,
        "f32 8 pca": 32, "f16 8 pca": 16, "int8 8 pca": 8, "binary 8 pca": 1, "binary 8 pca rescored": 1,
    }  # fmt: skip
    assert [form.bytes for form in found.forms] == sorted((form.bytes for form in found.forms), reverse=True)
    assert (found.dim, found.bytes, found.n_fit, len(found.full)) == (16, 64, 3 * ITEMS, 6)


def test_each_form_has_the_numbers_that_its_spec_has_in_the_evaluation(found, manifest, spec):
    specs = {"full": spec.partition("=")[2]} | {form.name: form.spec for form in found.forms if form.spec}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        results = crosslingual_retrieval(manifest, specs, measures="RR", store=None)
    values = {(one.encoder, one.source, one.target): one.value for one in results.entries}
    for i, pair in enumerate(found.full):
        assert values["full", pair.source, pair.target] == pytest.approx(pair.value, abs=1e-12)
        for form in found.forms:
            if form.spec:
                expected = values[form.name, pair.source, pair.target]
                assert form.pairs[i].value == pytest.approx(expected, abs=1e-12), form.name


def test_a_wide_delta_keeps_more(manifest, spec, fit, found):
    wide = quiet(manifest, spec, fit=fit, dims=[16, 8], measure="RR", rescore=5, replicates=199, delta=0.5)
    assert wide.smallest is not None
    chosen = wide.form(wide.smallest)
    assert chosen.bytes == min(form.bytes for form in wide.forms if form.outcome == KEPT)
    assert {form.name: form.value for form in wide.forms} == {form.name: form.value for form in found.forms}
    assert "is the smallest form that loses less than 0.5 XLR RR" in verdict(wide)[0]


def test_a_pool_has_the_numbers_of_its_views():
    rng = np.random.default_rng(3)
    pool, questions, candidates = drawn.drawn(rng, 40, 60, dim=8, levels=9, repeats=0)
    encoder = drawn.Given(questions + 0.25, candidates + 0.25)
    found = quiet(pool, {"given": encoder}, dims=[8, 4], replicates=199)
    assert (found.task, found.measure, found.smallest) == ("multilingual-pool", "AP", None)
    results = multilingual_pool(pool, {"given": encoder}, views="one-target", store=None)
    view = results.entries[0].views.one_target
    assert {f"{pair.source}->{pair.target}": pair.value for pair in found.full} == pytest.approx(view)
    assert found.whole == pytest.approx(results.entries[0].value)
    assert all(form.spec is None for form in found.forms)  # an object has none
    assert not [form for form in found.forms if form.dtype == "int8" or form.reduction == "pca"]
    assert found.note == verdict(found)[-1]
    assert found.note.startswith("Not tried: int8 and pca, fitted on texts")


def test_equal_requests_give_equal_files(manifest, spec, fit, found, tmp_path):
    again = quiet(manifest, spec, fit=fit, dims=[16, 8], measure="RR", rescore=5, replicates=199, threads=2)
    one, other = (
        {k: v for k, v in x.to_dict().items() if k not in ("timings", "run")} for x in (found, again)
    )
    assert one == other
    found.write(tmp_path)
    assert Compression.read(tmp_path).to_dict() == found.to_dict()


def test_the_page_names_pairs_and_forms(found):
    page = page_of(found)
    text = html.render(page)
    for form in found.forms:
        assert form.name in text
    assert "German (de) → Chinese (zh)" in text
    assert "Berger 1982" in text
    assert {type(block).__name__ for section in page.sections for block in walk(section.blocks)} >= {
        "Figure", "Table", "Matrix"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtypes": ["int8"]}, "dtypes='int8' is fitted on texts: name texts that are not evaluated"),
        ({"reduce": ["pca"]}, "reduce='pca' is fitted on texts"),
        ({"dtypes": ["int4"]}, "dtypes='int4': expected some of f32, f16, int8, binary"),
        ({"reduce": ["svd"]}, "reduce='svd': expected some of truncate, pca"),
        ({"dims": [17]}, "dims='17': the encoder's vectors have 16 dimensions: name fewer"),
        ({"dims": [0]}, "a number of dimensions is at least 1, found 0"),
        ({"dims": [16], "dtypes": ["f32"]}, "nothing to compare: 16 dimensions in f32 are the full vectors"),
        ({"delta": 0.0}, "delta='0': expected more than 0"),
        ({"alpha": 0.7}, "alpha='0.7': expected more than 0"),
        ({"replicates": 9}, "replicates='9' cannot show anything at alpha 0.05: at least 40"),
        ({"measure": "MedR"}, "MedR is a median"),
        ({"text_encoder": ["a=random:", "b=random:?seed=1"]}, "expected one encoder"),
        ({"text_encoder": "bm25:"}, "a smaller form needs one dense vector for each text"),
        ({"pairs": "de-fr"}, "fr"),
    ],
)
def test_what_cannot_be_is_refused(manifest, spec, options, words):
    with pytest.raises(InputError, match=words):
        quiet(manifest, **{"text_encoder": spec} | options)


def test_texts_to_fit_on_are_not_evaluated(folder, manifest, spec):
    with pytest.raises(InputError, match="180 of the texts that are evaluated are among those to fit on"):
        quiet(manifest, spec, fit=f"{folder}/m.jsonl")


def test_dimensions_of_pca_end_where_its_texts_vary_no_more(folder, manifest, spec):
    three = f"{folder}/m.jsonl#{3 * ITEMS}:{3 * ITEMS + 9}"
    found = quiet(manifest, spec, fit=three, replicates=199, dtypes=["f16"])
    assert {(form.reduction, form.dim) for form in found.forms} == {
        ("none", 16), ("truncate", 8), ("pca", 8)
    }  # fmt: skip
    two = f"{folder}/m.jsonl#{3 * ITEMS}:{3 * ITEMS + 6}"
    found = quiet(manifest, spec, fit=two, replicates=199, dtypes=["f16"])
    assert {(form.reduction, form.dim) for form in found.forms} == {("none", 16), ("truncate", 8)}
    with pytest.raises(InputError, match=r"pca: 8 directions are asked for, and the texts .* vary in 5"):
        quiet(manifest, spec, fit=two, reduce=["pca"], dims=[8])


def test_the_command_writes_and_shows(folder, spec, tmp_path, capsys):
    options = [
        "compress", f"{folder}/m.jsonl", "--split", "test", "--text-encoder", spec,
        "--fit", f"{folder}/m.jsonl#train", "--dims", "16,8", "--dtype", "int8,binary", "--rescore", "0",
        "--pairs", "de-en,en-de", "--replicates", "199", "--no-store",
    ]  # fmt: skip
    assert run([*options, "--out", str(tmp_path / "out"), "--report"]) == 0
    shown = capsys.readouterr().out
    assert "smaller forms" in shown
    assert "Loss by language pair" in shown
    found = Compression.read(tmp_path / "out")
    assert found.forms[0].name == "int8 16"
    assert found.request["dims"] == [16, 8]
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert run(["report", str(tmp_path / "out"), "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("int8 16,none,16,int8") == 2
    assert run([*options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "xlingual/compression/1"
    assert run([*options[:-1], "--dims", "x"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_encoders_own_correction_of_hubs_is_left_out(manifest, spec, tmp_path):
    """Forms are compared by cosine, as the signature says, and a warning too."""
    (base,) = text_encoders(spec, languages=manifest.languages).values()
    content = {
        "kind": "transform",
        "model": {"languages": [None], "transforms": "x:", "similarity": "csls?k=2"},
        "base": {"name": "e", "identity": base.identity, "dim": DIM, "languages": []},
    }
    arrays = {
        "matrix": np.eye(DIM, dtype=np.float32)[None],
        "offset": np.zeros((1, DIM), dtype=np.float32),
        "bank": np.random.default_rng(1).normal(size=(5, DIM)).astype(np.float32),
    }
    below = spec.removeprefix("e=")
    model = f"model:{write_model(tmp_path / 'm', content, arrays).path}"
    own, plain = (quiet(manifest, f"{model}{how}::{below}", dtypes=["f16"]) for how in ("", "?hubs=plain"))
    assert (own.full, own.forms[0].value) == (plain.full, plain.forms[0].value)
    assert "csls" not in own.signature
    assert any("csls?k=2), which is left out" in one for one in own.warnings)
    assert not any("correction" in one for one in plain.warnings)
