"""`centre:?fit=…::SPEC` and its like: vectors of the encoder below, mapped as was fitted on other texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.mapped import MappedBase
from xlingual.encoders.options import FIT, Option, not_empty, one_of, share
from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.errors import InputError, listed
from xlingual.forms import dense
from xlingual.records import Texts, digest
from xlingual.transforms import methods, paired
from xlingual.transforms.affine import Affine
from xlingual.transforms.moments import FitData

_FIT = Option("fit", not_empty, None, f"{FIT}; required")
_BY = Option(
    "by", one_of("language", "all"), "language", "language: each by its own texts; all: by all texts"
)
_TO = Option("to", not_empty, None, "language that others are mapped to; unless given, with the most pairs")


def _transform(name: str, summary: str, *options: Option, argument: str | None = None) -> Scheme:
    """Return the row of a map of vectors that is fitted on texts."""
    return Scheme(
        name,
        (TEXTS,),
        summary,
        __name__,
        argument=argument,
        options=(*options, _FIT),
        over="must",
    )


SCHEMES: tuple[Scheme, ...] = (
    _transform("centre", "vectors less the mean of their language", _BY),
    _transform("standardize", "vectors less their mean, each dimension divided by its deviation", _BY),
    _transform(
        "whiten",
        "vectors less their mean, made to vary alike in all directions",
        _BY,
        Option("shrink", share, None, "part of the covariance that is shrunk, 0 to 1; from the data (OAS)"),
    ),
    _transform(
        "all-but-the-top",
        "vectors less their mean and the K directions in which all vary most",
        argument="K or auto",
    ),
    _transform("lir", "vectors less the first K principal directions of their language", argument="K"),
    _transform(
        "lsar", "vectors less the R directions in which the means of languages differ", argument="R or auto"
    ),
    _transform("pca", "the D principal components of the vectors", argument="D"),
    _transform(
        "delta",
        "vectors of a language moved by the mean difference of translations to another",
        Option("from", not_empty, None, "language that is moved; all others unless given"),
        _TO,
    ),
    _transform("procrustes", "vectors rotated to those of their translations", _TO),
    _transform("ridge", "vectors mapped to those of their translations, linearly", _TO),
    _transform("cca", "the K directions in which translations vary together", argument="K or auto"),
)

Fit: TypeAlias = "Callable[[FitData], Affine]"


class TransformedTexts(MappedBase):
    """Vectors of unit length through a linear map, for each language its own, that is fitted on other texts.

    It is fitted when it is first needed, on the texts in the languages that are asked for. On top of another
    transform it takes that one's vectors as they are: two in a row are one linear map.
    """

    def __init__(
        self,
        base: Encoder,
        name: str,
        fit: Fit,
        texts: Callable[[], Texts],
        languages: Sequence[str],
        *,
        by_language: bool,
    ) -> None:
        super().__init__(base)
        self.who, self.fit, self._texts, self.by_language = name, fit, texts, by_language
        self.shown = name.replace("?v=1&", "?").removesuffix("?v=1")  # in errors
        self.unit_below = not isinstance(base, TransformedTexts)
        self._wanted = frozenset(languages)

    @cached_property
    def chosen(self) -> Texts:
        """The texts it is fitted on: those in the languages that are asked for."""
        found = self._texts()
        rows = [row for row, language in enumerate(found.language) if language in self._wanted]
        if not rows:
            raise InputError(
                f"{self.shown}: the texts that it is fitted on are in {listed(sorted(set(found.language)))}, "
                f"and those to be encoded in {listed(sorted(self._wanted), 20)}: name others with fit="
            )
        chosen = found.take(np.array(rows, dtype=np.int64))
        in_a_role = self.base.by_role and chosen.role is None
        return replace(chosen, role="candidate") if in_a_role else chosen

    @cached_property
    def map(self) -> Affine:
        """The fitted map."""
        return self._fitted(self.base.encode(self.chosen))

    def fit_from(self, vectors: Any) -> None:  # noqa: ANN401  (as the encoder below gives them)
        """Fit it, given the vectors of the texts `chosen` from the encoder below."""
        self.map = self._fitted(vectors)

    def _fitted(self, vectors: Any) -> Affine:  # noqa: ANN401
        texts, given = self.chosen, dense(vectors, "the encoder below", self.shown)
        try:
            return self.fit(FitData(given, texts.language, texts.items, self.unit_below))
        except InputError as error:
            raise InputError(f"{self.shown}: {error}") from None

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it is fitted on, and of those that the encoder below is."""
        return self.chosen.row_digests() | self.base.fitted_on

    @cached_property
    def identity(self) -> str:
        """The method, a digest of the rows it is fitted on, and the identity of the encoder below."""
        rows = digest(*sorted(self.chosen.row_digests())).hex()
        return f"{self.who}&fit={rows}::{self.base.identity}"

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where texts of a language are to be mapped that it is not fitted on."""
        asked = set(tags)
        self.base.check_languages(asked)
        if self.by_language and (unknown := sorted(asked - set(self.chosen.language))):
            raise InputError(
                f"{self.shown}: its texts have none in {listed(unknown)}, and it is fitted for each language "
                "by itself: name texts in all languages with fit="
            )

    def fit_model(self) -> None:
        """Fit the encoder below and then it, where they are not fitted yet."""
        self.base.fit_model()
        _ = self.map


def build(argument: str, options: Mapping[str, Any], context: Context) -> TransformedTexts:
    """Return the encoder for a spec; raise InputError where an option is missing or makes no sense."""
    name, base, own = context.scheme, context.base, dict(options)
    assert base is not None
    if isinstance(base, OwnSimilarity):
        raise InputError(f"{name}: the encoder below compares images and gives no vectors")
    texts = context.loader(name, own.pop("fit"))
    if texts is None:
        raise InputError(
            f"{name}: fit= is missing: it is fitted on texts that are not evaluated, such as "
            f"{name}:{argument}?fit=FILE#train"
        )
    written = "&".join(f"{key}={value}" for key, value in sorted(own.items()) if value is not None)
    called = f"{name}:{argument}?v=1{'&' if written else ''}{written}"
    by_language = own.get("by", _BY_LANGUAGE.get(name)) == methods.LANGUAGE
    if name == "delta":
        by_language = own["from"] is None
    fit = _fit(name, argument, own)
    return TransformedTexts(base, called, fit, texts, context.languages, by_language=by_language)


_BY_LANGUAGE = dict.fromkeys(("lir", "procrustes", "ridge", "cca"), methods.LANGUAGE)


_NUMBERED: Mapping[
    str, tuple[Callable[..., Affine], str, bool]
] = {  # function, its parameter, whether it has a default
    "all-but-the-top": (methods.all_but_the_top, "k", True),
    "lir": (methods.lir, "k", False),
    "lsar": (methods.lsar, "r", True),
    "pca": (methods.pca, "d", False),
    "cca": (paired.cca, "k", True),
}
_OTHERS: Mapping[str, Callable[..., Affine]] = {
    "centre": methods.centre,
    "standardize": methods.standardize,
    "whiten": methods.whiten,
    "procrustes": paired.procrustes,
    "ridge": paired.ridge,
}


def _fit(name: str, argument: str, options: dict[str, Any]) -> Fit:
    """Return the function that fits the method; raise InputError where a number is needed and not there."""
    if name == "delta":
        start, to = options["from"], options["to"]
        if start is None:
            return partial(paired.deltas, to=to)
        if to is None or start == to:
            raise InputError(
                "delta: write two languages, as in delta:?from=de&to=en&fit=FILE#train, or leave from= out: "
                "then all move to one"
            )
        return partial(paired.delta, start=start, to=to)
    if name in _OTHERS:
        return partial(_OTHERS[name], **options)
    function, parameter, has_default = _NUMBERED[name]
    if argument == "auto" and has_default:
        return function
    if not (argument.isascii() and argument.isdecimal() and 1 <= int(argument) < 1_000_000):
        known = "a whole number of at least 1" + (", or auto" if has_default else "")
        raise InputError(f"{name}: expected {known}, as in {name}:3, found {argument!r}")
    return partial(function, **{parameter: int(argument)})
