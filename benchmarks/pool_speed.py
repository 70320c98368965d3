"""A multilingual pool of XQuAD-R's full size: all views against the bare product and a plain evaluation."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from itertools import combinations
from typing import TypeVar

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from xlingual.ranking.scan import TilePlan

from xlingual import MultilingualPool, multilingual_pool
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.ranking import Cosine, UnitVectors, one_library_thread
from xlingual.results import Results

Found = TypeVar("Found")

QUESTIONS, DIM = 1190, 768
CANDIDATES = (1222, 1276, 1234, 1180, 1215, 1244, 1219, 852, 1167, 1209, 1196)  # 13,014, as in the paper
LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")
SAMPLED = 26  # the plain evaluation takes every 26th question
ROUNDS = 3
LIMIT = 1.85  # all views against the bare product: 1.6 to 1.7 was reached, the goal is 1.3


def pool_and_vectors() -> tuple[MultilingualPool, np.ndarray, np.ndarray]:
    """Return parallel questions and answers: meaning, language and noise, added up."""
    rng = np.random.default_rng(0)
    answer_of = [np.sort(rng.choice(size, QUESTIONS, replace=size < QUESTIONS)) for size in CANDIDATES]
    meaning = rng.standard_normal((QUESTIONS, DIM)).astype(np.float32)
    language = rng.standard_normal((len(LANGUAGES), DIM)).astype(np.float32) * 0.5
    asked, offered, keys = [], [], []
    for code, size in enumerate(CANDIDATES):
        base = rng.standard_normal((size, DIM)).astype(np.float32)
        base[answer_of[code]] = meaning
        offered.append(base + language[code] + 1.5 * rng.standard_normal((size, DIM)).astype(np.float32))
        noise = 1.5 * rng.standard_normal((QUESTIONS, DIM)).astype(np.float32)
        asked.append(meaning + language[code] + noise)
        held: list[list[str]] = [[] for _ in range(size)]
        for question, row in enumerate(answer_of[code]):
            held[row].append(f"q{question}")
        keys += [tuple(own) for own in held]
    n, m = QUESTIONS * len(LANGUAGES), sum(CANDIDATES)
    question = np.tile(np.arange(QUESTIONS), len(LANGUAGES))
    pool = MultilingualPool(
        "synthetic",
        LANGUAGES,
        Questions(
            [f"q{i}" for i in question],
            np.repeat(np.arange(len(LANGUAGES)), QUESTIONS),
            [f"question {i}" for i in range(n)],
            [f"q{i}" for i in question],
            question // 5,
        ),
        Candidates(
            [f"c{i}" for i in range(m)],
            np.repeat(np.arange(len(LANGUAGES)), CANDIDATES),
            [f"candidate {i}" for i in range(m)],
            [""] * m,
            keys,
            np.concatenate([np.arange(size) * (QUESTIONS // 5) // size for size in CANDIDATES]),
        ),
        (),
        (),
    )
    return pool, np.concatenate(asked), np.concatenate(offered)


class Vectors:
    """An encoder that has the vectors of both roles."""

    identity = "given"

    def __init__(self, questions: np.ndarray, candidates: np.ndarray) -> None:
        self.of = {"query": questions, "candidate": candidates}

    def encode(self, batch) -> np.ndarray:
        """Return the vectors of a role."""
        return self.of[batch.role]


def bare_product(questions: np.ndarray, candidates: np.ndarray) -> None:
    """Multiply every tile, and keep nothing."""
    similarity = Cosine(UnitVectors(questions), UnitVectors(candidates))
    plan = TilePlan(similarity.shape)
    memory = np.empty(plan.size[0] * plan.size[1], dtype=np.float32)
    for rows in plan.row_blocks:
        for columns in plan.column_blocks:
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            similarity.tile(rows, columns, memory[: shape[0] * shape[1]].reshape(shape))


class Plain:
    """The plain way: for each question a full sort, and then each view on its own."""

    def __init__(self, pool: MultilingualPool, questions: np.ndarray, candidates: np.ndarray) -> None:
        self.language, self.asked_in = pool.candidates.language, pool.questions.language
        self.left, self.right = unit(questions), unit(candidates)
        question, candidate = pool.relevant
        self.answers = np.split(candidate, np.flatnonzero(np.diff(question)) + 1)

    def question(self, number: int) -> dict[str, object]:
        """Return every view of one question."""
        scores = self.left[number] @ self.right.T
        order = np.argsort(-scores)
        own = self.asked_in[number]
        relevant = np.zeros(len(scores), dtype=bool)
        relevant[self.answers[number]] = True
        found: dict[str, object] = {"AP": precision(relevant[order])}
        found["one_target"] = [
            precision((order == one)[(order == one) | ~relevant[order]]) for one in self.answers[number]
        ]
        found["remove_one"] = [precision(relevant[order[order != one]]) for one in self.answers[number]]
        for name, kept in self.restrictions(own):
            found[name] = precision(relevant[order[kept[order]]])
        found["shares"] = np.bincount(self.language[order[:100]], minlength=len(LANGUAGES))
        found["loss"] = [
            np.bincount(self.language[above[~relevant[above]]], minlength=len(LANGUAGES))
            for above in (order[: np.flatnonzero(order == one)[0]] for one in self.answers[number])
        ]
        return found

    def restrictions(self, own: int):
        """Yield the pools of fewer languages."""
        yield "monolingual", self.language == own
        for code in range(len(LANGUAGES)):
            if code != own:
                yield f"without {LANGUAGES[code]}", self.language != code


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return unit vectors in float64."""
    wide = vectors.astype(np.float64)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def precision(relevant: np.ndarray) -> float:
    """Return the average precision of a ranking, bool [n] best first."""
    places = np.flatnonzero(relevant) + 1
    return float(np.mean(np.arange(1, len(places) + 1) / places))


