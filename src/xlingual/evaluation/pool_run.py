"""What tasks over a pool of queries and candidates share: its systems, and how its candidates are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlingual.data.pools.pool import CANDIDATE_TEXTS, MultilingualPool
from xlingual.embed.sides import load_fit_texts
from xlingual.encoders import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.evaluation.run_systems import RunSystem, systems


def check_candidate_text(pool: MultilingualPool, candidate_text: str) -> None:
    """Raise InputError for a text of candidates that is not known, or that the pool has not."""
    if candidate_text not in CANDIDATE_TEXTS:
        near = did_you_mean(candidate_text, CANDIDATE_TEXTS)
        raise InputError(
            f"unknown candidate text {candidate_text!r}: expected {listed(CANDIDATE_TEXTS)}"
            f"{near and '.' + near}"
        )
    if candidate_text != CANDIDATE_TEXTS[0] and not any(pool.candidates.context):
        raise InputError(f"{pool.source}: no candidate has a context: use the sentence alone")


def pool_systems(pool: MultilingualPool, specs: Any) -> dict[str, Encoder | RunSystem]:  # noqa: ANN401
    """Return the systems by name; refuse files of vectors that do not separate queries from candidates."""
    by_name = systems(
        specs,
        languages=list(pool.languages),
        role_languages=pool.role_languages,
        fit_texts=load_fit_texts,
    )
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


def described(pool: MultilingualPool, candidate: int) -> dict[str, str]:
    """Return id, language and text of a candidate."""
    c = pool.candidates
    tag = pool.languages[c.language[candidate]]
    return {"id": c.ids[candidate], "language": tag, "text": c.text[candidate]}
