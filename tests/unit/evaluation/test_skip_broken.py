"""Texts whose image cannot be opened: an error that counts them, or left out where that is asked for."""

import io

import numpy as np
import pytest
from PIL import Image

from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

N = 40
BROKEN = {3: b"not an image", 8: None, 17: b"BM, and then nothing"}


def png(seed):
    out = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (2, 2, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def manifest(broken=BROKEN, rows=range(N)):
    return Manifest.of(
        [
            {"id": f"r{i}", "text_en": f"e{i}", "text_de": f"d{i}", "image": broken.get(i, png(i))}
            for i in rows
        ]
    )


OPTIONS = {"text_encoders": ["chargram", "random"], "image_encoder": "pixels"}


def test_with_it_the_numbers_are_those_of_the_other_rows():
    with pytest.warns(DataWarning) as caught:
        found = backretrieval(manifest(), **OPTIONS, measures=["R@3"], skip_broken=True)
    assert [str(w.message) for w in caught] == found.warnings
    assert len(found.warnings) == 1
    counted = "6 of 80 texts take no part (skip_broken=True): 2 have no image, 4 show 2 images that"
    assert counted in found.warnings[0]
    assert found.dropped == {"texts": 6, "of": 80}
    assert "row 'r3'" in found.warnings[0]
    queries = set(found.per_query["query"].to_pylist())
    assert not queries & {"r3", "r8", "r17"} and found.entries[0].n_source + found.entries[0].n_target == 37
    retrieved = set(found.per_query["retrieved"].to_pylist())
    assert not retrieved & {"r3", "r8", "r17"}


def test_texts_of_pairs_that_are_left_out_take_no_part():
    rows = [{"text_en": f"e{i}", "text_de": f"d{i}", "image": png(i)} for i in range(N)]
    whole = Manifest.of(rows)
    assert backretrieval(whole, **OPTIONS, measures=["R@3"]).dropped == {}
    lone = Manifest.of([*rows, {"text_fr": "f", "image": png(N)}])
    with pytest.warns(DataWarning, match="language pairs are left out"):
        found = crosslingual_retrieval(lone, text_encoders="random", measures=["R@1"])
    assert found.dropped == {"texts": 1, "of": 2 * N + 1}