def plain_space(pool: MultilingualPool, questions: np.ndarray, candidates: np.ndarray) -> None:
    """Fit a ridge model for each pair of languages and for all, and a picture of the space."""
    vectors = np.concatenate([unit(questions), unit(candidates)]).astype(np.float32)
    language = np.concatenate([pool.questions.language, pool.candidates.language])
    train = np.concatenate([pool.questions.cluster, pool.candidates.cluster]) % 3 > 0
    indicators = np.eye(len(LANGUAGES), dtype=np.float32)[language]
    Ridge(1e-2).fit(vectors[train], indicators[train]).predict(vectors[~train])
    for one, other in combinations(range(len(LANGUAGES)), 2):
        both = (language == one) | (language == other)
        target = np.where(language == one, 1.0, -1.0).astype(np.float32)
        model = Ridge(1e-2).fit(vectors[both & train], target[both & train])
        model.predict(vectors[both & ~train])
    PCA(2, svd_solver="covariance_eigh").fit_transform(vectors[(language == 3) | (language == 10)])


def plain_evaluation(
    pool: MultilingualPool, questions: np.ndarray, candidates: np.ndarray, results: Results
) -> float:
    """Return the seconds of the plain evaluation, from a sample of the questions; assert that it agrees."""
    plain = Plain(pool, questions, candidates)
    chosen = range(0, len(questions), SAMPLED)
    seconds, found = timed(lambda: [plain.question(number) for number in chosen])
    values = results.per_query.column("value").to_numpy()
    np.testing.assert_allclose([one["AP"] for one in found], values[list(chosen)], atol=1e-9)
    mean = np.mean([np.mean(one["one_target"]) for one in found])
    whole = np.mean(list(results.entries[0].views.one_target.values()))
    assert abs(mean - whole) < 0.03, (mean, whole)  # a sample against all
    return seconds * len(questions) / len(chosen) + timed(lambda: plain_space(pool, questions, candidates))[0]


def timed(work: Callable[[], Found]) -> tuple[float, Found]:
    """Return the processor time of some work, and what it returns."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def main() -> None:
    """Time all views, the bare product, and a plain evaluation; hold their answers against each other."""
    pool, questions, candidates = pool_and_vectors()
    encoder = Vectors(questions, candidates)
    warm_up = Vectors(questions[:, :8], candidates[:, :8])
    multilingual_pool(pool, text_encoders={"warm up": warm_up})  # imports, caches
    with one_library_thread():
        whole, product = [], []
        for _ in range(ROUNDS):
            product.append(timed(lambda: bare_product(questions, candidates))[0])
            seconds, results = timed(lambda: multilingual_pool(pool, text_encoders={"e": encoder}))
            whole.append(seconds)
        plain_seconds = plain_evaluation(pool, questions, candidates, results)
    best, bare = min(whole), min(product)
    print(
        f"{len(questions):,} questions, {len(candidates):,} candidates, {DIM}-d, one thread, processor time"
    )
    print(f"bare product {bare:.2f} s; all views {best:.2f} s: {best / bare:.2f} times")
    print({name: round(seconds / bare, 2) for name, seconds in results.timings.items()})
    assert best < LIMIT * bare, (best, bare)
    assert plain_seconds > 10 * best, (plain_seconds, best)
    print(f"plain evaluation {plain_seconds:.0f} s: all views take 1/{plain_seconds / best:.0f} of it")
    print(
        f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB, vectors included"
    )
