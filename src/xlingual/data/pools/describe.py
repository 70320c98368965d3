"""Counts of a pool, language by language: Table 1 of the LAReQA paper for any pool."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.rows import numbered


@dataclass(frozen=True)
class LanguageDescription:
    """Counts of one language; `relevant` counts the candidates, of any language, relevant to a question.

    A candidate repeats a text where the same text stands earlier in the same language.
    """

    language: str
    n_questions: int
    n_candidates: int
    pool_share: float
    relevant_mean: float | None  # None where the language has no questions
    relevant_least: int | None
    relevant_most: int | None
    n_own_language: int  # questions with a relevant candidate in their own language
    n_repeated_texts: int


@dataclass(frozen=True)
class PoolDescription:
    """Counts of a pool; `total` is over all languages."""

    source: str
    digest: str
    languages: tuple[LanguageDescription, ...]
    total: LanguageDescription
    n_clusters: int  # of questions
    n_articles: int | None
    n_irrelevant: int  # candidates that are relevant to no question
    n_shared_texts: int  # different candidate texts that stand in several languages
    splits: dict[str, dict[str, int]]  # split → {"questions", "candidates"}
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON has it."""
        return asdict(self)


def describe_pool(pool: MultilingualPool) -> PoolDescription:
    """Count the questions and candidates of a pool."""
    q, c = pool.questions, pool.candidates
    question, candidate = pool.relevant
    counts = np.bincount(question, minlength=len(q))
    has_own = np.zeros(len(q), dtype=bool)
    has_own[question[q.language[question] == c.language[candidate]]] = True
    code, places = numbered(zip(c.language.tolist(), c.text, strict=True))
    repeats = np.ones(len(c), dtype=bool)
    repeats[np.unique(code, return_index=True)[1]] = False

    def row(tag: str, asked: np.ndarray, answers: np.ndarray) -> LanguageDescription:
        relevant = counts[asked]
        return LanguageDescription(
            language=tag,
            n_questions=int(asked.sum()),
            n_candidates=int(answers.sum()),
            pool_share=float(answers.sum() / len(c)),
            relevant_mean=float(relevant.mean()) if len(relevant) else None,
            relevant_least=int(relevant.min()) if len(relevant) else None,
            relevant_most=int(relevant.max()) if len(relevant) else None,
            n_own_language=int(has_own[asked].sum()),
            n_repeated_texts=int(repeats[answers].sum()),
        )

    asked, answers = Counter(q.split or ()), Counter(c.split or ())
    return PoolDescription(
        source=pool.source,
        digest=pool.digest,
        languages=tuple(
            row(tag, q.language == code, c.language == code) for code, tag in enumerate(pool.languages)
        ),
        total=row("all", q.language >= 0, c.language >= 0),
        n_clusters=len(np.unique(q.cluster)),
        n_articles=None if q.article is None else len(np.unique(q.article)),
        n_irrelevant=len(c) - len(np.unique(candidate)),
        n_shared_texts=sum(times > 1 for times in Counter(text for _, text in places).values()),
        splits={
            name: {"questions": asked[name], "candidates": answers[name]}
            for name in dict.fromkeys([*asked, *answers])
        },
        warnings=pool.warnings,
    )
