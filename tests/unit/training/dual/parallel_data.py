"""Parallel questions made of nothing but numbers, with gaps where wanted."""

import numpy as np

from xlingual.records import Texts
from xlingual.training.parallel import ParallelQuestions

TAGS = ("en", "de", "fr", "th")


def parallel(asked, answers):
    """Return questions: bool [n, L] says where each is asked, int [n, L] how many answers it has."""
    asked, answers = np.asarray(asked, dtype=bool), np.asarray(answers, dtype=np.int64)
    n, size = asked.shape
    place = np.full((n, size), -1, dtype=np.int64)
    place[asked] = np.arange(asked.sum())
    i, x = np.nonzero(asked)
    owner = np.repeat(np.arange(n * size), answers.ravel())
    return ParallelQuestions(
        source="made",
        languages=TAGS[:size],
        ids=[f"q{number}" for number in range(n)],
        cluster=np.arange(n) // 2,
        questions=Texts(
            [f"question {a} in {TAGS[b]}" for a, b in zip(i, x, strict=True)],
            [TAGS[b] for b in x],
            [f"q{a}" for a in i],
            role="query",
        ),
        answers=Texts(
            [f"answer {number // size}, {row}, {TAGS[number % size]}" for row, number in enumerate(owner)],
            [TAGS[number % size] for number in owner],
            [f"a{row}" for row in range(len(owner))],
            role="candidate",
        ),
        answer_cluster=owner // size // 2,
        asked=place,
        first=np.concatenate([[0], np.cumsum(answers.ravel())]).astype(np.int64),
        answered=np.arange(len(owner)),
    )


def full(n, size):
    """Return n questions, asked and answered once in each of so many languages."""
    return parallel(np.ones((n, size), dtype=bool), np.ones((n, size), dtype=np.int64))
