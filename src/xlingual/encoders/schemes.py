"""The schemes a spec may use: one row each. A new adapter is one more file and one more row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from xlingual.encoders.spec import Spec
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.records import Encoder, Texts

TEXTS, PICTURES = "texts", "pictures"


@dataclass(frozen=True)
class Option:
    """An option of a scheme: its reader returns the value, or raises ValueError saying what is expected."""

    name: str
    read: Callable[[str], Any]
    default: Any
    summary: str


@dataclass(frozen=True)
class Scheme:
    """A row of the table: what a scheme encodes, its options, and the module whose `build` makes it."""

    name: str
    takes: tuple[str, ...]  # TEXTS, PICTURES or both
    summary: str
    module: str  # imported when the scheme is used, so that unused adapters cost nothing
    argument: str | None = None  # what the argument is called; None where there is none
    options: tuple[Option, ...] = ()
    extra: str | None = None  # the optional packages it needs


@dataclass(frozen=True)
class Context:
    """What the caller knows and an adapter may need."""

    languages: Sequence[str]  # of all texts
    role_languages: Mapping[str, Sequence[str]] | None = None  # role of a text → languages; None: all in each
    fit_texts: Callable[[str], Texts] | None = None  # loads the texts that `fit=` names
    seed: int = 0  # of encoders whose spec has none

    def loader(self, scheme: str, reference: str | None) -> Callable[[], Texts] | None:
        """Return a function that loads the texts of `fit=reference`; None where there is no reference."""
        load = self.fit_texts
        if reference is None:
            return None
        if load is None:
            raise InputError(
                f"{scheme}: nothing here loads fit={reference}; pass `fit_texts`, which loads it"
            )
        return lambda: load(reference)


def whole_number(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers of at least `least`."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
            raise ValueError(f"a whole number of at least {least}")
        return int(text)

    return read


def number_range(text: str) -> tuple[int, int]:
    """Read `3-5`, or `3` for `3-3`."""
    found = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", text)
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high:
        raise ValueError("a range such as 3-5, or one number of at least 1")
    return low, high


def not_empty(text: str) -> str:
    """Read any text but the empty one."""
    if not text:
        raise ValueError("a value")
    return text


_SEED = Option("seed", whole_number(0), None, "start of the random numbers (0 unless the caller says)")
_FIT = "texts it is fitted on: a manifest, and after # one of its splits or rows A:B"

SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            "vectors",
            (TEXTS, PICTURES),
            "vectors from .npy or .safetensors files",
            "xlingual.encoders.vectors",
            argument="PATH",
            options=(Option("key", not_empty, None, "name of the tensor in a .safetensors file"),),
        ),
        Scheme(
            "random",
            (TEXTS,),
            "random vectors that know nothing: must score exactly chance",
            "xlingual.encoders.random",
            options=(Option("dim", whole_number(1), 64, "number of dimensions"), _SEED),
        ),
        Scheme(
            "chargram",
            (TEXTS,),
            "character n-grams, TF-IDF: finds what is spelt alike",
            "xlingual.encoders.chargram",
            options=(
                Option("dim", whole_number(1), 256, "number of dimensions"),
                Option("n", number_range, (3, 5), "lengths of the n-grams"),
                _SEED,
                Option("fit", not_empty, None, f"{_FIT}; without it the texts that are encoded"),
            ),
        ),
        Scheme(
            "lsa",
            (TEXTS,),
            "cross-lingual latent semantic analysis, fitted on translated texts",
            "xlingual.encoders.lsa",
            options=(
                Option("pairs", whole_number(1), None, "number of items it is fitted on (all)"),
                Option("dim", whole_number(1), 150, "most dimensions"),
                _SEED,
                Option("fit", not_empty, None, f"{_FIT}; required"),
            ),
        ),
        Scheme(
            "pixels",
            (PICTURES,),
            "colours and edges of a picture, without any learning",
            "xlingual.encoders.pixels",
        ),
    )
}


def build(spec: Spec, kind: str, context: Context) -> Encoder:
    """Return the encoder that the spec names, for "texts" or "pictures"; raise InputError where it cannot be.

    The scheme's module is imported here. `build(argument, options, context)` of that module gets every option
    of the table, defaults filled in.
    """
    scheme = check(spec, kind)
    options = read_options(spec, scheme, context.seed)
    encoder: Encoder = import_module(scheme.module).build(spec.argument, options, context)
    return encoder


def check(spec: Spec, kind: str) -> Scheme:
    """Return the scheme of the spec; raise InputError where it cannot encode `kind` or is used wrongly."""
    scheme = SCHEMES[spec.scheme]
    if spec.base is not None:
        raise InputError(
            f"spec {str(spec)!r}: {spec.scheme!r} is an encoder and cannot be applied on top of another"
        )
    if kind not in scheme.takes:
        fit = listed(name for name, row in SCHEMES.items() if kind in row.takes)
        raise InputError(f"spec {str(spec)!r}: {scheme.name!r} does not encode {kind}; these do: {fit}")
    if scheme.argument and not spec.argument.strip():
        raise InputError(
            f"spec {str(spec)!r}: {scheme.name}: needs an argument: {scheme.name}:{scheme.argument}"
        )
    if spec.argument and not scheme.argument:
        raise InputError(
            f"spec {str(spec)!r}: {scheme.name}: takes no argument, found {spec.argument!r}; "
            f"options follow a question mark: {scheme.name}:?key=value"
        )
    return scheme


def read_options(spec: Spec, scheme: Scheme, seed: int = 0) -> dict[str, Any]:
    """Return a value for every option of the scheme: the one written in the spec, else its default."""
    known = {option.name: option for option in scheme.options}
    values: dict[str, Any] = {}
    for key, text in spec.options:
        if key not in known:
            has = f"its options: {listed(known)}" if known else "it has no options"
            raise InputError(
                f"spec {str(spec)!r}: {scheme.name} has no option {key!r}.{did_you_mean(key, known)} ({has})"
            )
        if key in values:
            raise InputError(f"spec {str(spec)!r}: option {key!r} is given twice; give it once")
        try:
            values[key] = known[key].read(text)
        except ValueError as error:
            raise InputError(f"spec {str(spec)!r}: {key} must be {error}, found {text!r}") from None
    defaults = {name: seed if name == "seed" else option.default for name, option in known.items()}
    return defaults | values
