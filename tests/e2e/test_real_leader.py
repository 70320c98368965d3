"""On real encoders, the leader that a verdict by images names is that of true retrieval, or none is named."""

import re

import numpy as np
import pytest

from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.report import verdict
from xlingual.results.kinds import differences

pytestmark = [pytest.mark.data, pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")]
REAL, FITTED = ("muse_v3", "e5_small_q4"), ("ibm1_lsa_2860", "ridge_2860", "cllsa_2860")


def leaders(results):
    """Return the encoders that the verdict says to use, or to lead."""
    said = " ".join(verdict(results))
    return {name for name in results.encoders if re.search(rf"\b[Uu]se {name}\b|\b{name} leads", said)}


def best(results):
    overall = [row for row in results.summary if row.source is None]
    return max(overall, key=lambda row: row.value).encoder


def test_of_emoji_both_measures_name_the_same_leader(real_data):
    folder = real_data / "real_encoders" / "emoji"
    data = Manifest.read(
        real_data / "emoji" / "emoji.parquet", text_column="name_{lang}", image_column="image_png"
    )
    encoders = {name: f"vectors:{folder}/{name}.{{lang}}.npy?kind=general" for name in REAL}
    options = {"pairs": "en-de,ja-ru,ar-en", "sample": 400, "store": None}
    images = f"vectors:{folder}/efficientnet_lite0.npy"
    by_images = backretrieval(data, encoders, image_encoder=images, examples=False, **options)
    assert leaders(by_images) == {best(crosslingual_retrieval(data, encoders, **options))}


@pytest.mark.parametrize(
    "names", [REAL, (*REAL, *FITTED), ("muse_v3", "cllsa_2860"), ("e5_small_q4", "ridge_2860")]
)
def test_of_products_the_leader_is_that_of_true_retrieval_or_none_across_kinds(real_data, tmp_path, names):
    ikea = real_data / "ikea"
    data = Manifest.read(ikea / "ikea_en_de_eval.parquet", text_column="raw_{lang}", image_column="image")
    encoders = {
        name: f"vectors:{real_data / 'real_encoders' / 'ikea'}/{name}.{{lang}}.npy?kind=general"
        if name in REAL
        else f"vectors:{ikea / 'embeddings'}/{name}.{{lang}}.npy?kind=fitted"
        for name in names
    }
    with np.load(ikea / "embeddings" / "splits.npz") as file:
        np.savez(tmp_path / "few.npz", **{key: file[key][:3] for key in file.files})
    options = {"pairs": "en-de,de-en", "sample": tmp_path / "few.npz", "store": None}
    images = f"vectors:{ikea / 'ikea_en_de_eval_features.npy'}"
    by_images = backretrieval(data, encoders, image_encoder=images, examples=False, **options)
    true = best(crosslingual_retrieval(data, encoders, **options))
    across = bool(differences(by_images.encoders))
    assert across == (len({name in REAL for name in names}) > 1)
    assert leaders(by_images) == (set() if across else {true})
