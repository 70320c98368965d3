"""`truncate:D::SPEC` and `quantize:DTYPE::SPEC`: smaller vectors of the encoder below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder, Stacked
from xlingual.encoders.options import FIT, Option, not_empty
from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.encoders.transform import Fit, TransformedTexts
from xlingual.errors import InputError
from xlingual.records import Texts
from xlingual.transforms.affine import unit_rows
from xlingual.transforms.compression import BINARY, F16, INT8, Levels, halved, signs, truncated

SCHEMES: tuple[Scheme, ...] = (
    Scheme(
        "truncate", (TEXTS,), "the first D dimensions of the vectors", __name__, argument="D", over="must"
    ),
    Scheme(
        "quantize",
        (TEXTS,),
        "vectors of fewer bits a number: f16, int8 or binary (their signs)",
        __name__,
        argument="f16, int8 or binary",
        options=(Option("fit", not_empty, None, f"{FIT}; for int8 alone, required"),),
        over="must",
    ),
)

KINDS = (F16, INT8, BINARY)


class SmallerTexts(Stacked):
    """Vectors of unit length made smaller, each by itself."""

    def __init__(self, base: Encoder, name: str, smaller: Callable[[Vectors], Vectors]) -> None:
        super().__init__(base)
        self.name, self._smaller = name, smaller

    @property
    def identity(self) -> str:
        """What is done, and the identity of the encoder below."""
        return f"{self.name}::{self.base.identity}"

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, e] for the base's vectors float32 [n, d]."""
        try:
            return self._smaller(unit_rows(vectors[0]))
        except InputError as error:
            raise InputError(f"{self.name.partition('?')[0]}: {error}") from None


class QuantizedTexts(TransformedTexts):
    """Vectors of unit length as bytes: levels between the ends of other texts' vectors, by dimension."""

    def __init__(self, base: Encoder, texts: Callable[[], Texts], languages: Sequence[str]) -> None:
        fit = cast("Fit", Levels.of)  # what it fits is applied as a linear map is
        super().__init__(base, f"quantize:{INT8}?v=1", fit, texts, languages, by_language=False)
        self.unit_below = True  # levels are those of unit vectors, below a transform too


def build(argument: str, options: Mapping[str, Any], context: Context) -> SmallerTexts | QuantizedTexts:
    """Return the encoder for a spec; raise InputError where an option is missing or makes no sense."""
    name, base = context.scheme, context.base
    assert base is not None
    if isinstance(base, OwnSimilarity):
        raise InputError(f"{name}: the encoder below compares images and gives no vectors")
    if name == "truncate":
        if not (argument.isascii() and argument.isdecimal() and 1 <= int(argument) < 1_000_000):
            raise InputError(
                f"truncate: expected a whole number of at least 1, as in truncate:128, found {argument!r}"
            )
        return SmallerTexts(base, f"truncate:{int(argument)}?v=1", partial(truncated, dim=int(argument)))
    if argument not in KINDS:
        raise InputError(f"quantize: expected one of {', '.join(KINDS)}, found {argument!r}")
    texts = context.loader(name, options["fit"])
    if argument != INT8:
        if texts is not None:
            raise InputError(f"quantize:{argument} is not fitted: leave out fit=")
        return SmallerTexts(base, f"quantize:{argument}?v=1", halved if argument == F16 else signs)
    if texts is None:
        raise InputError(
            "quantize:int8: fit= is missing: the range of each dimension is that of texts that are not "
            "evaluated, such as quantize:int8?fit=FILE#train"
        )
    return QuantizedTexts(base, texts, context.languages)
