"""From specs, or objects that have `encode`, to named encoders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from xlingual.encoders.base import Encoder, SupportsEncode, adopt, given
from xlingual.encoders.objects import is_one, name_of
from xlingual.encoders.options import KIND, TRAINED_ON
from xlingual.encoders.own_similarity import OwnSimilarity, is_similarity, own_similarity
from xlingual.encoders.patterns import expand
from xlingual.encoders.scheme import IMAGES, LISTS, TEXTS, Context
from xlingual.encoders.schemes import SCHEMES, in_words
from xlingual.encoders.spec import Spec, parse, read_options, scheme_for
from xlingual.encoders.vectorfile import SUFFIXES
from xlingual.errors import InputError, XlingualError
from xlingual.files import bare_name
from xlingual.hidden import shown
from xlingual.records import Images, ImageSimilarity, Texts
from xlingual.results.provenance import note_encoder

# a spec, a path to a file of vectors, or any object that has `encode`
EncoderLike: TypeAlias = "str | os.PathLike[str] | SupportsEncode"
# the same, or anything that compares the images of two batches
ImageModelLike: TypeAlias = "EncoderLike | ImageSimilarity | Callable[[Images, Images], Any]"
Entry: TypeAlias = "Spec | Encoder | OwnSimilarity"


@dataclass(frozen=True)
class Together:
    """Encoders of several arguments, one after another; each is what a caller may give alone."""

    parts: tuple[Any, ...]


def text_encoders(
    specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike,
    *,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    fit_texts: Callable[[str], Texts] | None = None,
    seed: int = 0,
) -> dict[str, Encoder]:
    """Return name → encoder of texts, in the order of `specs`.

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
    """Return name → spec (without a name, a spec for each match of a `*`) or object, building no encoder.

    Raises InputError as `text_encoders` does, as far as specs alone show.
    """
    named = entries(specs, languages)
    return {name: str(entry) if isinstance(entry, Spec) else given(entry) for name, entry in named.items()}


def image_encoder(spec: ImageModelLike, *, languages: Sequence[str] = ()) -> tuple[str, Encoder]:
    """Return the name and the encoder of images that a spec, a path or an object stands for."""
    name, model = image_model(spec, languages=languages)
    if isinstance(model, OwnSimilarity):
        raise InputError(
            f"image encoder {name!r} compares images and gives no vectors, but this command needs vectors: "
            "use it with evaluate backretrieval only"
        )
    return name, model


def image_model(
    spec: ImageModelLike, *, languages: Sequence[str] = ()
) -> tuple[str, Encoder | OwnSimilarity]:
    """Return the name and the encoder of images, or the similarity of images, that a spec stands for."""
    models = _built(spec, IMAGES, Context(tuple(languages)))
    if len(models) > 1:
        raise InputError(
            f"image encoder {shown(str(spec))!r} matches {len(models)} files; give the path of one"
        )
    return next(iter(models.items()))


def _built(specs: Any, kind: str, context: Context) -> dict[str, Any]:  # noqa: ANN401
    """Return name → encoder, each spec built; objects without an identity have that of their name too."""
    encoders: dict[str, Any] = {}
    for name, entry in entries(specs, context.languages, kind, context.role_languages).items():
        if returns_lists(entry):
            raise InputError(
                f"{name!r} returns lists of candidates, but this command needs vectors: leave it out"
            )
        encoder = encoders[name] = build(entry, kind, context) if isinstance(entry, Spec) else entry
        if isinstance(encoder, Encoder) and not encoder.has_own_identity:
            encoder.label = name
        note_encoder(kind, name, partial(getattr, encoder, "identity"))
    return encoders


