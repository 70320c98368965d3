"""What Backretrieval can tell from images alone: planted neighbourhoods, noise, shuffled and few images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import Manifest, check_backretrieval
from xlingual.data.samples import Sample
from xlingual.embed.sides import ImageIndex
from xlingual.evaluation.backretrieval.check import look_alikes, queries_above_chance
from xlingual.evaluation.backretrieval.way_back import NEAR_IDENTICAL
from xlingual.ranking import Pool
from xlingual.results.backretrieval_check import (
    NO_NEIGHBOURS,
    SAME,
    UNRELATED,
)
from xlingual.stats.power import power

TOPICS = 40
WORDS = [f"{a}{b}{c}" for a in ("kar", "mo", "shil", "dru") for b in ("ta", "ve") for c in "abcdefgh"]


def data(n: int = 480, languages: str = "en de", seed: int = 0) -> list[dict[str, str]]:
    """Items of topics in turn: their texts have words of the topic, in each language others."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        row = {"id": f"i{i}"}
        for place, tag in enumerate(languages.split()):
            topic = i % TOPICS
            own = [WORDS[(topic * 3 + j * 7 + place * 11) % len(WORDS)] for j in rng.permutation(3)]
            row[f"text_{tag}"] = " ".join([*own, f"nr{i:04}{tag}"])
        rows.append(row)
    return rows


def planted(n: int = 480, noise: float = 0.5, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(TOPICS, 48))
    return (centres[np.arange(n) % TOPICS] + noise * rng.normal(size=(n, 48))).astype(np.float32)


def checked(work: Path, vectors: np.ndarray, rows: Any = None, **more: Any) -> Any:
    np.save(work / "images.npy", vectors)
    manifest = Manifest.of(data(len(vectors)) if rows is None else rows)
    return check_backretrieval(manifest, f"vectors:{work}/images.npy", store=None, **more)


def reasons(found: Any) -> set[str]:
    return {*found.reasons, *(reason for pair in found.pairs for reason in pair.reasons)}


def test_images_of_topics_tell(tmp_path: Path) -> None:
    found = checked(tmp_path, planted())
    assert found.can_tell and not reasons(found)
    assert [(one.n_images, one.n_queries) for one in found.pairs] == [(240, 240)] * 2
    assert all(one.neighbours > 0.5 and one.chance == pytest.approx(10 / 240) for one in found.pairs)
    assert all(one.queries_needed <= 240 for one in found.pairs)
    assert [one.language for one in found.languages] == ["en", "de"]
    assert all(one.related and one.value > 0.3 for one in found.languages)


def test_noise_has_a_high_oracle_and_no_neighbours(tmp_path: Path) -> None:
    noise = np.random.default_rng(5).normal(size=(480, 600)).astype(np.float32)
    found = checked(tmp_path, noise)
    assert all(one.oracle > 0.95 for one in found.pairs)  # which the oracle alone does not show
    assert not found.can_tell and found.reasons == [UNRELATED]
    assert all(NO_NEIGHBOURS in one.reasons and one.neighbours < 0.1 for one in found.pairs)


def test_near_identical_images_tell_nothing_whatever_their_neighbours(tmp_path: Path) -> None:
    base = np.ones(48, dtype=np.float32) * 40
    found = checked(tmp_path, base + 0.2 * planted())
    assert 0 < found.distance < NEAR_IDENTICAL and found.reasons == [SAME]
    assert all(one.neighbours > 0.5 for one in found.pairs) and not found.can_tell
    far = checked(tmp_path, base + 20 * planted())
    assert far.distance > NEAR_IDENTICAL and far.can_tell


def test_the_same_whatever_scale_and_order_of_dimensions(tmp_path: Path) -> None:
    vectors = planted(120)
    one = checked(tmp_path, vectors).to_dict()
    other = checked(tmp_path, 8 * vectors[:, ::-1]).to_dict()
    of_the_request = {"request": None, "provenance": None, "run": None}  # they name other files
    assert one | of_the_request == other | of_the_request


def test_oracle_and_chance_are_those_of_an_evaluation(tmp_path: Path) -> None:
    from xlingual import backretrieval

    vectors = planted(100)
    found = checked(tmp_path, vectors)
    results = backretrieval(
        Manifest.of(data(100)), "random", image_encoder=f"vectors:{tmp_path}/images.npy", store=None
    )
    entries = {(one.source, one.target): one for one in results.entries if one.measure == "R@10"}
    for pair in found.pairs:
        entry = entries[pair.source, pair.target]
        assert (pair.oracle, pair.chance) == (entry.oracle, entry.chance)
        assert pair.n_queries == entry.n_source


def slow_look_alikes(vectors: np.ndarray, code: np.ndarray, sample: Sample) -> list[set[int]]:
    """Return the targets that may stand for each query's nearest other image, by float64 loops."""

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        length = np.linalg.norm(a) * np.linalg.norm(b)
        return round(float(a @ b / length), 9) if length else 0.0

    exact, found = vectors.astype(np.float64), []
    for query in sample.source:
        own = code[query]
        others = sorted({int(code[row]) for row in sample.pool} - {int(own)})
        to = [cosine(exact[own], exact[other]) for other in others]
        near = [other for other, value in zip(others, to, strict=True) if value == max(to)]
        places: set[int] = set()
        for other in near:
            back = [cosine(exact[other], exact[code[row]]) for row in sample.target]
            best = {code[row] for row, value in zip(sample.target, back, strict=True) if value == max(back)}
            places |= {place for place, row in enumerate(sample.target) if code[row] in best}
        found.append(places)
    return found


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_look_alikes_are_those_of_a_slow_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 14)), int(rng.integers(1, 4))
    vectors = rng.integers(-2, 3, (n, d)).astype(np.float32)  # ties, equal and zero vectors
    code = rng.integers(0, n, 20)
    pool, target = np.arange(12), np.arange(12, 20)
    if len(np.unique(code[pool])) < 2:
        return
    sample = Sample(0, pool[: int(rng.integers(1, 13))], target, pool)
    used, own = np.unique(code, return_inverse=True)
    found = look_alikes(ImageIndex(own, Pool.of(vectors[used])), sample)
    wanted = slow_look_alikes(vectors[used], own, sample)
    assert (found.n_tied == 1).all() and len(found.target) == len(sample.source)
    for place, allowed in zip(found.target.tolist(), wanted, strict=True):
        assert place in allowed


@pytest.mark.parametrize(("chance", "room"), [(10 / 365, 0.907), (0.01, 0.2), (1 / 3, 0.667)])
def test_queries_needed_have_the_power(chance: float, room: float) -> None:
    """The least n whose test has a power of 80 %, by the variance of single queries."""
    n = queries_above_chance(chance, room)
    assert n is not None
    value = chance + 0.1 * room

    def shown(size: int) -> float:
        return power(0.1 * room, 1.4 * value * (1 - value) / size, size / 1.4 - 1)

    assert shown(n) >= 0.8 > shown(n - 1)
    assert queries_above_chance(chance, 0.0) is None
