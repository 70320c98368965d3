"""The smaller forms of an encoder's vectors: which ones, and the vectors of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from xlingual.arrays import Vectors
from xlingual.encoders.spec import written
from xlingual.errors import InputError, did_you_mean, parameter
from xlingual.evaluation.compression.asked import Fitting, Sides, Smaller
from xlingual.results.compression import PCA, TRUNCATED, WHOLE
from xlingual.transforms import methods
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.transforms.compression import (
    BINARY,
    DTYPES,
    F16,
    F32,
    INT8,
    Levels,
    bytes_of,
    halved,
    signs,
    truncated,
)
from xlingual.transforms.moments import FitData

REDUCTIONS = (TRUNCATED, PCA)
_HALVINGS = 4  # of the dimensions, unless they are named
_LEAST = 8  # dimensions, unless they are named
_FIT = f"name texts that are not evaluated ({parameter('fit', 'FILE#SPLIT')})"


@dataclass(frozen=True)
class Form:
    """A smaller form: how many dimensions are kept and how, the kind of their numbers, and rescoring."""

    reduction: str
    dim: int
    dtype: str
    rescored: int = 0

    @property
    def name(self) -> str:
        """Its name, such as "int8 128", "binary 64 pca" or "binary 64 rescored"."""
        words = [self.dtype, str(self.dim)]
        words += [PCA] if self.reduction == PCA else []
        words += ["rescored"] if self.rescored else []
        return " ".join(words)

    @property
    def bytes(self) -> int:
        """The bytes of a vector."""
        return bytes_of(self.dim, self.dtype)

    def spec(self, below: str, fit: str | None) -> str | None:
        """Return how other commands name it on top of an encoder; None where candidates are rescored."""
        if self.rescored:
            return None
        fitted = "" if fit is None else f"?fit={written(fit)}"
        reduced = {TRUNCATED: [f"truncate:{self.dim}"], PCA: [f"pca:{self.dim}{fitted}"]}
        parts = reduced.get(self.reduction, [])
        if self.dtype != F32:
            parts = [f"quantize:{self.dtype}{fitted if self.dtype == INT8 else ''}", *parts]
        return "::".join([*parts, below])


@dataclass(frozen=True)
class Wanted:
    """The forms that are asked for; what is empty is chosen by what there is."""

    dims: tuple[int, ...] = ()
    dtypes: tuple[str, ...] = ()
    reductions: tuple[str, ...] = ()
    rescore: int = 100
    fitted: bool = False

    def __post_init__(self) -> None:
        """Raise InputError for what is not known, or needs texts to fit on."""
        for name, given, known in (("dtypes", self.dtypes, DTYPES), ("reduce", self.reductions, REDUCTIONS)):
            for word in given:
                if word not in known:
                    near = did_you_mean(word, known)
                    raise InputError(f"{parameter(name, word)}: expected some of {', '.join(known)}.{near}")
        for name, given, word in (("dtypes", self.dtypes, INT8), ("reduce", self.reductions, PCA)):
            if word in given and not self.fitted:
                raise InputError(f"{parameter(name, word)} is fitted on texts: {_FIT}")
        if any(dim < 1 for dim in self.dims):
            raise InputError(
                f"{parameter('dims')}: a number of dimensions is at least 1, found {min(self.dims)}"
            )

    def forms(self, dim: int, rank: int) -> list[Form]:
        """Return the forms of vectors of `dim` dimensions, those with the most bytes first.

        `rank`: of how many dimensions PCA can be, unless they are named.
        """
        if (most := max(self.dims, default=0)) > dim:
            raise InputError(
                f"{parameter('dims', str(most))}: the encoder's vectors have {dim} dimensions: name fewer"
            )
        dims = self.dims or [n for n in (dim >> i for i in range(_HALVINGS + 1)) if n >= min(_LEAST, dim)]
        dtypes = self.dtypes or [one for one in DTYPES if self.fitted or one != INT8]
        reductions = self.reductions or [one for one in REDUCTIONS if self.fitted or one != PCA]
        found = dict[Form, None]()
        for size in dims:
            for reduction in [WHOLE] if size == dim else reductions:
                if reduction == PCA and size > rank and not self.dims:
                    continue
                for dtype in dtypes:
                    found[Form(reduction, size, dtype)] = None
                    if dtype == BINARY and self.rescore:
                        found[Form(reduction, size, dtype, self.rescore)] = None
        found.pop(Form(WHOLE, dim, F32), None)  # that is the full vector
        if not found:
            raise InputError(
                f"nothing to compare: {dim} dimensions in {F32} are the full vectors: name others"
            )
        return sorted(found, key=lambda form: -form.bytes)

    def left_out(self) -> str | None:
        """Return what is not tried for want of texts to fit on, as a sentence; None for nothing."""
        chosen = ((self.dtypes, INT8), (self.reductions, PCA))
        missing = [] if self.fitted else [word for given, word in chosen if not given]
        return f"Not tried: {' and '.join(missing)}, fitted on texts: {_FIT}." if missing else None


def order_of_tests(forms: Sequence[Form]) -> dict[str, str | None]:
    """Return which form is tested before which, by their names; None for what comes first.

    An order that no data choose, as in all lines what is kept of a vector gets less: first all dimensions in
    f16 and int8; after these three lines: fewer first dimensions, fewer by PCA (at each number f32, f16,
    int8), and binary, of all dimensions, then of fewer.
    """
    lines: dict[tuple[bool, str], list[Form]] = {}
    for form in sorted(forms, key=lambda one: (-one.dim, DTYPES.index(one.dtype), not one.rescored)):
        lines.setdefault((form.dtype == BINARY, form.reduction), []).append(form)
    after: dict[str, str | None] = {}
    for (binary, reduction), own in lines.items():
        begin = [(False, WHOLE)] if binary or reduction != WHOLE else []
        begin = [(True, WHOLE), *begin] if binary and reduction != WHOLE else begin
        before = next((lines[line][-1].name for line in begin if line in lines), None)
        for form in own:
            after[form.name], before = before, form.name
    return after


@dataclass(frozen=True)
class _Reduced:
    """Vectors of fewer dimensions, and those of the texts to fit on likewise."""

    vectors: Sides
    fit: Vectors | None
    languages: Sequence[str]

    def as_dtype(self, dtype: str) -> Sides:
        """Return the vectors as numbers of a kind."""
        if dtype == F32:
            return self.vectors
        return self.vectors.mapped(lambda vectors: self._rounded(dtype)(unit_rows(vectors)))

    def _rounded(self, dtype: str) -> Smaller:
        if dtype == INT8:
            assert self.fit is not None
            return Levels.of(FitData(self.fit, self.languages)).apply
        return {F16: halved, BINARY: signs}[dtype]


def vectors_of(
    forms: Sequence[Form], full: Sides, fitting: Fitting | None
) -> Iterator[tuple[Form, Sides, Sides]]:
    """Yield each form, its vectors, and those of as many dimensions in full precision; in groups.

    Raises InputError where PCA is asked for more directions than its texts vary in.
    """
    whole = full.mapped(unit_rows)
    fit = None if fitting is None else fitting.data.vectors
    languages = () if fitting is None else fitting.languages
    rotated: tuple[Sides, Vectors] | None = None
    for (reduction, dim), group in groupby(
        sorted(forms, key=lambda form: (form.reduction, form.dim)), lambda form: (form.reduction, form.dim)
    ):
        cut = partial(truncated, dim=dim)
        if reduction == PCA:
            assert fitting is not None
            if rotated is None:
                most = max(form.dim for form in forms if form.reduction == PCA)
                rotated = _rotated(whole, fitting.data, most)
            reduced = _Reduced(rotated[0].mapped(cut), cut(rotated[1]), languages)
        else:
            reduced = _Reduced(whole.mapped(cut), None if fit is None else cut(fit), languages)
        for form in group:
            yield form, reduced.as_dtype(form.dtype), reduced.vectors


def _rotated(whole: Sides, fit: FitData, dim: int) -> tuple[Sides, Vectors]:
    """Return all vectors in the coordinates of PCA; the first of them are those of any smaller PCA."""
    found: Affine = methods.pca(fit, dim)
    language = fit.languages[0]  # one map for all languages

    def apply(vectors: Vectors) -> Vectors:
        return found.apply(vectors, [language] * len(vectors))

    return whole.mapped(apply), apply(fit.vectors)
