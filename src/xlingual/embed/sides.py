"""Vectors of what an evaluation compares: texts, queries and candidates, images; and encoders made ready."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import Manifest, read_reference, split_reference
from xlingual.embed.encoding import Progress, Spent, VectorSource, each_row, encode
from xlingual.encoders import Encoder
from xlingual.encoders.decoding import SKIP, BrokenImagesError, broken, counted
from xlingual.encoders.transform import TransformedTexts
from xlingual.errors import InputError, listed, parameter, warn
from xlingual.forms import dense, is_dense
from xlingual.images import missing_files, read_bytes
from xlingual.ranking import Cosine, Pool, TextRows, rows_of
from xlingual.records import Encoded, Images, Texts, digest
from xlingual.store import Store

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool

_MEND = (
    "every row needs a vector: mend them, or leave their rows out of the manifest; xlingual data check lists "
    "them"
)
_UNEVEN = 1e-3  # how far lengths of vectors may differ, of the longest: half precision rounds less


class Embedding(TypedDict, total=False):
    """How vectors are made. With `any_form` they may be sparse rows or token vectors; else they are dense.

    `count_cut` False: nothing is said of texts that were cut, since they were counted before.
    """

    store: Store | None
    progress: Progress | None
    spent: Spent | None
    any_form: bool
    count_cut: bool


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

    queries = candidates = property(lambda self: self, doc="Those of rows in a role: all of them.")


@dataclass(frozen=True)
class RoleVectors:
    """Vectors of rows as queries, and of rows as candidates; `truncated` counts a text that was cut once."""

    queries: TextVectors
    candidates: TextVectors
    truncated: dict[str, int] | None = None


@dataclass(frozen=True)
class PoolVectors:
    """Vectors of questions and of candidates; `truncated` counts the cut texts by language, each once."""

    questions: Any  # AnyVectors, as the encoder gives them
    candidates: Any
    truncated: dict[str, int] | None = None


@dataclass(frozen=True)
class ImageIndex:
    """The distinct images of a manifest: `code[row]` is the image of a text row, -1 where not embedded.

    Images are distinct when their bytes differ; where there are no bytes, when their vectors differ.
    `pool.code[image]` is the distinct *vector* of an image: different images may have equal vectors.
    """

    code: Ints  # [rows of the manifest]
    pool: Pool

    def __len__(self) -> int:
        return len(self.pool.code)

    @property
    def points(self) -> Ints:
        """The distinct vector of each image."""
        return self.pool.code

    def between(self, rows: Ints, columns: Ints) -> Cosine:
        """Return the cosine of distinct vectors: `rows` are the queries, `columns` the candidates."""
        vectors = self.pool.vectors
        return Cosine(vectors.take(rows), vectors.take(columns))


def embed_batch(texts: Texts, name: str, encoder: Encoder, **how: Unpack[Embedding]) -> TextVectors:
    """Return the vectors of a batch of texts that belongs to no manifest, such as sentence pairs."""
    source = _source(name, how)
    encoded = _encoded(encoder, texts, "texts", source)
    vectors = encoded.vectors if how.get("any_form") else dense(encoded.vectors, source.who)
    cut = _count_cut(source.who, (texts, encoded)) if how.get("count_cut", True) else None
    return TextVectors(vectors, np.arange(len(texts)), cut)


def embed_texts(
    manifest: Manifest, name: str, encoder: Encoder, rows: Ints, **how: Unpack[Embedding]
) -> TextVectors:
    """Return the vectors of the text rows; raise InputError where the encoder's answer cannot be used."""
    texts = embed_batch(manifest.texts(rows), name, encoder, **how)
    return replace(texts, position=_positions(manifest, rows))


def embed_roles(
    manifest: Manifest, name: str, encoder: Encoder, queries: Ints, candidates: Ints, **how: Unpack[Embedding]
) -> TextVectors | RoleVectors:
    """Return the vectors of rows that are queries and of rows that are candidates.

    Where a text has one vector whatever its role (the encoder is not `by_role`), each row is encoded once,
    without a role.
    """
    offered = replace(manifest.texts(candidates), role="candidate")
    encoder = _over(encoder, offered, how)
    if not encoder.by_role or encoder.depends_on_batch:
        rows = distinct_values(np.concatenate([queries, candidates]))
        return embed_texts(manifest, name, encoder, rows, **how)
    asked = replace(manifest.texts(queries), role="query")
    both = embed_sides(asked, offered, name, encoder, **how)
    return RoleVectors(
        TextVectors(both.questions, _positions(manifest, queries)),
        TextVectors(both.candidates, _positions(manifest, candidates)),
        both.truncated,
    )


