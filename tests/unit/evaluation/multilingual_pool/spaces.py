"""Vectors of a made-up pool whose language shows as much as asked, and plain float64 answers about them."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from xlingual.evaluation.multilingual_pool.space import space_statistics

LANGUAGES = ("ar", "de", "en", "zh")


@dataclass(frozen=True)
class Made:
    questions: np.ndarray
    candidates: np.ndarray
    question_language: np.ndarray
    candidate_language: np.ndarray
    question_cluster: np.ndarray
    candidate_cluster: np.ndarray
    languages: tuple = LANGUAGES

    def statistics(self, seed=0):
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return space_statistics(columns.pop("questions"), columns.pop("candidates"), **columns, seed=seed)

    def mapped(self, change):
        return replace(self, questions=change(self.questions), candidates=change(self.candidates))

    @property
    def unit(self):
        raw = np.concatenate([self.questions, self.candidates]).astype(np.float64)
        lengths = np.linalg.norm(raw, axis=1, keepdims=True)
        return raw / np.where(lengths > 0, lengths, 1)


def made(n=120, m=150, dim=12, clusters=30, bias=0.4, languages=LANGUAGES, seed=0):
    rng = np.random.default_rng(seed)
    count = len(languages)
    mark = rng.standard_normal((count, dim)) * bias

    def side(size):
        language, cluster = rng.integers(count, size=size), rng.integers(clusters, size=size)
        vectors = rng.standard_normal((size, dim)) * np.exp(-np.arange(dim) / dim) + 0.5 + mark[language]
        return vectors.astype(np.float32), language, cluster

    (q, ql, qc), (c, cl, cc) = side(n), side(m)
    return Made(q, c, ql, cl, qc, cc, tuple(languages))


def labels(space):
    """Language, cluster and part of every vector, questions first."""
    return [
        np.concatenate([getattr(side, name) for side in space.sides])
        for name in ("language", "cluster", "held_out")
    ]


def plain_accuracy(pool, space, solve):
    """Train on one part, test on the other, in float64, one model at a time: {key: (accuracy, chance)}."""
    language, _, held = labels(space)
    found = {}
    count = len(pool.languages)
    for codes in [tuple(range(count)), *combinations(range(count), 2)]:
        own = np.isin(language, codes)
        train, test = pool.unit[own & ~held], pool.unit[own & held]
        target = (language[own & ~held][:, None] == codes).astype(float)
        centre = train.mean(axis=0)
        scores = (test - centre) @ solve(train - centre, target - target.mean(axis=0)) + target.mean(axis=0)
        truth = language[own & held]
        name = "all" if len(codes) == count else "-".join(pool.languages[code] for code in codes)
        correct = np.asarray(codes)[scores.argmax(axis=1)] == truth
        found[name] = correct.mean(), np.bincount(truth).max() / len(truth)
    return found


def least_squares(x, target):
    return np.linalg.lstsq(x, target, rcond=None)[0]


def ridge(penalty):
    def solve(x, target):
        scatter = x.T @ x
        scatter += penalty * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
        return np.linalg.solve(scatter, x.T @ target)

    return solve
