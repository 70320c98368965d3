"""Vectors of the encoder below, mapped: `centre:?fit=…::SPEC` and its like; `truncate:`, `quantize:`.

A map is fitted on other texts, for each language its own or for all, or comes from a model's folder.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeAlias, cast

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder, Stacked
from xlingual.encoders.scheme import FIT, TEXTS, Context, Option, Scheme, not_empty, one_of, share
from xlingual.errors import InputError, listed
from xlingual.forms import COSINE, dense
from xlingual.models.folder import BANK, FITTED_ON, ModelFolder
from xlingual.records import HubCorrection, Texts, digest
from xlingual.transforms import methods, paired
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.transforms.compression import BINARY, F16, INT8, Levels, halved, signs, truncated
from xlingual.transforms.moments import FitData

Fit: TypeAlias = "Callable[..., Affine]"
_FIT = Option("fit", not_empty, None, f"{FIT}; required")
_BY = Option(
    "by", one_of("language", "all"), "language", "language: each by its own texts; all: by all texts"
)
_TO = Option("to", not_empty, None, "language that others are mapped to; unless given, with the most pairs")
_SHRINK = Option("shrink", share, None, "part of the covariance that is shrunk, 0 to 1; from the data (OAS)")
_QUANTIZE = Option("fit", not_empty, None, f"{FIT}; for int8 alone, required")
_K, _AUTO, _BITS = "K", "K or auto", f"{F16}, {INT8} or {BINARY}"
_TABLE: tuple[tuple[str, str, Fit | None, str | None, tuple[Option, ...]], ...] = (
    ("centre", "less the mean of their language", methods.centre, None, (_BY,)),
    ("standardize", "less their mean, each dimension by its deviation", methods.standardize, None, (_BY,)),
    ("whiten", "less their mean, varying alike in all directions", methods.whiten, None, (_BY, _SHRINK)),
    ("all-but-the-top", "less the K directions in which all vary most", methods.all_but_the_top, _AUTO, ()),
    ("lir", "less the first K principal directions of their language", methods.lir, _K, ()),
    ("lsar", "less the K directions in which the means of languages differ", methods.lsar, _AUTO, ()),
    ("pca", "as their K principal components", methods.pca, _K, ()),
    ("delta", "moved by the mean difference of translations to one language", paired.deltas, None, (_TO,)),
    ("procrustes", "rotated to those of their translations", paired.procrustes, None, (_TO,)),
    ("ridge", "mapped to those of their translations, linearly", paired.ridge, None, (_TO,)),
    ("cca", "as K directions in which translations vary together", paired.cca, _AUTO, ()),
    ("truncate", "cut to their first K dimensions", None, _K, ()),
    ("quantize", "of fewer bits a number: f16, int8 or binary (their signs)", None, _BITS, (_QUANTIZE,)),
)
SCHEMES = tuple(
    Scheme(
        name,
        (TEXTS,),
        f"vectors {what}",
        __name__,
        argument,
        (*options, *([_FIT] if fit else [])),
        over="must",
    )
    for name, what, fit, argument, options in _TABLE
)
_METHODS = {name: fit for name, _, fit, _, _ in _TABLE if fit}
_BY_LANGUAGE = ("lir", "procrustes", "ridge", "cca", "delta")


class MappedBase(Stacked):
    """Vectors of the encoder below, of unit length, through a linear map by language; `who` begins errors."""

    origin = "fitted"
    who: str
    unit_below = True  # whether vectors of the encoder below are brought to unit length first

    @property
    @abstractmethod
    def map(self) -> Affine:
        """The map of each language."""

    def apply(self, *vectors: Vectors) -> Vectors:
        """Raise TypeError: it needs the languages."""
        raise TypeError(f"{self.who} needs the language of each vector: call apply_in")

    def apply_in(self, languages: Sequence[str], *vectors: Vectors) -> Vectors:
        """Give float32 [n, e] for the base's vectors float32 [n, d] and the language of each."""
        below = unit_rows(vectors[0]) if self.unit_below else vectors[0]
        try:
            return self.map.apply(below, languages)
        except InputError as error:
            raise InputError(f"{self.who}: {error}") from None


