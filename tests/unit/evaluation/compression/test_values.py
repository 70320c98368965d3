"""Values by language pair, with and without rescoring, against ranks counted one by one."""

import warnings
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.compression import OverPairs, OverPool, Sides
from xlingual.evaluation.run import Options
from xlingual.transforms.compression import signs

drawn = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "multilingual_pool" / "drawn.py")))


def cosine(a, b):
    a, b = a.astype(float), b.astype(float)
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return 0.0 if lengths == 0 else round(float(a @ b / lengths), 9)


def scores(query, candidates):
    return [(0, cosine(query, own)) for own in candidates]


def rescored(query, full, candidates, first):
    """Return a score for each candidate: those that are surely among the first are before all others."""
    coarse = [cosine(query, own) for own in candidates]
    found = []
    for own, score in zip(candidates, coarse, strict=True):
        certain = sum(other >= score for other in coarse) <= first
        found.append((1, cosine(full, own)) if certain else (0, score))
    return found


def reciprocal(score, others):
    """Return E[1/rank] of a score among others, ties in random order."""
    above, tied = sum(o > score for o in others), 1 + sum(o == score for o in others)
    return float(np.mean([1 / (above + place) for place in range(1, tied + 1)]))


def single_answers(pool, of_question):
    """Return {(question, language): mean E[1/rank]} with one answer at a time in the pool."""
    found = {}
    languages = pool.candidates.language.tolist()
    for i, key in enumerate(pool.questions.key):
        right = {j for j, keys in enumerate(pool.candidates.keys) if key in keys}
        wrong = [of_question[i][j] for j in range(len(languages)) if j not in right]
        for j in sorted(right):
            found.setdefault((i, languages[j]), []).append(reciprocal(of_question[i][j], wrong))
    return {cell: float(np.mean(own)) for cell, own in found.items()}


def a_pool(seed, dim=6):
    rng = np.random.default_rng(seed)
    pool, questions, candidates = drawn.drawn(rng, 12, 30, dim=dim)
    return pool, questions, candidates


@pytest.fixture(autouse=True)
def _zeros_are_expected():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* have an all-zero vector", DataWarning)
        yield


def over_pool(pool, questions, candidates, pairs=None):
    encoder = drawn.Given(questions, candidates)
    return OverPool(pool, {"given": encoder}, Options(store=None), "sentence", pairs, None)


@pytest.mark.parametrize("seed", range(4))
def test_a_pool_by_question_and_answer_language(seed):
    pool, questions, candidates = a_pool(seed)
    asked = over_pool(pool, questions, candidates)
    expected = single_answers(pool, [scores(q, candidates) for q in questions])
    found = dict(
        zip(
            zip(*(part.tolist() for part in asked._cells), strict=True),
            asked.values(asked.full).lines,
            strict=True,
        )
    )
    assert found == pytest.approx(expected)
    named = [asked.lines.pairs[code] for code in asked.lines.pair]
    tags = pool.languages
    assert named == [(tags[pool.questions.language[i]], tags[language]) for i, language in found]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", [1, 5, 30])
def test_a_pool_whose_first_candidates_are_ordered_again(seed, first):
    pool, questions, candidates = a_pool(seed)
    asked = over_pool(pool, questions, candidates)
    small = asked.full.mapped(signs)
    of_question = [
        rescored(q, full, small.candidates, first) for q, full in zip(small.queries, questions, strict=True)
    ]
    expected = [value for _, value in sorted(single_answers(pool, of_question).items())]
    np.testing.assert_allclose(asked.rescored(asked.full, small, first).lines, expected)


def test_some_pairs_of_a_pool():
    pool, questions, candidates = a_pool(0)
    asked = over_pool(pool, questions, candidates, ["de-en", "en-en"])
    assert {asked.lines.pairs[code] for code in asked.lines.pair} == {("de", "en"), ("en", "en")}
    with pytest.raises(InputError, match="the pool has no such pair; its languages: ar, de, en"):
        over_pool(pool, questions, candidates, ["de-fr"])


class Given:
    """Vectors of each text by its id."""

    identity = "given"

    def __init__(self, by_id):
        self.by_id = by_id

    def encode(self, batch):
        return np.stack([self.by_id[name] for name in batch.ids])


def a_manifest(seed, n=14, dim=6):
    rng = np.random.default_rng(seed)
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": i}
        for i in range(n)
        for tag in ("de", "en")
    ]
    vectors = {row["id"]: rng.integers(-2, 3, dim).astype(np.float32) for row in rows}
    return Manifest.from_rows(rows), vectors


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("first", [None, 2, 6, 14])
def test_a_manifest_by_language_pair(seed, first):
    manifest, vectors = a_manifest(seed)
    asked = OverPairs(manifest, {"given": Given(vectors)}, Options(store=None), "RR")
    small = asked.full.mapped(signs)
    found = asked.values(small) if first is None else asked.rescored(asked.full, small, first)
    expected = []
    for source, target in asked.lines.pairs:
        candidates = [signs(vectors[f"{target}{i}"][None])[0] for i in range(14)]
        for i in range(14):
            full = vectors[f"{source}{i}"]
            query = signs(full[None])[0]
            own = scores(query, candidates) if first is None else rescored(query, full, candidates, first)
            expected.append(reciprocal(own[i], own[:i] + own[i + 1 :]))
    np.testing.assert_allclose(found.lines, expected)


def test_medians_have_no_loss():
    manifest, vectors = a_manifest(0)
    with pytest.raises(InputError, match="MedR is a median"):
        OverPairs(manifest, {"given": Given(vectors)}, Options(store=None), "MedR")


def test_sides_that_are_one_array_stay_one():
    one = np.eye(3, dtype=np.float32)
    assert (found := Sides(one, one).mapped(signs)).queries is found.candidates
    assert (found := Sides(one, one.copy()).mapped(signs)).queries is not found.candidates