def embed_pool(
    pool: MultilingualPool,
    name: str,
    encoder: Encoder,
    candidate_text: str = "sentence",
    **how: Unpack[Embedding],
) -> PoolVectors:
    """Return the vectors of the questions and of the candidates of a pool; see `embed_sides`."""
    return embed_sides(pool.question_texts(), pool.candidate_texts(candidate_text), name, encoder, **how)


def embed_sides(
    questions: Texts, candidates: Texts, name: str, encoder: Encoder, **how: Unpack[Embedding]
) -> PoolVectors:
    """Return the vectors of questions and of candidates, each encoded once.

    An encoder with `depends_on_batch` gets both in one batch, which is then its collection.
    """
    source, encoder = _source(name, how), _over(encoder, candidates, how)
    if encoder.depends_on_batch:
        both = _encoded(encoder, joined(questions, candidates), "questions and candidates", source)
        asked, offered = (
            Encoded(both.vectors[part], None if both.truncated is None else both.truncated[part])
            for part in (slice(len(questions)), slice(len(questions), None))
        )
    else:
        asked = _encoded(encoder, questions, "questions", source)
        offered = _encoded(encoder, candidates, "candidates", source)
    for side in (asked, offered):
        if not how.get("any_form"):
            dense(side.vectors, source.who)
    if asked.vectors.shape[1] != offered.vectors.shape[1]:
        raise InputError(
            f"{source.who} gives questions {asked.vectors.shape[1]} and candidates "
            f"{offered.vectors.shape[1]} dimensions: both must lie in one space"
        )
    cut = _count_cut(source.who, (questions, asked), (candidates, offered))
    return PoolVectors(asked.vectors, offered.vectors, cut)


def embed_bank(texts: Texts, name: str, encoder: Encoder, **how: Unpack[Embedding]) -> Any:  # noqa: ANN401
    """Return the vectors of training queries, which are no part of the texts that are evaluated."""
    if encoder.depends_on_batch or encoder.over(texts.take(np.arange(1))) is not encoder:
        raise InputError(
            f"text encoder {name!r} weighs words by the texts it is given or that are searched, so training "
            f"queries have no vectors: give the encoder fit= too, or leave out {parameter('similarity')}"
        )
    how |= {"any_form": True, "count_cut": False}
    return embed_batch(texts, name, encoder, **how).vectors


def embed_images(
    manifest: Manifest,
    name: str,
    encoder: Encoder,
    rows: Ints,
    *,
    shown: bool = True,
    **how: Unpack[Embedding],
) -> ImageIndex:
    """Return the distinct images of the text rows and their vectors, each encoded once.

    `shown`: reports show the images, so missing files are reported (DataWarning); an encoder that
    opens images refuses them itself.
    """
    images, vectors, same = _encoded_images(manifest, name, encoder, rows, SKIP, how)
    if shown and len(missing := missing_files(images.source)):
        first = f"{str(images.source[missing[0]])!r}, shown by {images.ids[missing[0]]!r}"
        warn(
            f"{len(missing)} of {len(images)} image files are missing (first: {first}): reports show a "
            "placeholder for them"
        )
    pool = Pool.of(vectors)
    image, first_of = np.arange(len(images)), dict[Any, int]()  # the first image that is the same
    for row in np.flatnonzero(np.bincount(pool.code)[pool.code] > 1).tolist():  # bytes of others are not read
        key = pool.code[row], (np.asarray(vectors[row : row + 1]) + 0).tobytes(), _content(images.source[row])
        image[row] = first_of.setdefault(key, row)
    _, representative, number = np.unique(image, return_index=True, return_inverse=True)
    code = np.full(len(manifest), -1, dtype=np.int64)
    code[rows] = number[same]
    return ImageIndex(code, pool.take(representative))


def image_vectors(
    manifest: Manifest, name: str, encoder: Encoder, rows: Ints, **how: Unpack[Embedding]
) -> np.ndarray:
    """Return the vectors [n, d] of the images of text rows, one for each row.

    No row is left out, since the position of a vector says whose it is: a broken image is an InputError.
    """
    _, vectors, same = _encoded_images(manifest, name, encoder, rows, _MEND, how)
    return vectors[same]


