"""The values of single questions, against ranks counted one by one in float64."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.by_question import question_values
from xlingual.results.regime_study import OTHER, OWN_POOL, POOL, SAME, QuestionValues

TAGS = ("en", "de", "fr")


@pytest.fixture
def pool(tmp_path: Path) -> MultilingualPool:
    """Return 8 questions in three languages; 7 has no German answer, 6 has two English ones."""
    questions, candidates = [], []
    for tag in TAGS:
        for i in range(8):
            questions.append({"id": str(i), "lang": tag, "text": f"{i}?", "key": str(i), "cluster": i // 2})
            if not (i == 7 and tag == "de"):
                candidates.append({"id": str(i), "lang": tag, "text": f"{i}.", "keys": [str(i)]})
            candidates.append({"id": f"{i}b", "lang": tag, "text": f"{i}!", "keys": []})
    candidates.append({"id": "6c", "lang": "en", "text": "6;", "keys": ["6"]})
    for name, rows in (("questions", questions), ("candidates", candidates)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return MultilingualPool.read(tmp_path)


def average_precision(scores: np.ndarray, relevant: set[int], among: list[int]) -> float:
    order = sorted(among, key=lambda c: -scores[c])
    hits = [place for place, c in enumerate(order, 1) if c in relevant]
    return sum((n + 1) / place for n, place in enumerate(hits)) / len(hits)


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_ranks_counted_one_by_one(pool: MultilingualPool, seed: int) -> None:
    draws = np.random.default_rng(seed)
    q, c = (
        draws.standard_normal((len(part), 5)).astype(np.float32) for part in (pool.questions, pool.candidates)
    )
    found = question_values(pool, q, c)
    unit = [
        part.astype(np.float64) / np.linalg.norm(part.astype(np.float64), axis=1)[:, None] for part in (q, c)
    ]
    scores = unit[0] @ unit[1].T
    language, everything = pool.candidates.language, list(range(len(pool.candidates)))
    for i, key in enumerate(pool.questions.key):
        right = {n for n, keys in enumerate(pool.candidates.keys) if key in keys}
        own = int(pool.questions.language[i])
        here = {n for n in right if language[n] == own}
        assert found.value[POOL][i] == pytest.approx(
            average_precision(scores[i], right, everything), abs=1e-12
        )
        if not here:
            assert np.isnan([found.value[kind][i] for kind in (OWN_POOL, SAME, OTHER)]).all()
            continue
        mono = [n for n in everything if language[n] == own]
        assert found.value[OWN_POOL][i] == pytest.approx(average_precision(scores[i], here, mono), abs=1e-12)
        alone = {
            n: average_precision(scores[i], {n}, [m for m in everything if m == n or m not in right])
            for n in right
        }
        by_language = {
            tag: np.mean([v for n, v in alone.items() if language[n] == tag])
            for tag in set(language[list(right)].tolist())
        }
        assert found.value[SAME][i] == pytest.approx(by_language[own], abs=1e-12)
        others = [v for tag, v in by_language.items() if tag != own]
        assert found.value[OTHER][i] == pytest.approx(np.mean(others), abs=1e-12)
    assert found.question[0] == "en/0" and found.language[-1] == "fr"
    assert np.isnan(found.value[OWN_POOL]).sum() == 1


def test_a_constant_encoder_is_at_chance(pool: MultilingualPool) -> None:
    ones = [np.ones((len(part), 3), dtype=np.float32) for part in (pool.questions, pool.candidates)]
    found = question_values(pool, *ones)
    n = len(pool.candidates) - 2  # without the other two answers of a question that has three
    chance = sum(1 / place for place in range(1, n + 1)) / n
    assert found.value[OTHER][0] == pytest.approx(chance) == pytest.approx(found.value[SAME][0])


def test_the_table_is_read_back_for_the_same_model_and_data_only(
    pool: MultilingualPool, tmp_path: Path
) -> None:
    draws = np.random.default_rng(0)
    sides = (draws.standard_normal((len(part), 4)) for part in (pool.questions, pool.candidates))
    found, path, about = (
        question_values(pool, *sides),
        tmp_path / "sub" / "m.parquet",
        {"model": "a", "pool": "b"},
    )
    assert QuestionValues.read(path, about) is None
    found.write(path, about)
    again = QuestionValues.read(path, about)
    assert again is not None and again.question == found.question and again.language == found.language
    assert np.array_equal(again.cluster, found.cluster)
    for kind, values in found.value.items():
        assert np.array_equal(again.value[kind], values, equal_nan=True)
    assert QuestionValues.read(path, {"model": "c", "pool": "b"}) is None
