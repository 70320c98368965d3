"""Vectors that are not one dense row for each text: sparse rows, and a vector for each token.

Both are used as an array of n rows is: `len`, `shape`, `vectors[rows]`. Both name how they are compared,
since nothing else says it. numpy and scipy are imported inside the functions, so that this module costs
nothing to import.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError

if TYPE_CHECKING:
    import numpy as np

DOT, COSINE, MAXSIM, MEAN_MAXSIM = "dot", "cosine", "maxsim", "meanmaxsim"


@dataclass(frozen=True, eq=False)
class SparseVectors:
    """Sparse rows [n, d], as of SPLADE: few of very many dimensions are not zero.

    `matrix` is a CSR matrix of scipy, float32, with ascending columns and no zeros (`of` makes it so).
    `compared_by`: "dot" product, as such models are trained, or "cosine".
    """

    matrix: Any  # of scipy
    compared_by: str = DOT

    ndim = 2
    what = "sparse vectors"

    def __post_init__(self) -> None:
        _check(self.compared_by, DOT, COSINE)

    @classmethod
    def of(cls, matrix: Any, compared_by: str = DOT) -> SparseVectors:  # noqa: ANN401  (of scipy)
        """Return the rows of any sparse matrix, or array, of scipy."""
        import numpy as np

        rows = matrix.tocsr(copy=True).astype(np.float32)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return cls(rows, compared_by)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, dimensions)."""
        return len(self), int(self.matrix.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        found: np.dtype[Any] = self.matrix.dtype
        return found

    @property
    def sizes(self) -> Ints:
        """How many numbers of each row are not zero, int64 [n]."""
        import numpy as np

        found: Ints = np.diff(self.matrix.indptr).astype(np.int64)
        return found

    def __getitem__(self, rows: Any) -> SparseVectors:  # noqa: ANN401  (a slice, or numbers of rows)
        return replace(self, matrix=self.matrix[rows])

    def zero(self) -> Ints:
        """Return which rows are all zero, ascending."""
        import numpy as np

        return np.flatnonzero(self.sizes == 0)

    def row_bytes(self, row: int) -> bytes:
        """Return bytes that are equal where rows are equal."""
        part = slice(*self.matrix.indptr[row : row + 2].tolist())
        columns: bytes = self.matrix.indices[part].astype("<i8").tobytes()
        values: bytes = self.matrix.data[part].tobytes()
        return columns + values

    def bad_rows(self) -> Ints:
        """Return the rows that hold NaN or infinity, ascending."""
        import numpy as np

        bad = np.flatnonzero(~np.isfinite(self.matrix.data))
        return np.unique(np.searchsorted(self.matrix.indptr, bad, side="right") - 1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class TokenVectors:
    """A vector for each token of n texts, as of ColBERT: those of text i are bounds[i] … bounds[i + 1] − 1.

    `compared_by`: "maxsim", for each token of a query the largest product with a token of the candidate,
    summed over the query's tokens; or "meanmaxsim", the mean over these.
    """

    vectors: Vectors  # float32 [tokens of all texts, d]
    bounds: Ints  # [n + 1], from 0
    compared_by: str = MAXSIM

    ndim = 2
    what = "a vector for each token"

    def __post_init__(self) -> None:
        _check(self.compared_by, MAXSIM, MEAN_MAXSIM)

    @classmethod
    def of(cls, texts: Iterable[Any], compared_by: str = MAXSIM, dim: int = 0) -> TokenVectors:
        """Return the token vectors of texts that are arrays [tokens, d] each; `dim` is the d of none."""
        import numpy as np

        arrays = [np.asarray(text, dtype=np.float32) for text in texts]
        bounds = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        whole = np.concatenate(arrays) if arrays else np.empty((0, dim), dtype=np.float32)
        return cls(whole, bounds, compared_by)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(texts, dimensions of a token's vector)."""
        return len(self), int(self.vectors.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        found: np.dtype[Any] = self.vectors.dtype
        return found

    @property
    def sizes(self) -> Ints:
        """How many tokens each text has, int64 [n]."""
        import numpy as np

        return np.diff(self.bounds)

    def __getitem__(self, rows: Any) -> TokenVectors:  # noqa: ANN401  (a slice, or numbers of rows)
        import numpy as np

        chosen = np.arange(len(self))[rows]
        sizes = self.sizes[chosen]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        if len(chosen) and (np.diff(chosen) == 1).all():
            stretch = slice(self.bounds[chosen[0]], self.bounds[chosen[-1] + 1])
            return replace(self, vectors=self.vectors[stretch], bounds=bounds)
        lines = np.arange(bounds[-1]) + np.repeat(self.bounds[chosen] - bounds[:-1], sizes)
        return replace(self, vectors=self.vectors[lines], bounds=bounds)

    def zero(self) -> Ints:
        """Return which texts have no token whose vector is not zero, ascending."""
        import numpy as np

        filled = np.cumsum(np.concatenate([[False], self.vectors.any(axis=1)]))
        return np.flatnonzero(filled[self.bounds[1:]] == filled[self.bounds[:-1]])

    def row_bytes(self, row: int) -> bytes:
        """Return bytes that are equal where the token vectors of two texts are equal (−0 counts as 0)."""
        found: bytes = (self.vectors[self.bounds[row] : self.bounds[row + 1]] + 0).tobytes()
        return found

    def bad_rows(self) -> Ints:
        """Return the texts with a token whose vector holds NaN or infinity, ascending."""
        import numpy as np

        bad = np.flatnonzero(~np.isfinite(self.vectors).all(axis=1))
        return np.unique(np.searchsorted(self.bounds, bad, side="right") - 1).astype(np.int64)


def array_of(found: Any) -> np.ndarray:  # noqa: ANN401
    """Return the array that an encoder's answer stands for: an array, a tensor, or (nested) lists of these.

    Tensors are copied from their device; bfloat16, which numpy does not know, becomes float32.
    """
    import numpy as np

    if isinstance(found, list | tuple) and any(hasattr(one, "detach") for one in found):
        return np.array([array_of(one) for one in found])
    if hasattr(found, "detach"):
        found = found.detach().cpu()
        found = found.float() if str(found.dtype).endswith("bfloat16") else found
    return np.asarray(found)


def type_in_words(array: np.ndarray) -> str:
    """Return what an array that holds no numbers holds instead.

    >>> import numpy as np
    >>> type_in_words(np.array(["a"]))
    'values of the dtype <U1'
    """
    if array.dtype.kind == "O":
        return "Python objects (dtype object), such as a vector in each cell or vectors of several lengths"
    return f"values of the dtype {array.dtype}"


def refuse_bytes(array: np.ndarray, who: str) -> None:
    """Raise InputError, which begins with `who`, for bytes without a sign: a cosine of them means nothing."""
    if str(array.dtype) == "uint8":
        raise InputError(
            f"{who} bytes (uint8), as bit-packed vectors are (ubinary), and a cosine of bytes means nothing: "
            "give 2.0 * np.unpackbits(vectors, axis=1) - 1 where each bit is a dimension, else float32"
        )


OtherVectors: TypeAlias = SparseVectors | TokenVectors
AnyVectors: TypeAlias = "np.ndarray | SparseVectors | TokenVectors"


def is_dense(vectors: object) -> bool:
    """Return whether vectors are an array, one row for each text."""
    return not isinstance(vectors, SparseVectors | TokenVectors)


def as_other(vectors: Any, who: str, ids: Sequence[str] = ()) -> OtherVectors | None:  # noqa: ANN401
    """Return what an encoder gave as the form of vectors that it is; None for arrays and all else.

    Sparse matrices of scipy become `SparseVectors`, lists of arrays [tokens, d] `TokenVectors`. Raises
    InputError, which begins with `who` and names one of the `ids`, where they are invalid.
    """
    if isinstance(vectors, SparseVectors | TokenVectors):
        return vectors
    if hasattr(vectors, "tocsr") and hasattr(vectors, "nnz"):
        if len(vectors.shape) != 2 or vectors.dtype.kind not in "fiub":
            raise InputError(
                f"{who} returned a sparse {vectors.dtype} array of shape {vectors.shape}; expected numbers "
                "[n, d]"
            )
        return SparseVectors.of(vectors)
    if not isinstance(vectors, list | tuple) or not vectors or getattr(vectors[0], "ndim", None) != 2:
        return None
    arrays = [array_of(one) for one in vectors]
    refuse_bytes(arrays[0], f"{who}: the token vectors are")
    for row, array in enumerate(arrays):
        if array.ndim != 2 or array.shape[1] != arrays[0].shape[1] or array.dtype.kind not in "fiu":
            named = f" of {ids[row]!r}" if row < len(ids) else ""
            raise InputError(
                f"{who}: the token vectors{named} (row {row + 1}) are {array.dtype} {array.shape}; expected "
                f"numbers of shape (tokens, {arrays[0].shape[1]}), as those of row 1"
            )
    return TokenVectors.of(arrays)


def form_of(vectors: Any) -> str:  # noqa: ANN401  (AnyVectors)
    """Return the form of vectors and how they are compared, as "tokens maxsim"; "" of an array."""
    names = {SparseVectors: "sparse", TokenVectors: "tokens"}
    return f"{names[type(vectors)]} {vectors.compared_by}" if type(vectors) in names else ""


def dense(vectors: Any, who: str, needs: str = "this") -> np.ndarray:  # noqa: ANN401  (AnyVectors)
    """Return vectors that are an array; raise InputError for others: they are never made dense."""
    if is_dense(vectors):
        found: np.ndarray = vectors
        return found
    raise InputError(
        f"{who} gives {vectors.what}, compared by {vectors.compared_by}, and {needs} needs one dense vector "
        "for each text: take a dense encoder; see xlingual help tasks for the tasks that take such vectors"
    )


def joined_vectors(parts: Sequence[Any]) -> Any:  # noqa: ANN401  (AnyVectors, all of one form)
    """Return the vectors of parts that follow each other."""
    import numpy as np

    first = parts[0]
    if is_dense(first):
        return np.concatenate(parts)
    sizes = np.concatenate([part.sizes for part in parts])
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if isinstance(first, SparseVectors):
        data, indices = (
            np.concatenate([getattr(part.matrix, name) for part in parts]) for name in ("data", "indices")
        )
        shape = len(sizes), first.shape[1]
        return replace(first, matrix=type(first.matrix)((data, indices, bounds), shape=shape))
    return replace(first, vectors=np.concatenate([part.vectors for part in parts]), bounds=bounds)


def _check(given: str, *known: str) -> None:
    if given not in known:
        raise ValueError(f"compared_by is {given!r}: expected {' or '.join(known)}")
