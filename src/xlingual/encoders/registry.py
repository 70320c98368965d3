"""From specs, or objects that have `encode`, to named encoders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import PurePath
from typing import Any, TypeAlias

from xlingual.encoders.base import Encoder, SupportsEncode
from xlingual.encoders.objects import adopt, is_vectors, name_of
from xlingual.encoders.scheme import IMAGES, KIND, LISTS, TEXTS, TRAINED_ON, Context
from xlingual.encoders.spec import SCHEMES, Spec, parse, read_options, scheme_for
from xlingual.encoders.vectors import expand
from xlingual.errors import InputError
from xlingual.files import bare_name
from xlingual.hidden import shown
from xlingual.records import Texts
from xlingual.results.provenance import note_encoder

# a spec, a path to a file of vectors, or any object that has `encode`
EncoderLike: TypeAlias = "str | os.PathLike[str] | SupportsEncode"


def text_encoders(
    specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike,
    *,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    fit_texts: Callable[[str], Texts] | None = None,
    seed: int = 0,
) -> dict[str, Encoder]:
    """Make named encoders of texts, in the order of `specs`.

    Each entry is a spec string, a path, or an object that has `encode`; a mapping names them.
    `role_languages` says which languages the texts of a role ("query", "candidate") are in, so that
    `vectors:` with `{role}` needs no other files; without it, each role has all of them. `fit_texts` loads
    the texts that an option `fit=MANIFEST#SPLIT` names; it is called once per reference, and only when a
    fitted encoder is used. `seed` is the seed of encoders whose spec has none.

    Raises InputError for malformed specs, for two encoders of one name, and where there is none.
    """
    load = None if fit_texts is None else cache(fit_texts)
    return _built(specs, TEXTS, Context(tuple(languages), role_languages, load, seed))


def text_specs(
    specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike, *, languages: Sequence[str]
) -> dict[str, EncoderLike]:
    """Name specs (without a name, a spec for each match of a `*`) and objects, building no encoder.

    Raises InputError as `text_encoders` does, as far as specs alone show.
    """
    named = entries(specs, languages)
    return {name: str(entry) if isinstance(entry, Spec) else entry for name, entry in named.items()}


def image_encoder(spec: EncoderLike, *, languages: Sequence[str] = ()) -> tuple[str, Encoder]:
    """Make the encoder of images that a spec, a path or an object stands for, and name it."""
    models = _built(spec, IMAGES, Context(tuple(languages)))
    if len(models) > 1:
        raise InputError(
            f"image encoder {shown(str(spec))!r} matches {len(models)} files; give the path of one"
        )
    return next(iter(models.items()))


def _built(specs: Any, kind: str, context: Context) -> dict[str, Encoder]:  # noqa: ANN401
    encoders: dict[str, Encoder] = {}
    for name, entry in entries(specs, context.languages, kind, context.role_languages).items():
        if returns_lists(entry):
            raise InputError(
                f"{name!r} returns lists of candidates; this command needs vectors: leave it out"
            )
        if isinstance(entry, Spec):
            encoder = build(entry, kind, context)
        else:
            try:
                encoder = adopt(entry, kind)
            except InputError as error:
                raise InputError(f"{kind.removesuffix('s')} encoder {name!r}: {error}") from error
        if not encoder.has_own_identity:
            encoder.label = name
        encoders[name] = encoder
        note_encoder(kind, name, partial(getattr, encoder, "identity"))
    return encoders


def entries(
    specs: Any,  # noqa: ANN401  (what `text_encoders` takes; lists of such too)
    languages: Sequence[str],
    kind: str = TEXTS,
    role_languages: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Name specs and objects, also of systems that return lists; a pattern becomes several specs."""
    named: dict[str, Any] = {}
    for given_name, item in _pairs(specs, languages):
        for name, entry in _resolved(given_name, item, kind, languages, role_languages):
            if name in named:
                raise InputError(
                    f"two encoders or runs are named {name!r}: give one of them another name, as in "
                    f"{name}-2=SPEC, or in a mapping from name to object"
                )
            named[name] = entry
    if not named:
        raise InputError("no encoder is given: name at least one, for example random:?dim=64")
    return named


