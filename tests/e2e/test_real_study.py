"""Studies of real data: what is suggested equals a ranking written out with whole matrices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.study.folder import IMAGES, read_key, read_study
from xlingual.workflows.study import Layout, new_study

pytestmark = [pytest.mark.data, pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")]
NAMES = ("minilm_direct", "cllsa_200")


def test_products_in_english_and_german(real_data: Path, tmp_path: Path) -> None:
    data = real_data / "ikea"
    if not data.is_dir():
        pytest.skip(f"{data} is missing")
    manifest = Manifest.read(data / "ikea_en_de_eval.parquet", text_column="raw_{lang}", image_column="image")
    study = new_study(
        manifest,
        tmp_path / "s",
        source="en",
        target="de",
        systems={name: f"vectors:{data / 'embeddings'}/{name}.{{lang}}.npy" for name in NAMES},
        layout=Layout(queries=30, pictures=False, seed=1, exclude_own=True),
        image_encoder=f"vectors:{data / 'ikea_en_de_eval_features.npy'}",
        store=None,
    )
    key = read_key(tmp_path / "s", study)
    texts = {tag: [manifest.text[row] for row in manifest.rows_of(tag)] for tag in ("en", "de")}
    for name in NAMES:
        unit = {}
        for tag in ("en", "de"):
            vectors = np.load(data / "embeddings" / f"{name}.{tag}.npy").astype(np.float64)
            unit[tag] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
        cosines = np.round(unit["en"] @ unit["de"].T, 9)
        for query in study.queries:
            row = texts["en"].index(query.shown.text)
            rest = cosines[row].copy()
            rest[row] = -2
            found = {
                one.text: credit
                for one in query.suggestions
                for credit in key.credits[one.id]
                if credit.system == name
            }
            listed = sorted(found, key=lambda text: found[text].rank)
            distinct = list(dict.fromkeys(texts["de"][i] for i in np.argsort(-rest, kind="stable")))[:5]
            assert [found[text].cosine for text in listed] == pytest.approx(
                [max(rest[i] for i, t in enumerate(texts["de"]) if t == text) for text in distinct], abs=1e-8
            )
    for name in NAMES:
        assert set(key.bkr[name]) == {query.shown.id for query in study.queries}
        assert 0.05 < np.mean(list(key.bkr[name].values())) < 0.6  # of 30 queries; by chance it is below .03


@pytest.mark.slow  # on made data: test_study.py
def test_emoji_with_images_by_group(real_data: Path, tmp_path: Path) -> None:
    data = real_data / "emoji" / "emoji.parquet"
    if not data.is_file():
        pytest.skip(f"{data} is missing")
    manifest = Manifest.read(data, text_column="name_{lang}", image_column="image_png")
    new_study(
        manifest,
        tmp_path / "s",
        source="en",
        target="ar",
        systems={"a": "chargram", "b": "random"},
        layout=Layout(queries=20, by="group", controls=0.5, repeats=0.2),
        store=None,
    )
    study = read_study(tmp_path / "s")
    sizes = Counter(manifest.labels["group"][row] for row in manifest.rows_of("en"))
    drawn = Counter(query.stratum for query in study.queries)
    assert all(abs(drawn[label] - 20 * size / sizes.total()) < 1 for label, size in sizes.items())
    images = list((tmp_path / "s" / IMAGES).iterdir())
    assert {one.image for query in study.queries for one in query.suggestions} <= {
        path.name for path in images
    }
    assert all(path.read_bytes()[8:12] == b"WEBP" for path in images)
