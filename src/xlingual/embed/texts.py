"""Vectors of texts: of a manifest, and of the questions and candidates of a pool."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.embed.checks import (
    cut_by_language,
    cut_in_sides,
    warn_of_cut_texts,
    warn_of_similarity,
    warn_of_zeros,
)
from xlingual.embed.encoding import Progress, VectorSource, encode
from xlingual.embed.spent import Spent
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter
from xlingual.forms import dense
from xlingual.ranking import Pool, TextRows, rows_of
from xlingual.records import Encoded, Texts
from xlingual.store import Store

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool


@dataclass(frozen=True)
class TextVectors:
    """Vectors of some rows of a manifest; `position[row]` is a row's line, -1 where it has none.

    `truncated` counts the texts of each language that were cut, where the encoder notes it.
    """

    vectors: Any  # AnyVectors, as the encoder gives them
    position: Ints
    truncated: dict[str, int] | None = None

    def pool(self, rows: Ints) -> Pool:
        """Return the vectors of the rows, equal ones collapsed."""
        return Pool.of(self.vectors, self.position[rows])

    def unit(self, rows: Ints) -> TextRows:
        """Return the vectors of the rows as they are compared, one for each row."""
        return rows_of(self.vectors, self.position[rows])

    @property
    def queries(self) -> TextVectors:
        """Those of rows that are queries: the same, as no role was asked for."""
        return self

    @property
    def candidates(self) -> TextVectors:
        """Those of rows that are candidates: the same."""
        return self


@dataclass(frozen=True)
class RoleVectors:
    """Vectors of rows as queries, and of rows as candidates; `truncated` counts a text that was cut once."""

    queries: TextVectors
    candidates: TextVectors
    truncated: dict[str, int] | None = None


@dataclass(frozen=True)
class BatchVectors:
    """Vectors [n, d] of a batch; `truncated` counts the cut texts of each language, where they are noted."""

    vectors: np.ndarray
    truncated: dict[str, int] | None = None


@dataclass(frozen=True)
class PoolVectors:
    """Vectors of questions and of candidates; `truncated` counts the cut texts by language, each once."""

    questions: Any  # AnyVectors, as the encoder gives them
    candidates: Any
    truncated: dict[str, int] | None = None


def embed_texts(
    manifest: Manifest,
    name: str,
    encoder: Encoder,
    rows: Ints,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
    spent: Spent | None = None,
    any_form: bool = False,
    count_cut: bool = True,
) -> TextVectors:
    """Return the vectors of the text rows; raise InputError where the encoder's answer cannot be used.

    With `any_form` these may be sparse rows or token vectors; else they must be dense. Without `count_cut`
    nothing is said of texts that were cut, since they were counted before, in their roles.
    """
    source = _source(name, store, progress, spent)
    found = _batch_vectors(manifest.texts(rows), encoder, source, any_form=any_form, count_cut=count_cut)
    position = np.full(len(manifest), -1, dtype=np.int64)
    position[rows] = np.arange(len(rows))
    return TextVectors(found.vectors, position, found.truncated)


def embed_roles(
    manifest: Manifest,
    name: str,
    encoder: Encoder,
    queries: Ints,
    candidates: Ints,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
    spent: Spent | None = None,
    any_form: bool = False,
) -> TextVectors | RoleVectors:
    """Return the vectors of rows that are queries and of rows that are candidates.

    Where a text has one vector whatever its role (the encoder is not `by_role`), each row is encoded once,
    without a role.
    """
    encoder = _over(encoder, replace(manifest.texts(candidates), role="candidate"), spent)
    if not encoder.by_role or encoder.depends_on_batch:
        rows = distinct_values(np.concatenate([queries, candidates]))
        return embed_texts(
            manifest, name, encoder, rows, store=store, progress=progress, spent=spent, any_form=any_form
        )
    asked, offered = (
        replace(manifest.texts(rows), role=role)
        for rows, role in ((queries, "query"), (candidates, "candidate"))
    )
    found = embed_sides(
        asked, offered, name, encoder, store=store, progress=progress, spent=spent, any_form=any_form
    )
    positions = []
    for rows in (queries, candidates):
        position = np.full(len(manifest), -1, dtype=np.int64)
        position[rows] = np.arange(len(rows))
        positions.append(position)
    return RoleVectors(
        TextVectors(found.questions, positions[0]),
        TextVectors(found.candidates, positions[1]),
        found.truncated,
    )


def embed_batch(
    texts: Texts,
    name: str,
    encoder: Encoder,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
    spent: Spent | None = None,
) -> BatchVectors:
    """Return the vectors of a batch of texts that belongs to no manifest, such as sentence pairs."""
    return _batch_vectors(texts, encoder, _source(name, store, progress, spent))


def embed_bank(
    texts: Texts,
    name: str,
    encoder: Encoder,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Any:  # noqa: ANN401  (AnyVectors)
    """Return the vectors of training queries, which are no part of the texts that are evaluated."""
    if encoder.depends_on_batch or encoder.over(texts.take(np.arange(1))) is not encoder:
        raise InputError(
            f"text encoder {name!r} weighs words by the texts it is given, or that are searched, so training "
            "queries have no vectors of their own: give the encoder fit= too, or leave out "
            f"{parameter('similarity')}"
        )
    found = _batch_vectors(
        texts, encoder, _source(name, store, progress, None), any_form=True, count_cut=False
    )
    return found.vectors


def _batch_vectors(
    texts: Texts, encoder: Encoder, source: VectorSource, *, any_form: bool = False, count_cut: bool = True
) -> BatchVectors:
    found = _embedded(encoder, texts, "texts", source)
    vectors = found.vectors if any_form else dense(found.vectors, source.who)
    cut = cut_by_language(found.truncated, texts.language) if count_cut else None
    warn_of_cut_texts(cut, source.who, len(texts))
    return BatchVectors(vectors, cut)


def embed_pool(
    pool: MultilingualPool,
    name: str,
    encoder: Encoder,
    candidate_text: str = "sentence",
    *,
    store: Store | None = None,
    progress: Progress | None = None,
    spent: Spent | None = None,
    any_form: bool = False,
) -> PoolVectors:
    """Return the vectors of the questions and of the candidates, each encoded once; `any_form` as above.

    An encoder with `depends_on_batch` gets both in one batch, which is then its collection.
    """
    questions, candidates = pool.question_texts(), pool.candidate_texts(candidate_text)
    return embed_sides(
        questions, candidates, name, encoder, store=store, progress=progress, spent=spent, any_form=any_form
    )


def embed_sides(
    questions: Texts,
    candidates: Texts,
    name: str,
    encoder: Encoder,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
    spent: Spent | None = None,
    any_form: bool = False,
) -> PoolVectors:
    """Return the vectors of questions and of candidates, each encoded once; see `embed_pool`."""
    source, encoder = _source(name, store, progress, spent), _over(encoder, candidates, spent)
    if encoder.depends_on_batch:
        both = _embedded(encoder, joined(questions, candidates), "questions and candidates", source)
        of_questions, of_candidates = (
            Encoded(both.vectors[part], None if both.truncated is None else both.truncated[part])
            for part in (slice(len(questions)), slice(len(questions), None))
        )
    else:
        of_questions = _embedded(encoder, questions, "questions", source)
        of_candidates = _embedded(encoder, candidates, "candidates", source)
    if not any_form:
        for found in (of_questions, of_candidates):
            dense(found.vectors, source.who)
    if of_questions.vectors.shape[1] != of_candidates.vectors.shape[1]:
        raise InputError(
            f"text encoder {name!r} gives questions {of_questions.vectors.shape[1]} and candidates "
            f"{of_candidates.vectors.shape[1]} dimensions: both must lie in one space"
        )
    cut, count = cut_in_sides((questions, of_questions.truncated), (candidates, of_candidates.truncated))
    warn_of_cut_texts(cut, source.who, count)
    return PoolVectors(of_questions.vectors, of_candidates.vectors, cut)


def joined(*batches: Texts) -> Texts:
    """Return several batches as one, without what they do not share (roles, contexts, numberings)."""
    return Texts(
        text=[text for batch in batches for text in batch.text],
        language=[tag for batch in batches for tag in batch.language],
        ids=[row for batch in batches for row in batch.ids],
    )


def _source(name: str, store: Store | None, progress: Progress | None, spent: Spent | None) -> VectorSource:
    return VectorSource(f"text encoder {name!r}", f"encoding texts: {name}", store, progress, spent)


def _over(encoder: Encoder, candidates: Texts, spent: Spent | None) -> Encoder:
    """Return the encoder of a search among these candidates; the time that it takes to read them counts."""
    own = Spent()
    with own.preparing():
        found = encoder.over(candidates)
    if spent is not None and found is not encoder:
        spent.prepared += own.prepared
    return found


def _embedded(encoder: Encoder, texts: Texts, what: str, source: VectorSource) -> Encoded:
    """Return the vectors of texts; raise InputError where the encoder's answer cannot be used."""
    found = encode(encoder, texts, source)
    warn_of_zeros(
        found.vectors,
        source.who,
        what,
        lambda row: f"{texts.ids[row]!r} ({texts.language[row]})",
        encoder.zero_vector,
    )
    if texts.role != "query":  # lengths of queries change no order
        warn_of_similarity(found.vectors, encoder.compares_by, source.who)
    return found
