"""Where data and encoders meet: texts and pictures of a manifest become vectors that may be trusted.

Everything an encoder returns is checked here, once, for every encoder: shape, numbers, and that no row it was
fitted on is evaluated.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.data.manifest import Manifest, read_reference
from xlingual.data.pictures import read_bytes
from xlingual.data.pools.fit import read_pool_texts
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.pools.reading import is_pool
from xlingual.data.reading.select import split_reference
from xlingual.encoders.lsa import LsaEncoder
from xlingual.errors import DataWarning, InputError, listed
from xlingual.ranking import Pool, UnitVectors
from xlingual.records import Encoder, Ints, Texts, digest


@dataclass(frozen=True)
class TextVectors:
    """Vectors [n, d] of some rows of a manifest; `position[row]` is a row's line, -1 where it has none."""

    vectors: np.ndarray
    position: Ints

    def pool(self, rows: Ints) -> Pool:
        """Return the vectors of the rows, equal ones collapsed."""
        return Pool.of(self.vectors, self.position[rows])

    def unit(self, rows: Ints) -> UnitVectors:
        """Return the vectors of the rows at unit length, one for each row."""
        return UnitVectors(self.vectors, self.position[rows])


@dataclass(frozen=True)
class PictureIndex:
    """The distinct pictures of a manifest: `code[row]` is the picture of a text row, -1 where not embedded.

    Pictures are distinct when their bytes differ; where there are no bytes, when their vectors differ.
    `pool.code[picture]` is the distinct *vector* of a picture: different pictures may have equal vectors.
    """

    code: Ints  # [rows of the manifest]
    pool: Pool

    def __len__(self) -> int:
        return len(self.pool.code)


def fit_texts_for(manifest: Manifest) -> Callable[[str], Texts]:
    """Return the function that loads the texts named by a spec's `fit=FILE#split`, a manifest or a pool.

    A manifest is read with the columns that the evaluated one was read with.
    """
    return lambda reference: load_fit_texts(reference, **manifest.columns.as_read())


def load_fit_texts(reference: str, **columns: Any) -> Texts:  # noqa: ANN401  (options of Manifest.read)
    """Return the texts that `fit=` names: of a manifest, or of a multilingual pool, or of a part of it."""
    try:
        if is_pool(split_reference(reference)[0]):
            return read_pool_texts(reference)
        other = read_reference(reference, **columns)
    except InputError as error:
        raise InputError(f"fit={reference}: {error}") from error
    return other.texts(np.arange(len(other)))


def refuse_fitted_rows(encoders: Mapping[str, Encoder], *evaluated: Texts) -> None:
    """Raise InputError where an encoder is fitted on texts that are to be evaluated.

    Encoders that are fitted are then fitted here, before any other work.
    """
    _refuse_fitted(encoders, evaluated)
    for encoder in encoders.values():
        if isinstance(encoder, LsaEncoder):
            _ = encoder.model


def _refuse_fitted(encoders: Mapping[str, Encoder], evaluated: Sequence[Texts]) -> None:
    fitted: dict[str, frozenset[bytes]] = {
        name: getattr(encoder, "fitted_on", frozenset()) for name, encoder in encoders.items()
    }
    if not any(fitted.values()):
        return
    digests = frozenset[bytes]().union(*(texts.row_digests() for texts in evaluated))
    for name, fitted_on in fitted.items():
        seen = digests & fitted_on
        if seen:
            raise InputError(
                f"text encoder {name!r} was fitted on {len(seen)} of the {sum(map(len, evaluated))} texts "
                "that are evaluated: choose other rows (for instance fit=FILE#train and --split test)"
            )


def batch_identity(encoder: Encoder, *texts: Texts) -> str:
    """Return what determines the vectors of texts: the encoder's identity, and the texts where they count.

    An encoder with `depends_on_batch` (one that counts words in the texts it is given) gives a text other
    vectors among other texts.
    """
    if not getattr(encoder, "depends_on_batch", False):
        return encoder.identity
    digests = frozenset[bytes]().union(*(part.row_digests() for part in texts))
    return f"{encoder.identity}#among={digest(*sorted(digests)).hex()[:12]}"


def embed_texts(manifest: Manifest, name: str, encoder: Encoder, rows: Ints) -> TextVectors:
    """Return the vectors of the text rows; raise InputError where the encoder's answer cannot be used."""
    vectors = _embedded(name, encoder, manifest.texts(rows), "texts")
    position = np.full(len(manifest), -1, dtype=np.int64)
    position[rows] = np.arange(len(rows))
    return TextVectors(vectors, position)