def returns_lists(entry: object) -> bool:
    """Tell whether a spec or an object stands for a system that returns lists, and has no vectors."""
    if isinstance(entry, Spec):
        return entry.scheme in SCHEMES and LISTS in SCHEMES[entry.scheme].takes
    return bool(getattr(entry, "returns_lists", False))


def _pairs(specs: Any, languages: Sequence[str]) -> Iterator[tuple[str | None, Any]]:  # noqa: ANN401
    """Yield (name, spec or object) of an argument; the name is None where there is none."""
    if isinstance(specs, Mapping) and not (is_vectors(specs) and set(specs) <= set(languages)):
        yield from ((str(name), entry) for name, entry in specs.items())
    elif isinstance(specs, list | tuple | Iterator):
        for entry in specs:
            yield from _pairs(entry, languages)
    else:
        yield None, specs


def _resolved(
    name: str | None,
    entry: Any,  # noqa: ANN401
    kind: str,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None,
) -> Iterator[tuple[str, Any]]:
    """Yield the (name, spec or object) that an entry stands for; several only where a spec has a `*`."""
    if not isinstance(entry, str | os.PathLike):
        usual = str(getattr(entry, "name", "run")) if returns_lists(entry) else name_of(entry)
        yield name or usual, entry
        return
    spec = parse(entry) if isinstance(entry, str) else Spec(None, "vectors", os.fspath(entry))
    name, plain = name if name is not None else spec.name, replace(spec, name=None)
    if spec.scheme != "vectors" or "*" not in spec.argument:
        yield name or _default_name(spec), plain
        return
    read_options(spec, scheme_for(spec, kind))
    for star, path in expand(spec.argument, languages, role_languages).items():
        yield (f"{name}-" if name else "") + star, replace(plain, argument=path)


def _default_name(spec: Spec) -> str:
    """Name a spec that has no name, whatever other encoders there are.

    It is the last part of a model's name or folder, or of a function; of files their name without
    placeholders and suffix; else the scheme.
    """
    path, names = PurePath(spec.argument), list[str]()
    if spec.scheme in ("model", "st", "hf", "onnx", "api", "python"):
        last = re.split(r"[/\\:]", spec.argument.rstrip("/\\"))[-1]
        names = [re.sub(r"[^\w.-]+", "-", last).strip("-.")]
    elif spec.scheme == "run":
        names = [bare_name(spec.argument)]
    elif spec.scheme == "vectors" and path.name:
        parts = path.with_suffix("").parts[::-1]
        names = [re.sub(r"[._-]*\{(lang|role)\}", "", part).strip("._-") for part in parts]
    return next(filter(None, names), spec.scheme)


def build(spec: Spec, kind: str, context: Context) -> Encoder:
    """Make the encoder that the spec names, for "texts" or "images"; raise InputError where it cannot be.

    `build(argument, options, context)` of the scheme's module gets every option of the scheme, defaults
    filled in.
    """
    scheme = scheme_for(spec, kind)
    options, base = read_options(spec, scheme, context.seed), None
    if spec.base is not None:
        below = context.languages
        if spec.scheme == "translate":  # the encoder below sees this language only
            below = (options["to"],)
        elif spec.scheme == "model":
            from xlingual.models.folder import ModelFolder

            # with fewer languages an encoder below that is fitted would be another one than in training
            trained = (ModelFolder.read(spec.argument).config.get("base") or {}).get("languages") or ()
            below = tuple(trained) if set(below) <= set(trained) else below
        base = build(spec.base, kind, replace(context, languages=below))
    context = replace(context, kind=kind, base=base, scheme=scheme.name)
    encoder: Encoder = import_module(scheme.module).build(spec.argument, options, context)
    if options.get(TRAINED_ON.name) is not None:
        encoder.trained_on_images = options[TRAINED_ON.name] == "images"
    if options.get(KIND.name) is not None:
        encoder.origin = options[KIND.name]
    return encoder
