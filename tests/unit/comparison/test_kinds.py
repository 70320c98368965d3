"""Comparisons by images decide nothing across kinds of encoders."""

import numpy as np
import pytest

from xlingual import Manifest, Results, backretrieval, compare, crosslingual_retrieval, gate, leaderboard
from xlingual.errors import InputError

ITEMS = 40


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return results of Backretrieval and XLR of vectors of two kinds, and of two of one kind."""
    rng, folder = np.random.default_rng(1), tmp_path_factory.mktemp("kinds")
    ideal = rng.standard_normal((ITEMS, 8)).astype(np.float32)
    np.save(folder / "images.npy", ideal)
    for name, noise in (("good", 0.3), ("poor", 2.0)):
        for language in ("en", "de"):
            vectors = ideal + noise * rng.standard_normal(ideal.shape)
            np.save(folder / f"{name}.{language}.npy", vectors.astype(np.float32))
    rows = [{"id": str(i), "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(ITEMS)]
    for name, kinds in (("unlike", ("general", "fitted")), ("alike", ("general", "general"))):
        named = zip(("good", "poor"), kinds, strict=True)
        specs = [f"{one}={folder}/{one}.{{lang}}.npy?kind={kind}" for one, kind in named]
        given = {"text_encoders": specs, "pairs": "en-de", "measures": ["R@3"], "store": None}
        images = str(folder / "images.npy")
        backretrieval(Manifest.of(rows), image_encoder=images, **given).write(folder / name)
        crosslingual_retrieval(Manifest.of(rows), **given).write(folder / f"{name}-xlr")
    return folder


def test_no_difference_is_found_across_kinds(folders):
    unlike, alike = (
        compare([str(folders / name)], measures=["R@3"]).boards[0] for name in ("unlike", "alike")
    )
    assert [row.outcome for row in unlike.rows] == ["baseline", "cannot tell"]
    assert "matches decide" in unlike.rows[1].note
    assert [row.difference for row in unlike.rows] == [row.difference for row in alike.rows]
    assert alike.rows[1].outcome == "worse"
    matched = compare([str(folders / "unlike-xlr")]).boards[0]
    assert matched.rows[1].outcome == "worse"


def test_a_gate_and_a_leaderboard_decide_within_a_kind_alone(folders):
    poor, good = (f"{folders / 'unlike'}#{name}" for name in ("poor", "good"))
    with pytest.raises(InputError, match="cannot decide"):
        gate(poor, good, margin=0.01, measure="R@3")
    assert gate(*(one.replace("unlike", "alike") for one in (poor, good)), margin=0.01).outcome == "fail"
    (unlike,) = leaderboard([str(folders / "unlike")]).columns
    (alike,) = leaderboard([str(folders / "alike")]).columns
    assert not unlike.tested and alike.tested


def test_the_kind_is_kept_and_changes_no_number(folders):
    unlike, alike = (Results.read(folders / name) for name in ("unlike", "alike"))
    assert unlike.encoders == {"good": {"kind": "general"}, "poor": {"kind": "fitted"}}
    assert [(e.value, e.signature) for e in unlike.entries] == [(e.value, e.signature) for e in alike.entries]