def embed_pool(
    pool: MultilingualPool, name: str, encoder: Encoder, candidate_text: str = "sentence"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of the questions [n, d] and of the candidates [m, d], each encoded once.

    An encoder with `depends_on_batch` gets both in one batch, which is then its collection.
    """
    questions, candidates = pool.question_texts(), pool.candidate_texts(candidate_text)
    if getattr(encoder, "depends_on_batch", False):
        both = _embedded(name, encoder, joined(questions, candidates), "questions and candidates")
        return both[: len(questions)], both[len(questions) :]
    asked = _embedded(name, encoder, questions, "questions")
    offered = _embedded(name, encoder, candidates, "candidates")
    if asked.shape[1] != offered.shape[1]:
        raise InputError(
            f"text encoder {name!r} gives questions {asked.shape[1]} and candidates {offered.shape[1]} "
            "dimensions: both must lie in one space"
        )
    return asked, offered


def joined(*batches: Texts) -> Texts:
    """Return several batches as one, without what they do not share (roles, contexts, numberings)."""
    return Texts(
        text=[text for batch in batches for text in batch.text],
        language=[tag for batch in batches for tag in batch.language],
        ids=[row for batch in batches for row in batch.ids],
    )


def _embedded(name: str, encoder: Encoder, texts: Texts, what: str) -> np.ndarray:
    """Return the vectors of texts; raise InputError where the encoder's answer cannot be used."""
    vectors = _checked(encoder.encode(texts), len(texts), f"text encoder {name!r}", texts.ids)
    named = [f"{row!r} ({tag})" for row, tag in zip(texts.ids, texts.language, strict=True)]
    _warn_of_zeros(vectors, f"text encoder {name!r}", what, named)
    return vectors


def embed_pictures(manifest: Manifest, name: str, encoder: Encoder, rows: Ints) -> PictureIndex:
    """Return the distinct pictures of the text rows and their vectors, each encoded once.

    A row whose picture has bytes or a path is represented by the first row that shows the same.
    """
    slot = manifest.picture[rows]
    key = np.where(slot >= 0, slot, len(manifest.picture_source) + np.arange(len(rows)))
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    pictures = manifest.pictures(rows[first])
    _warn_of_missing_files(pictures.source, pictures.ids)
    vectors = _checked(encoder.encode(pictures), len(first), f"image encoder {name!r}", pictures.ids)
    _warn_of_zeros(vectors, f"image encoder {name!r}", "pictures", [repr(row) for row in pictures.ids])
    by_vector = Pool.of(vectors)
    picture = _distinct_pictures(by_vector.code, pictures.source)
    _, representative, number = np.unique(picture, return_index=True, return_inverse=True)
    code = np.full(len(manifest), -1, dtype=np.int64)
    code[rows] = number[same]
    pool = Pool.of(vectors, representative)
    return PictureIndex(code, pool)


def _distinct_pictures(vector_code: Ints, sources: Sequence[bytes | Path | None]) -> Ints:
    """Return one number per distinct picture, for pictures in which equal vectors have equal codes.

    Only pictures whose vectors are equal need their bytes compared.
    """
    shared = np.bincount(vector_code)[vector_code] > 1
    labels: dict[Any, int] = {}
    picture = np.empty(len(sources), dtype=np.int64)
    for i, (code, source) in enumerate(zip(vector_code.tolist(), sources, strict=True)):
        content = _content(source) if shared[i] else i
        picture[i] = labels.setdefault((code, content), len(labels))
    return picture


def _content(source: bytes | Path | None) -> bytes | None:
    """Return a digest of a picture's bytes, or None where there are none to read."""
    if source is None or (isinstance(source, Path) and not source.is_file()):
        return None
    return digest(read_bytes(source))


def _checked(vectors: Any, count: int, who: str, ids: Sequence[str]) -> np.ndarray:  # noqa: ANN401
    """Return the vectors as a float array [count, d]; raise InputError where they are anything else."""
    array = np.asarray(vectors)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{who} returned {array.dtype} values; expected numbers [n, d]")
    if array.ndim != 2 or len(array) != count or array.shape[1] == 0:
        raise InputError(f"{who} returned an array of shape {array.shape}; expected ({count}, d)")
    if array.dtype not in (np.float16, np.float32):
        array = array.astype(np.float32)
    for start in range(0, count, 4096):
        bad = np.flatnonzero(~np.isfinite(array[start : start + 4096]).all(axis=1))
        if len(bad):
            row = start + int(bad[0])
            raise InputError(
                f"{who}: the vector of {ids[row]!r} (row {row + 1}) holds NaN or infinity; embed it again"
            )
    return array


def _warn_of_zeros(vectors: np.ndarray, who: str, what: str, named: Sequence[str]) -> None:
    zero = [i for start in range(0, len(vectors), 4096) for i in _zero_rows(vectors, start)]
    if zero:
        first = listed((named[i] for i in zero), 3)
        warnings.warn(
            f"{who}: {len(zero)} of {len(vectors)} {what} have an all-zero vector ({first}): they are "
            "similar to nothing and scored as ties",
            DataWarning,
            stacklevel=3,
        )


def _warn_of_missing_files(sources: Sequence[bytes | Path | None], ids: Sequence[str]) -> None:
    """Warn of picture files that are not there; an encoder that opens pictures refuses them itself."""
    missing = [i for i, source in enumerate(sources) if isinstance(source, Path) and not source.is_file()]
    if missing:
        first = f"{str(sources[missing[0]])!r}, shown by {ids[missing[0]]!r}"
        warnings.warn(
            f"{len(missing)} of {len(sources)} picture files are missing (first: {first}): reports show a "
            "placeholder for them",
            DataWarning,
            stacklevel=3,
        )


def _zero_rows(vectors: np.ndarray, start: int) -> list[int]:
    return (np.flatnonzero(~vectors[start : start + 4096].any(axis=1)) + start).tolist()