class MappedTexts(MappedBase):
    """An encoder with a map that is there already."""

    map: Affine = None  # type: ignore[assignment]  # set below
    who = "map"

    def __init__(self, base: Encoder, map: Affine, hub_correction: HubCorrection | None = None) -> None:
        super().__init__(base)
        self.map, self.hub_correction = map, hub_correction

    @property
    def identity(self) -> str:
        """A digest of the map, and the identity of the encoder below."""
        parts = [each.tobytes() for each in self.map.arrays().values()]
        if self.hub_correction is not None:
            parts.append(self.hub_correction.bank.tobytes())
        return f"map:{digest(*parts, *(tag or '' for tag in self.map.places)).hex()}::{self.base.identity}"


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
        # levels are those of unit vectors, below a transform too
        self.unit_below = name.startswith("quantize:") or not isinstance(base, TransformedTexts)
        self._asked = frozenset(languages)

    @cached_property
    def chosen(self) -> Texts:
        """The texts it is fitted on: those in the languages that are asked for."""
        texts = self._texts()
        rows = [row for row, language in enumerate(texts.language) if language in self._asked]
        if not rows:
            raise InputError(
                f"{self.who}: the texts that it is fitted on are in {listed(sorted(set(texts.language)))}, "
                f"and those to be encoded in {listed(sorted(self._asked), 20)}: name others with fit="
            )
        chosen = texts.take(np.array(rows, dtype=np.int64))
        in_a_role = self.base.by_role and chosen.role is None
        return replace(chosen, role="candidate") if in_a_role else chosen

    @cached_property
    def map(self) -> Affine:
        """The fitted map."""
        self.fit_from(self.base.encode(self.chosen))
        return self.map

    def fit_from(self, vectors: Any) -> None:  # noqa: ANN401  (as the encoder below gives them)
        """Fit it, given the vectors of the texts `chosen` from the encoder below."""
        texts, below = self.chosen, dense(vectors, "the encoder below", self.who)
        try:
            self.map = self.fit(FitData(below, texts.language, texts.items, self.unit_below))
        except InputError as error:
            raise InputError(f"{self.who}: {error}") from None

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it is fitted on, and of those that the encoder below is."""
        return self.chosen.row_digests() | self.base.fitted_on

    @cached_property
    def identity(self) -> str:
        """The method, a digest of the rows it is fitted on, and the identity of the encoder below."""
        rows = digest(*sorted(self.chosen.row_digests())).hex()
        return f"{self.who}{'&' if '?' in self.who else '?'}fit={rows}::{self.base.identity}"

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where texts of a language are to be mapped that it is not fitted on."""
        asked = set(tags)
        self.base.check_languages(asked)
        if self.by_language and (unknown := sorted(asked - set(self.chosen.language))):
            raise InputError(
                f"{self.who}: its texts have none in {listed(unknown)}, and it is fitted for each language "
                "by itself: name texts in all languages with fit="
            )

    def fit_model(self) -> None:
        """Fit the encoder below and then it, where they are not fitted yet."""
        self.base.fit_model()
        _ = self.map