def joined(*batches: Texts) -> Texts:
    """Return several batches as one, without what they do not share (roles, contexts, numberings)."""
    return Texts(
        text=[text for batch in batches for text in batch.text],
        language=[tag for batch in batches for tag in batch.language],
        ids=[row for batch in batches for row in batch.ids],
    )


def load_fit_texts(reference: str, *, questions: bool = False, **columns: Any) -> Texts:  # noqa: ANN401
    """Read the texts that `fit=FILE#split` names: of a manifest, with columns as `Manifest.read`, or a pool.

    `questions`: of a pool its questions alone.
    """
    # few evaluations read a pool, and all import this module
    from xlingual.data.pools.pool import is_pool, read_pool_texts

    path = split_reference(reference)[0]
    try:
        if is_pool(path):
            return read_pool_texts(reference, questions=questions)
        manifest = read_reference(reference, **columns)
    except InputError as error:
        raise InputError(f"fit={reference}: {error}") from error
    return manifest.texts(np.arange(len(manifest)))


load_queries = partial(load_fit_texts, questions=True)


def fit_texts_for(manifest: Manifest) -> Callable[[str], Texts]:
    """Return `load_fit_texts` with the columns that a manifest was read with."""
    return partial(load_fit_texts, **manifest.columns)


def queries_for(manifest: Manifest) -> Callable[[str], Texts]:
    """Return `load_queries` with the columns that a manifest was read with."""
    return partial(load_queries, **manifest.columns)


def refuse_fitted_rows(encoders: Mapping[str, Encoder], *evaluated: Texts, **how: Unpack[Embedding]) -> None:
    """Raise InputError where an encoder is fitted on texts that are to be evaluated, or lacks a language.

    Encoders that are fitted are then fitted here, before any other work; those on top of another one from
    its vectors, which the store keeps.
    """
    for encoder in encoders.values():
        encoder.check_languages([tag for texts in evaluated for tag in texts.language])
    fitted = {name: encoder.fitted_on for name, encoder in encoders.items() if encoder.fitted_on}
    digests = frozenset[bytes]().union(*(texts.row_digests() for texts in evaluated if fitted))
    for name, fitted_on in fitted.items():
        if seen := digests & fitted_on:
            raise InputError(
                f"text encoder {name!r} was fitted on {len(seen)} of the {sum(map(len, evaluated))} texts "
                "that are evaluated: choose other rows (for instance fit=FILE#train and --split test; of a "
                "repaired encoder its part for testing)"
            )
    for name, encoder in encoders.items():
        _fit(encoder, replace(_source(name, how), what=f"fitting: {name}"))


def _fit(encoder: Encoder, source: VectorSource) -> None:
    """Fit an encoder after the one below it."""
    if isinstance(encoder, TransformedTexts):
        _fit(encoder.base, source)
        encoder.fit_from(encode(encoder.base, encoder.chosen, source).vectors)
    else:
        encoder.fit_model()


def batch_identity(encoder: Encoder, *texts: Texts) -> str:
    """Return what determines the vectors: the encoder's identity, and more where more counts.

    An encoder with `depends_on_batch` (one that counts words in the texts it is given) gives a text other
    vectors among other texts.
    """
    if not encoder.depends_on_batch:
        return encoder.identity
    digests = frozenset[bytes]().union(*(part.row_digests() for part in texts))
    return f"{encoder.identity}#among={digest(*sorted(digests)).hex()[:12]}"


def _source(name: str, how: Embedding) -> VectorSource:
    store, progress, spent = how.get("store"), how.get("progress"), how.get("spent")
    return VectorSource(f"text encoder {name!r}", f"encoding texts: {name}", store, progress, spent)


def _positions(manifest: Manifest, rows: Ints) -> Ints:
    position = np.full(len(manifest), -1, dtype=np.int64)
    position[rows] = np.arange(len(rows))
    return position


def _over(encoder: Encoder, candidates: Texts, how: Embedding) -> Encoder:
    """Return the encoder of a search among these candidates; the time that it takes to read them counts."""
    start = time.perf_counter()
    over = encoder.over(candidates)
    if over is not encoder and (spent := how.get("spent")) is not None:
        spent.pieces.append((0, time.perf_counter() - start))
    return over


