"""`xlingual validate backretrieval`: what it writes, and the products with 24 encoders."""

import json
from pathlib import Path

import numpy as np
import pytest

from xlingual import Manifest, validate_backretrieval


@pytest.fixture
def validate(xlingual, work):
    rng = np.random.default_rng(1)
    for i, noise in enumerate((1.0, 2.0)):
        for language in ("en", "de"):
            vectors = np.load(f"v/good.{language}.npy")
            np.save(f"v/mid{i}.{language}.npy", vectors + noise * rng.standard_normal(vectors.shape))

    def command(*more, task="backretrieval"):
        return xlingual(
            *("validate", task, "s", "--pair", "en-de", "--text-encoder", "v/*.{lang}.npy"),
            *("--image-encoder", "img.npy", "--threads", "1", *more),
        )

    return command


def test_it_writes_validation_json(validate):
    done = validate(
        "--seeds", "3", "--both-directions", "--out", "out", "--quiet", "--degrade-images", "shuffle"
    )
    assert (done.code, done.out, done.warnings) == (0, "", [])
    content = json.loads(Path("out/validation.json").read_text())
    assert content["schema"] == "xlingual/validation/1"
    assert [(p["source"], p["target"]) for p in content["pairs"]] == [("en", "de"), ("de", "en")]
    assert {e["encoder"] for e in content["pairs"][0]["encoders"]} == {"good", "bad", "mid0", "mid1"}
    assert len(content["pairs"][0]["encoders"][0]["XLR"]["per_seed"]) == 3
    assert [d["kind"] for d in content["degradations"]] == ["none", "shuffle"] * 2
    assert content["directions"]


def test_the_short_name_and_json_on_the_screen(validate):
    done = validate("--seeds", "2", "--json", task="bkr")
    assert done.code == 0
    assert json.loads(done.out)["measure"] == "R@10"


def test_other_forms_on_the_screen(validate):
    table, markdown, latex, lines = (
        validate("--seeds", "2", "--format", form).out for form in ("table", "markdown", "latex", "csv")
    )
    assert "Agreement with XLR over encoders" in table
    assert "| BkR | Pearson |" in markdown and r"\begin{tabular}" in latex
    assert any(
        line.startswith("Agreement with XLR over encoders,BkR,Pearson,") for line in lines.splitlines()
    )


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--family", "("], "not a regular expression"),
        (["--degrade-images", "dims=x"], "whole numbers"),
        (["--report"], "say where with --out"),
        (["--measure", "MedR"], "takes R@k"),
        (["--sample-size", "900"], "larger than the data"),
        (["--splits", "splits.npz", "--seeds", "25"], "--splits fixes samples and seeds: leave out --seeds"),
        (["--splits", "splits.npz", "--seeds", "24"], "--splits fixes samples and seeds: leave out --seeds"),
    ],
)
def test_what_cannot_be_done_is_one_line(validate, more, text):
    done = validate(*more)
    assert done.code == 2
    assert text in done.err
    assert done.err.count("\n") == 1


def test_a_task_that_cannot_be_validated_is_named(validate):
    done = validate(task="xlr")
    assert done.code == 2
    assert "No such task 'xlr'" in done.err


@pytest.fixture(scope="module")
def products(real_data):
    """Return the validation of 24 encoders over 25 fixed samples, with true and with shuffled images."""
    folder = real_data / "ikea"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing")
    manifest = Manifest.read(
        folder / "ikea_en_de_eval.parquet", text_column="raw_{lang}", image_column="image"
    )
    return validate_backretrieval(
        manifest,
        text_encoders=f"vectors:{folder / 'embeddings'}/*.{{lang}}.npy",
        image_encoder=f"vectors:{folder / 'ikea_en_de_eval_features.npy'}",
        pairs="en-de",
        both_directions=True,
        splits=folder / "embeddings" / "splits.npz",
        degrade="shuffle",
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_shuffled_images_know_nothing_and_the_true_ones_agree_with_retrieval(products):
    for source in ("en", "de"):
        true, shuffled = (d for d in products.degradations if d.source == source)
        assert (true.kind, shuffled.kind) == ("none", "shuffle")
        assert true.agreement["BkR"]["pearson"].mean > 0.95
        assert true.agreement["SIM"]["pearson"].mean > 0.95
        assert 0.6 < true.agreement["CORR"]["pearson"].mean < 0.8
        assert abs(shuffled.agreement["BkR"]["pearson"].mean) < 0.2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_overall_means_correlate_as_the_definitions_computed_apart_do(products):
    """Means over 25 samples and both directions, 24 encoders: from whole float64 matrices, outside."""
    means = {
        measure: np.mean([[e.scores[measure].mean for e in p.encoders] for p in products.pairs], axis=0)
        for measure in ("XLR", "BkR", "SIM", "CORR")
    }
    for measure, wanted in (("BkR", 0.973), ("SIM", 0.973), ("CORR", 0.719)):
        assert np.corrcoef(means["XLR"], means[measure])[0, 1] == pytest.approx(wanted, abs=5e-4)
