"""Designs of studies from made-up lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from xlingual.study.design import Candidate, Design, Listed, StudyPlan, StudyQuery, make_design


def text(key: str, language: str = "ru", image: str | None = None) -> Candidate:
    return Candidate(key, f"text {key}", language, image)


def listed(*keys: str) -> list[Listed]:
    return [Listed(text(key, image=f"p{key}"), 0.9 - 0.1 * place) for place, key in enumerate(keys)]


def random_lists(
    queries: int = 20, k: int = 5, systems: str = "ab", pool: int = 300, seed: int = 0
) -> list[StudyQuery]:
    rng = np.random.default_rng(seed)
    return [
        StudyQuery(
            text(f"q{number}", "en", f"pq{number}"),
            {
                name: listed(*(f"t{one}" for one in rng.choice(pool, k, replace=False).tolist()))
                for name in systems
            },
            wrong=text("wrong"),
            right=text(f"own{number}"),
        )
        for number in range(queries)
    ]


def design(asked: list[StudyQuery], systems: str = "ab", **options: Any) -> Design:
    given = {"source": "en", "target": "ru", "per_system": 5, "title": "Title", "created": "2026-01-01"}
    return make_design(
        asked, {name: f"signature of {name}" for name in systems}, StudyPlan(**(given | options))
    )
