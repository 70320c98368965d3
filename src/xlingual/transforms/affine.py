"""Maps x → x·M + b, one for each language: every fitted transform is one, and so are two in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.errors import InputError, listed

_ROWS = 8192  # rows that are in memory as float64 at once


@dataclass(frozen=True)
class Affine:
    """For a text of language l with vector x the vector x·matrix[row[l]] + offset[row[l]].

    `row` has the place of each language that has a map of its own, and under None the place of the map of
    all others; without None other languages are refused. One matrix stands for all rows where it is one;
    `matrix` None is the identity. A zero vector, of a text that the encoder knows nothing about, stays zero.
    """

    row: Mapping[str | None, int]
    offset: Floats  # [s, e]
    matrix: Floats | None = None  # [s, d, e] or [1, d, e]

    @classmethod
    def identity(cls, dim: int) -> Affine:
        """Return the map that leaves vectors of d dimensions as they are, in any language."""
        return cls({None: 0}, np.zeros((1, dim)))

    @property
    def dim(self) -> int:
        """The dimensions it takes."""
        return int((self.offset if self.matrix is None else self.matrix).shape[1])

    @property
    def languages(self) -> tuple[str, ...] | None:
        """The only languages it takes; None: any."""
        return None if None in self.row else tuple(sorted(tag for tag in self.row if tag is not None))

    def of(self, language: str | None) -> tuple[Floats | None, Floats]:
        """Give (matrix [d, e] or None, offset [e]) of a language; raise InputError where it has none."""
        place = self.row.get(language, self.row.get(None))
        if place is None:
            raise InputError(
                f"fitted on texts in {listed(self.languages or (), 20)}, and not in {language!r}: fit it on "
                "texts in that language too"
            )
        if self.matrix is None:
            return None, self.offset[place]
        return self.matrix[place if len(self.matrix) > 1 else 0], self.offset[place]

    def apply(self, vectors: Vectors, languages: Sequence[str]) -> Vectors:
        """Return float32 [n, e] for float32 [n, d] and the language of each row [n].

        Raises InputError for a language that has no map, and where d is another one.
        """
        if vectors.shape[1] != self.dim:
            raise InputError(
                f"fitted on vectors of {self.dim} dimensions, found {vectors.shape[1]}: it belongs to "
                "another encoder"
            )
        out = np.empty((len(vectors), self.offset.shape[1]), dtype=np.float32)
        for language, rows in rows_of_each(languages).items():
            try:
                matrix, offset = self.of(language)
            except InputError:
                if np.any(vectors[rows]):
                    raise
                out[rows] = 0
                continue
            for start in range(0, len(rows), _ROWS):
                piece = rows[start : start + _ROWS]
                x = np.asarray(vectors[piece], dtype=np.float64)
                y = (x if matrix is None else x @ matrix) + offset
                y[~x.any(axis=1)] = 0
                out[piece] = y
        return out

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the map as arrays of float32: offset [s, e], and matrix where there is one."""
        found = {"offset": self.offset} | ({} if self.matrix is None else {"matrix": self.matrix})
        return {name: np.ascontiguousarray(each, dtype=np.float32) for name, each in found.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], languages: Sequence[str | None]) -> Affine:
        """Return the map of such arrays; `languages` says of which language each place is, None: of others.

        Raises ValueError where shapes do not fit.
        """
        offset, matrix = arrays["offset"], arrays.get("matrix")
        fits = offset.ndim == 2 and len(languages) == len(offset)
        if matrix is not None:
            fits = fits and matrix.ndim == 3 and matrix.shape[2] == offset.shape[1]
            fits = fits and len(matrix) in (1, len(offset))
        if not fits or len(set(languages)) < len(languages):
            raise ValueError("shapes of offset, matrix and languages do not fit")
        whole = None if matrix is None else matrix.astype(np.float64)
        return cls({tag: place for place, tag in enumerate(languages)}, offset.astype(np.float64), whole)

    @property
    def places(self) -> list[str | None]:
        """The language of each place, None: of all others."""
        return sorted(self.row, key=lambda tag: self.row[tag])

    def rounded(self) -> Affine:
        """Return the map in float32, as it is written."""
        return Affine.of_arrays(self.arrays(), self.places)

    def then(self, after: Affine) -> Affine:
        """Make the map that applies this one and `after` to its vectors: x·M·M' + b·M' + b'."""
        both = (self, after)
        tags = [tag for tag in {**self.row, **after.row} if all(tag in m.row or None in m.row for m in both)]
        if not tags:
            raise InputError("two transforms in a row have no language in common: fit both on the same texts")
        offsets, matrices = list[Floats](), list[Floats]()
        shared = all(map.matrix is None or len(map.matrix) == 1 for map in both)
        for tag in tags:
            (first, b), (second, c) = self.of(tag), after.of(tag)
            offsets.append((b if second is None else b @ second) + c)
            factors = [matrix for matrix in (first, second) if matrix is not None]
            if factors and not (shared and matrices):
                matrices.append(factors[0] if len(factors) == 1 else factors[0] @ factors[1])
        whole = np.stack(matrices) if matrices else None
        return Affine({tag: place for place, tag in enumerate(tags)}, np.stack(offsets), whole)


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows [n, d] at unit length, computed in float64; a zero row stays zero."""
    exact = np.asarray(vectors, dtype=np.float64)
    length = np.sqrt(np.einsum("nd,nd->n", exact, exact))[:, None]
    return np.asarray(np.divide(exact, length, out=np.zeros_like(exact), where=length > 0), dtype=np.float32)


def rows_of_each(languages: Sequence[str]) -> dict[str, Ints]:
    """Return language → its rows, ascending; languages in the order in which they first occur."""
    found: dict[str, list[int]] = {}
    for row, language in enumerate(languages):
        found.setdefault(language, []).append(row)
    return {language: np.array(rows, dtype=np.int64) for language, rows in found.items()}


def everywhere(matrix: Floats | None, offset: Floats) -> Affine:
    """Return the map that is the same for all languages: matrix [d, e], offset [e]."""
    return Affine({None: 0}, offset[None], None if matrix is None else matrix[None])


def by_language(maps: Mapping[str, tuple[Floats | None, Floats]]) -> Affine:
    """Return the map made of one (matrix or None, offset) for each language; all have a matrix, or none."""
    matrices = [matrix for matrix, _ in maps.values() if matrix is not None]
    return Affine(
        {language: place for place, language in enumerate(maps)},
        np.stack([offset for _, offset in maps.values()]),
        np.stack(matrices) if matrices else None,
    )