def _encoded(encoder: Encoder, texts: Texts, what: str, source: VectorSource) -> Encoded:
    """Encode texts, with warnings of vectors that are zero, or ranked otherwise than by their model."""
    encoded = encode(encoder, texts, source)
    _warn_of_zeros(encoded.vectors, source.who, f"{what} have an all-zero vector", texts)
    if texts.role != "query":  # lengths of queries change no order
        warn_of_similarity(encoded.vectors, encoder.compares_by, source.who)
    return encoded


def _warn_of_zeros(vectors: Any, who: str, what: str, batch: Texts | Images) -> None:  # noqa: ANN401
    zeros = ~each_row(vectors, lambda rows: rows.any(axis=1)) if is_dense(vectors) else vectors.zero()
    zero = np.flatnonzero(zeros) if is_dense(vectors) else zeros
    if len(zero):
        first = listed((f"{batch.ids[row]!r} ({batch.language[row]})" for row in zero.tolist()), 3)
        warn(
            f"{who}: {len(zero)} of {len(vectors)} {what} ({first}): they are similar to nothing and scored "
            "as ties"
        )


def warn_of_similarity(vectors: Any, compares_by: str | None, who: str) -> None:  # noqa: ANN401  (AnyVectors)
    """Warn where the cosine ranks candidates otherwise than their model would: where lengths differ."""
    if compares_by not in ("dot", "euclidean", "manhattan") or not is_dense(vectors):
        return
    lengths = each_row(vectors, lambda block: np.linalg.norm(np.asarray(block, np.float64), axis=1))
    lengths = lengths[lengths > 0]
    if len(lengths) and lengths.max() - lengths.min() > _UNEVEN * lengths.max():
        warn(  # no numbers: a training loop says it once, not each time
            f"{who}: the model is made to be compared by {compares_by!r}, and its vectors differ in length. "
            "They are ranked by the cosine here, which is another order than that of its own search"
        )


def _count_cut(who: str, *sides: tuple[Texts, Encoded]) -> dict[str, int] | None:
    """Count the texts of each language that were cut, with a warning; None where no encoder notes it.

    A text (id, language and words) of both sides counts once.
    """
    noted = [(texts, encoded.truncated) for texts, encoded in sides if encoded.truncated is not None]
    cut = {
        (texts.ids[row], texts.language[row], texts.text[row])
        for texts, truncated in noted
        for row in np.flatnonzero(truncated).tolist()
    }
    counts = Counter(language for _, language, _ in cut)
    if cut:
        total = len(frozenset().union(*(texts.row_digests() for texts, _ in sides)))
        each = listed((f"{tag} {count:,}" for tag, count in sorted(counts.items())), 20)
        warn(
            f"{who}: {len(cut):,} of {total:,} texts were longer than it reads and were cut ({each}): their "
            "ends count for nothing"
        )
    return {tag: counts[tag] for texts, _ in noted for tag in texts.language} if noted else None


def _encoded_images(
    manifest: Manifest, name: str, encoder: Encoder, rows: Ints, remedy: str, how: Embedding
) -> tuple[Images, np.ndarray, Ints]:
    """Return images of the rows, their vectors [m, d], and which of them each row shows [n].

    A row whose image has bytes or a path is represented by the first row that shows the same.
    """
    slot = manifest.image[rows]
    key = np.where(slot >= 0, slot, len(manifest.image_source) + np.arange(len(rows)))
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    images = manifest.images(rows[first])
    source = replace(_source(name, how), who=f"image encoder {name!r}", what="encoding images", spent=None)
    try:
        vectors = encode(encoder, images, source).vectors
    except BrokenImagesError as error:  # it counts those of one piece only
        reasons = broken(images)
        if not reasons:
            raise
        text = counted(next(iter(reasons.values())), len(reasons), images, remedy)
        raise InputError(text) from error
    warn_of_similarity(vectors, encoder.compares_by, source.who)
    _warn_of_zeros(vectors, source.who, "images have an all-zero vector", images)
    return images, vectors, same


def _content(source: Any) -> bytes | None:  # noqa: ANN401
    """Digest an image's bytes, or those of several; None where there are none to read."""
    if isinstance(source, tuple):
        parts = [_content(part) for part in source]
        return None if None in parts else digest(*filter(None, parts))
    if source is None or (isinstance(source, Path) and not source.is_file()):
        return None
    return digest(read_bytes(source))