def entries(
    specs: Any,  # noqa: ANN401  (what `text_encoders` takes, or a Together of such)
    languages: Sequence[str],
    kind: str = TEXTS,
    role_languages: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return name → spec or object, of systems that return lists too; a pattern becomes several specs."""
    named: dict[str, Entry] = {}
    for part in specs.parts if isinstance(specs, Together) else (specs,):
        for name, item in _pairs(part, languages):
            for own_name, entry in _resolved(name, item, kind, languages, role_languages):
                if own_name in named:
                    lists = any(map(returns_lists, (*named.values(), entry)))
                    remedy = "in a mapping from name to object"
                    if isinstance(item, str):
                        remedy = f"for example {shown(replace(parse(item), name=f'{own_name}-2'))}"
                    raise InputError(
                        f"two {'systems' if lists else 'encoders'} are named {own_name!r}: give one of them "
                        f"another name, {remedy}"
                    )
                named[own_name] = entry
    if not named:
        raise InputError("no encoder is given: name at least one, for example random:?dim=64")
    return named


def returns_lists(entry: object) -> bool:
    """Return whether a spec or an object stands for a system that returns lists, and has no vectors."""
    if isinstance(entry, Spec):
        return entry.scheme in SCHEMES and LISTS in SCHEMES[entry.scheme].takes
    return bool(getattr(entry, "returns_lists", False))


def _pairs(specs: Any, languages: Sequence[str]) -> list[tuple[str | None, Any]]:  # noqa: ANN401
    """Return the (name, spec or object) of an argument; the name is None where there is none."""
    if isinstance(specs, str | os.PathLike) or is_one(specs, languages):
        return [(None, specs)]
    if isinstance(specs, Mapping):
        return [(str(name), entry) for name, entry in specs.items()]
    return [(None, entry) for entry in specs] if isinstance(specs, Iterable) else [(None, specs)]


def _resolved(
    name: str | None,
    entry: Any,  # noqa: ANN401
    kind: str,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None,
) -> Iterator[tuple[str, Entry]]:
    """Yield the (name, spec or object) that an entry stands for; several only where a spec has a `*`."""
    if returns_lists(entry):
        yield name or str(getattr(entry, "name", "run")), entry
    elif not isinstance(entry, str | os.PathLike) and kind == IMAGES and is_similarity(entry):
        own = name or getattr(entry, "name", None) or getattr(entry, "__name__", type(entry).__name__)
        yield str(own), own_similarity(entry, who=f"image similarity {str(own)!r}")
    elif not isinstance(entry, str | os.PathLike):
        try:
            yield name or name_of(entry), adopt(entry, kind)
        except InputError as error:
            if name is None or type(error) is not InputError:
                raise
            raise InputError(f"{kind.removesuffix('s')} encoder {name!r}: {error}") from error
    else:
        spec = parse(entry) if isinstance(entry, str) else Spec(None, "vectors", os.fspath(entry))
        if isinstance(entry, str):
            _refuse_model_name(entry, spec)
        name, plain = name if name is not None else spec.name, replace(spec, name=None)
        if spec.scheme == "vectors" and "*" in spec.argument:
            read_options(spec, scheme_for(spec, kind))
            matches = expand(spec.argument, languages, role_languages, of_texts=kind == TEXTS)
            for star, path in matches.items():
                yield (f"{name}-" if name else "") + star, replace(plain, argument=path)
        else:
            yield name or _default_name(spec), plain


def _refuse_model_name(written: str, spec: Spec) -> None:
    """Raise InputError where the name or the folder of a model stands without its scheme."""
    bare = written.removeprefix(f"{spec.name}=") if spec.name else written
    if spec.scheme != "vectors" or bare.startswith("vectors:"):
        return
    path = Path(spec.argument)
    if path.is_dir():
        is_model = any((path / name).is_file() for name in ("modules.json", "config.json"))
    else:
        hub_name = re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", spec.argument)
        is_model = bool(hub_name) and path.suffix not in SUFFIXES
        is_model = is_model and not path.exists() and not path.parent.is_dir()
    if is_model:
        meant = f"{spec.name}=st:{bare}" if spec.name else f"st:{bare}"
        what = "is the folder of a model" if path.is_dir() else "is no file of vectors"
        raise InputError(
            f"{shown(written)!r} {what}: did you mean {shown(meant)}? (st: for sentence-transformers, "
            "hf: for other models of transformers)"
        )


def _default_name(spec: Spec) -> str:
    """Return the name of a spec that has none, whatever other encoders there are.

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
        placeholder = r"[._-]*\{(lang|role|field)\}"
        names = [re.sub(placeholder, "", part).strip("._-") for part in path.with_suffix("").parts[::-1]]
    return next(filter(None, names), spec.scheme)


def build(spec: Spec, kind: str, context: Context, above: Spec | None = None) -> Encoder:
    """Return the encoder that the spec names, for "texts" or "images"; raise InputError where it cannot be.

    `above` is the spec on top of it. `build(argument, options, context)` of the scheme's module gets every
    option of the scheme, defaults filled in.
    """
    scheme = scheme_for(spec, kind)
    options, base = read_options(spec, scheme, context.seed, above), None
    if spec.base is not None:
        below = context
        if spec.scheme == "translate":  # the encoder below sees this language only
            below = replace(context, languages=(options["to"],))
        elif spec.scheme == "model":
            from xlingual.models.folder import ModelFolder

            # with fewer languages an encoder below that is fitted would be another one than in training
            trained = (ModelFolder.read(spec.argument).config.get("base") or {}).get("languages") or ()
            if set(context.languages) <= set(trained):
                below = replace(context, languages=tuple(trained))
        base = build(spec.base, kind, below, spec)
    context = replace(context, kind=kind, base=base, scheme=scheme.name)
    if scheme.name not in SCHEMES:
        return _of_plugin(scheme.name, scheme.module, spec.argument, options, context)
    encoder: Encoder = import_module(scheme.module).build(spec.argument, options, context)
    if options.get(TRAINED_ON.name) is not None:
        encoder.trained_on_images = options[TRAINED_ON.name] == "images"
    if options.get(KIND.name) is not None:
        encoder.origin = options[KIND.name]
    return encoder


def _of_plugin(
    name: str, module: str, argument: str, options: Mapping[str, Any], context: Context
) -> Encoder:
    """Return the encoder that a scheme of another package makes; raise InputError where that fails."""
    try:
        made = import_module(module).build(argument, options, context)
    except (XlingualError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{name}: the plug-in {module} failed: {in_words(error)}") from error
    if callable(getattr(made, "encode", None)) and getattr(made, "identity", None):
        return adopt(made)
    raise InputError(
        f"{name}: the plug-in {module} returned a value of the type {type(made).__name__}; expected an "
        "encoder, with a method encode and an identity"
    )
