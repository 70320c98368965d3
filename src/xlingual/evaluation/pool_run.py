"""What tasks over a pool of queries and candidates share: its systems, names and texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.names import Names
from xlingual.data.pools.pool import CANDIDATE_TEXTS, Candidates, MultilingualPool, Questions
from xlingual.embed.sides import load_fit_texts
from xlingual.encoders import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.run_systems import RunSystem, systems
from xlingual.evaluation.trec import Member


def check_pool(pool: object, candidate_text: str) -> MultilingualPool:
    """Return the pool; raise InputError for another object, and a text of candidates that it has not."""
    if not isinstance(pool, MultilingualPool):
        raise InputError(
            f"expected a MultilingualPool or its path, got {type(pool).__name__}: read it with "
            "MultilingualPool.read(path)"
        )
    if candidate_text not in CANDIDATE_TEXTS:
        near = did_you_mean(candidate_text, CANDIDATE_TEXTS)
        expected = f"expected {listed(CANDIDATE_TEXTS)}{near and '.' + near}"
        raise InputError(f"unknown candidate text {candidate_text!r}: {expected}")
    if candidate_text != CANDIDATE_TEXTS[0] and not any(pool.candidates.context):
        raise InputError(f"{pool.source}: no candidate has a context: use the sentence alone")
    return pool


def pool_systems(pool: MultilingualPool, specs: Any) -> dict[str, Encoder | RunSystem]:  # noqa: ANN401
    """Return the systems by name; refuse files of vectors that do not separate queries from candidates."""
    tags, roles = list(pool.languages), pool.role_languages
    by_name = systems(specs, languages=tags, role_languages=roles, fit_texts=load_fit_texts)
    refuse_without_role(by_name)
    return by_name


def refuse_without_role(by_name: Mapping[str, Encoder | RunSystem]) -> None:
    """Refuse files of vectors that do not separate queries from candidates.

    With as many queries as candidates that mistake would pass unseen.
    """
    for name, encoder in by_name.items():
        if isinstance(encoder, VectorsEncoder) and "{role}" not in encoder.pattern:
            raise InputError(
                f"text encoder {name!r}: vectors:{encoder.pattern} has no {{role}}, which stands for "
                "questions or candidates: give each a file, as in vectors:model.{role}.{lang}.npy"
            )


def names_of(pool: MultilingualPool, side: Questions | Candidates) -> Names:
    """Return the names of questions or candidates."""
    return Names([pool.languages[code] for code in side.language.tolist()], side.ids)


def with_languages(names: Names) -> list[str]:
    """Return the names as tables have them, "ar/ID"."""
    return [f"{tag}/{text}" for tag, text in zip(names.languages, names.ids, strict=True)]


def members_of(names: Names) -> list[Member]:
    """Return queries or candidates, as TREC files name them."""
    return [Member(*name) for name in zip(names.languages, names.ids, strict=True)]


def rows_of_queries(pool: MultilingualPool, cluster: Ints) -> QueryRows:
    """Return the names, items (questions of one key) and clusters of the questions."""
    names = names_of(pool, pool.questions)
    number: dict[str, int] = {}
    item = [number.setdefault(key, len(number)) for key in pool.questions.key]
    ids = with_languages(names) if len(pool.languages) > 1 else names.ids
    labels = {"language": names.languages}
    return QueryRows(ids, np.array(item, dtype=np.int64), list(number), cluster, labels)


def described(pool: MultilingualPool, candidate: int) -> dict[str, str]:
    """Return id, language and text of a candidate."""
    c = pool.candidates
    tag = pool.languages[c.language[candidate]]
    return {"id": c.ids[candidate], "language": tag, "text": c.text[candidate]}
