"""The calibration of 24 encoders on IKEA: how far off it is, beside plain fits."""

from __future__ import annotations

import warnings

import pytest

from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.calibration.calibrate import calibrate
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.results import by_key
from xlingual.signature import Signature


@pytest.fixture(scope="module")
def ikea(real_data):
    """Give BkR, XLR (means over 25 splits) and a signature for each encoder, en → de."""
    folder = real_data / "ikea"
    names = sorted(path.name.removesuffix(".en.npy") for path in (folder / "embeddings").glob("*.en.npy"))
    options = {
        "text_encoders": {name: str(folder / "embeddings" / f"{name}.{{lang}}.npy") for name in names},
        "splits": folder / "embeddings" / "splits.npz",
        "pairs": "en-de",
    }
    manifest = Manifest.read(folder / "ikea_en_de_eval.parquet")
    images = f"vectors:{folder / 'ikea_en_de_eval_features.npy'}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the data has no image files
        found = backretrieval(manifest, image_encoder=images, examples=False, **options)
        truth = crosslingual_retrieval(manifest, **options)
    by_name = {
        name: [
            by_key(run.summary, encoder=name, source="en", measure="R@10")[0].value for run in (found, truth)
        ]
        for name in names
    }
    return by_name, Signature.parse(found.entries[0].signature).conditions


@pytest.mark.slow
def test_errors_on_ikea(made, ikea):
    by_name, conditions = ikea
    assert len(by_name) == 24
    points = [(name, name, bkr, xlr) for name, (bkr, xlr) in by_name.items()]
    pair = made.pair(points, n_seeds=25, conditions=dict(conditions))
    found = calibrate([made.validation(pair)], family="^[a-z]+")
    errors = {(error.left_out, error.form): error for error in found.errors}
    assert errors["family", "angular"].n_groups == 13
    assert errors["encoder", "angular"].value == pytest.approx(0.0500, abs=0.0005)
    assert errors["family", "angular"].value == pytest.approx(0.0499, abs=0.0005)
    assert errors["encoder", "isotonic"].value == pytest.approx(0.0621, abs=0.0005)
    assert errors["encoder", "line"].value == pytest.approx(0.0691, abs=0.0005)
    coverage = found.data_sets[0].coverage
    assert coverage.value >= coverage.guaranteed
    assert found.cells[0].sampling == "splits" and found.cells[0].n_source == 365