class FittedTransform(MappedBase):
    """Vectors of the encoder below at unit length, through the map of a model's folder, as `align` chose it.

    It is ranked with the correction of hubs that it was chosen with, if any.
    """

    def __init__(self, folder: ModelFolder, base: Encoder) -> None:
        super().__init__(base)
        self.folder, self.who = folder, f"model:{folder.path}"

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"model:{self.folder.kind}:{self.folder.digest[:16]}::{self.base.identity}"

    @cached_property
    def fitted_images(self) -> str | None:  # type: ignore[override]  # read when first asked for
        """The image encoder whose near images it was fitted on; else that of the encoder below."""
        images = (self.folder.config.get("data") or {}).get("images")
        return self.base.fitted_images if images is None else str(images)

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        return self.folder.arrays()

    @cached_property
    def map(self) -> Affine:
        """The map; InputError where its folder does not describe one."""
        return map_of(self.folder, self._arrays)

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it was fitted or chosen on, and of those that the encoder below was."""
        return frozenset(row.tobytes() for row in self._arrays.get(FITTED_ON, ())) | self.base.fitted_on

    @cached_property
    def hub_correction(self) -> HubCorrection | None:  # type: ignore[override]  # read when first asked for
        """The correction of hubs that it was chosen with; InputError where training questions are missing."""
        similarity = str(self.folder.config["model"].get("similarity", COSINE))
        if similarity == COSINE:
            return None
        if BANK not in self._arrays:
            raise InputError(f"{self.who}: its training questions are missing: copy the model anew")
        return HubCorrection(similarity, self._arrays[BANK])

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where it has no map for texts of a language."""
        asked = set(tags)
        self.base.check_languages(asked)
        if self.map.languages is not None and (unknown := sorted(asked - set(self.map.languages))):
            raise InputError(
                f"{self.who} was fitted on texts in {listed(self.map.languages, 20)}, and not in "
                f"{listed(unknown)}: fit it again, on texts in that language too"
            )


def map_of(folder: ModelFolder, arrays: Mapping[str, np.ndarray] | None = None) -> Affine:
    """Read the map of a folder, of its arrays; raise InputError where it does not describe one."""
    try:
        languages = folder.config["model"]["languages"]
        return Affine.of_arrays(folder.arrays() if arrays is None else arrays, languages)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"model:{folder.path}: its config.json does not describe such a model ({error}): copy it anew"
        ) from None


class SmallerTexts(Stacked):
    """Vectors of unit length made smaller, each by itself."""

    def __init__(self, base: Encoder, name: str, smaller: Callable[[Vectors], Vectors]) -> None:
        super().__init__(base)
        self.name, self._smaller = name, smaller

    @property
    def identity(self) -> str:
        """The name of the change, and the identity of the encoder below."""
        return f"{self.name}::{self.base.identity}"

    def apply(self, *vectors: Vectors) -> Vectors:
        """Give float32 [n, e] for the base's vectors float32 [n, d]."""
        try:
            return self._smaller(unit_rows(vectors[0]))
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None


def build(argument: str, options: Mapping[str, Any], context: Context) -> SmallerTexts | TransformedTexts:
    """Make the encoder for a spec; raise InputError where an option is missing or makes no sense."""
    name, base, more = context.scheme, cast("Encoder", context.base), dict(options)
    texts = context.loader(name, more.pop("fit", None))
    form = next(scheme.argument or "" for scheme in SCHEMES if scheme.name == name)
    is_number = argument.isascii() and argument.isdecimal() and 1 <= int(argument) < 1_000_000
    if form and argument not in re.split(", | or ", form) and not (is_number and form.startswith(_K)):
        raise InputError(f"{name}: expected {form}, K a whole number of at least 1, found {argument!r}")
    called = f"{name}:{argument}"
    if argument == _K:
        raise InputError(f"{called}: write a whole number of at least 1 for K")
    if name == "truncate":
        return SmallerTexts(base, called, partial(truncated, dim=int(argument)))
    if argument in (F16, BINARY):
        if texts is not None:
            raise InputError(f"{called} is not fitted: leave out fit=")
        return SmallerTexts(base, called, halved if argument == F16 else signs)
    if texts is None:
        raise InputError(
            f"{called}: fit= is missing: it is fitted on texts that are not evaluated, such as "
            f"{called}?fit=FILE#train"
        )
    if name == "quantize":
        fit = cast("Fit", Levels.of)  # levels are applied as a linear map is
    else:
        method = _METHODS[name]
        fit = (lambda data: method(data, int(argument))) if is_number else partial(method, **more)
    by_language = name in _BY_LANGUAGE or more.get("by") == methods.LANGUAGE
    stated = "&".join(f"{key}={value}" for key, value in sorted(more.items()) if value is not None)
    called += f"?{stated}" if stated else ""
    return TransformedTexts(base, called, fit, texts, context.languages, by_language=by_language)
