"""From specs, or objects that have `encode`, to named encoders: schemes looked up, options read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, TypeAlias, cast

from xlingual.encoders.base import Encoder, SupportsEncode, adopt, given
from xlingual.encoders.objects import is_one, name_of
from xlingual.encoders.options import KIND, TRAINED_ON
from xlingual.encoders.own_similarity import OwnSimilarity, is_similarity, own_similarity
from xlingual.encoders.patterns import expand
from xlingual.encoders.plugins import Known, in_words, scheme_of
from xlingual.encoders.scheme import IMAGES, LISTS, TEXTS, Context, Scheme
from xlingual.encoders.schemes import SCHEMES
from xlingual.encoders.spec import Spec, parse
from xlingual.encoders.vectorfile import SUFFIXES
from xlingual.errors import InputError, XlingualError, did_you_mean, listed
from xlingual.files import bare_name
from xlingual.hidden import shown, without_url_secrets
from xlingual.permission import refuse_scheme
from xlingual.records import Images, ImageSimilarity, Texts
from xlingual.results.provenance import note_encoder

# a spec, a path to a file of vectors, or any object that has `encode`
EncoderLike: TypeAlias = "str | os.PathLike[str] | SupportsEncode"
# the same, or anything that compares the images of two batches
ImageModelLike: TypeAlias = "EncoderLike | ImageSimilarity | Callable[[Images, Images], Any]"


@dataclass(frozen=True)
class Together:
    """What several arguments name, one after another; each is what a caller may give alone."""

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
    context = Context(tuple(languages), role_languages, None if fit_texts is None else cache(fit_texts), seed)
    return _named(specs, TEXTS, context)


def text_specs(
    specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike, *, languages: Sequence[str]
) -> dict[str, EncoderLike]:
    """Return name → spec (without a name, one for each match of a `*`) or object, building no encoder.

    Raises InputError as `text_encoders` does, as far as specs alone show.
    """
    found = _entries(specs, TEXTS, Context(tuple(languages)))
    return {name: str(entry) if isinstance(entry, Spec) else given(entry) for name, entry in found.items()}


def entries(specs: Any, languages: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401  (of `systems`)
    """Return name → spec or object, as `text_specs`, of systems that return lists of candidates too."""
    return dict(_entries(specs, TEXTS, Context(tuple(languages))))


def image_encoder(spec: ImageModelLike, *, languages: Sequence[str] = ()) -> tuple[str, Encoder]:
    """Return the name and the encoder of images that a spec, a path or an object stands for."""
    name, found = image_model(spec, languages=languages)
    if isinstance(found, OwnSimilarity):
        raise InputError(
            f"image encoder {name!r} compares images and gives no vectors, but this command needs vectors: "
            "use it with evaluate backretrieval only"
        )
    return name, found


def image_model(
    spec: ImageModelLike, *, languages: Sequence[str] = ()
) -> tuple[str, Encoder | OwnSimilarity]:
    """Return the name and the encoder of images, or the similarity of images, that a spec stands for."""
    found = _named(cast("EncoderLike", spec), IMAGES, Context(tuple(languages)))
    if len(found) > 1:
        raise InputError(
            f"image encoder {shown(str(spec))!r} matches {len(found)} files; give the path of one"
        )
    return next(iter(found.items()))


def _named(
    specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike, kind: str, context: Context
) -> dict[str, Any]:
    """Return name → encoder, each spec built; objects without an identity are known by their names too."""
    encoders: dict[str, Any] = {}
    for name, entry in _entries(specs, kind, context).items():
        if returns_lists(entry):
            raise InputError(
                f"{name!r} returns lists of candidates, but this command needs vectors: leave it out"
            )
        encoder = encoders[name] = build(entry, kind, context) if isinstance(entry, Spec) else entry
        if isinstance(encoder, Encoder) and not encoder.has_own_identity:
            encoder.label = name
        note_encoder(kind, name, partial(getattr, encoder, "identity"))
    return encoders


def _entries(
    specs: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike, kind: str, context: Context
) -> dict[str, Spec | Encoder | OwnSimilarity]:
    """Return name → spec or object; a spec that stands for several encoders becomes several."""
    parts = specs.parts if isinstance(specs, Together) else (specs,)
    found = [
        (name, one, entry)
        for part in parts
        for wanted, entry in _given(part, context.languages)
        for name, one in _resolve(wanted, entry, kind, context)
    ]
    entries: dict[str, Spec | Encoder | OwnSimilarity] = {}
    for name, one, entry in found:
        if name in entries:
            remedy = "in a mapping from name to object"
            if isinstance(entry, str):
                remedy = f"for example {shown(replace(parse(entry, Known()), name=f'{name}-2'))}"
            what = "systems" if any(returns_lists(other) for _, other, _ in found) else "encoders"
            raise InputError(f"two {what} are named {name!r}: give one of them another name, {remedy}")
        entries[name] = one
    if not entries:
        raise InputError("no encoder is given: name at least one, for example random:?dim=64")
    return entries


def returns_lists(one: object) -> bool:
    """Return whether a spec or an object stands for a system that returns lists, and has no vectors."""
    if isinstance(one, Spec):
        return one.scheme in SCHEMES and LISTS in SCHEMES[one.scheme].takes
    return bool(getattr(one, "returns_lists", False))


def _given(specs: Any, languages: Sequence[str]) -> list[tuple[str | None, EncoderLike]]:  # noqa: ANN401
    """Return the (name, spec or object) of what a caller gives; the name is None where there is none."""
    if not isinstance(specs, str | os.PathLike) and is_one(specs, languages):
        return [(None, specs)]
    if isinstance(specs, Mapping):
        return [(str(name), entry) for name, entry in specs.items()]
    if isinstance(specs, Iterable) and not isinstance(specs, str):
        return [(None, entry) for entry in specs]
    return [(None, specs)]


def _resolve(
    wanted: str | None, entry: EncoderLike, kind: str, context: Context
) -> Iterable[tuple[str, Spec | Encoder | OwnSimilarity]]:
    """Return the (name, spec or object) that one entry stands for; several only where a spec has a `*`."""
    if not isinstance(entry, str | os.PathLike):
        if returns_lists(entry):
            return [(wanted or str(getattr(entry, "name", "run")), cast("Encoder", entry))]
        if kind == IMAGES and is_similarity(entry):
            named = wanted or getattr(entry, "name", None) or getattr(entry, "__name__", type(entry).__name__)
            return [(str(named), own_similarity(entry, who=f"image similarity {str(named)!r}"))]
        return [(wanted or name_of(entry), _adopted(wanted, entry, kind))]
    spec = parse(entry, Known()) if isinstance(entry, str) else Spec(None, "vectors", os.fspath(entry))
    if isinstance(entry, str):
        _refuse_model_name(entry, spec)
    name, plain = wanted if wanted is not None else spec.name, replace(spec, name=None)
    if spec.scheme != "vectors" or "*" not in spec.argument:
        return [(name or _default_name(spec), plain)]
    read_options(spec, check(spec, kind))
    matches = expand(spec.argument, context.languages, context.role_languages, of_texts=kind == TEXTS).items()
    prefix = f"{name}-" if name else ""
    return [(prefix + star, replace(plain, argument=path)) for star, path in matches]


def _adopted(wanted: str | None, entry: object, kind: str) -> Encoder:
    """Return the encoder that an object stands for; an error names it as the user does."""
    try:
        return adopt(entry, kind)
    except InputError as error:
        if wanted is None or type(error) is not InputError:
            raise
        raise InputError(f"{kind.removesuffix('s')} encoder {wanted!r}: {error}") from error


_NAMED_BY_ARGUMENT = ("st", "hf", "onnx", "api", "python")  # schemes
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def _refuse_model_name(written: str, spec: Spec) -> None:
    """Raise InputError where the name or the folder of a model stands without its scheme."""
    bare = written.removeprefix(f"{spec.name}=") if spec.name else written
    if spec.scheme != "vectors" or bare.startswith("vectors:"):
        return
    path = Path(spec.argument)
    if path.is_dir():
        is_model = any((path / name).is_file() for name in ("modules.json", "config.json"))
    else:
        named = _HUB_NAME.fullmatch(spec.argument) is not None and path.suffix not in SUFFIXES
        is_model = named and not path.exists() and not path.parent.is_dir()
    if is_model:
        meant = f"{spec.name}=st:{bare}" if spec.name else f"st:{bare}"
        what = "is the folder of a model" if path.is_dir() else "is no file of vectors"
        raise InputError(
            f"{shown(written)!r} {what}: did you mean {shown(meant)}? (st: for sentence-transformers, "
            "hf: for other models of transformers)"
        )


def _default_name(spec: Spec) -> str:
    """Return the name of a spec that has none, whatever else there is beside it.

    It is the last part of a model's name or folder, or of a function; of files their name without
    placeholders and suffix; else the scheme.
    """
    path, names = PurePath(spec.argument), list[str]()
    if spec.scheme in ("model", *_NAMED_BY_ARGUMENT):
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

    `above` is the scheme that is applied on top of it. The scheme's module is imported here:
    `build(argument, options, context)` of that module gets every option of the table, defaults filled in.
    """
    scheme = check(spec, kind)
    options = read_options(spec, scheme, context.seed, above)
    base = None if spec.base is None else build(spec.base, kind, _below(spec, scheme, options, context), spec)
    own = replace(context, kind=kind, base=base, scheme=scheme.name)
    if scheme.name not in SCHEMES:
        return _of_plugin(scheme, spec.argument, options, own)
    encoder: Encoder = import_module(scheme.module).build(spec.argument, options, own)
    if options.get(TRAINED_ON.name) is not None:
        encoder.trained_on_images = options[TRAINED_ON.name] == "images"
    if options.get(KIND.name) is not None:
        encoder.origin = options[KIND.name]
    return encoder


def _of_plugin(scheme: Scheme, argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder that a scheme of another package makes; raise InputError where that fails."""
    who = f"{scheme.name}: the plug-in {scheme.module}"
    try:
        found = import_module(scheme.module).build(argument, options, context)
    except (XlingualError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{who} failed: {in_words(error)}") from error
    try:
        encoder = adopt(found)
    except InputError:
        encoder = None
    if encoder is None or not encoder.has_own_identity:
        raise InputError(
            f"{who} returned a value of the type {type(found).__name__}; expected an encoder, with a method "
            "encode and an identity"
        )
    return encoder


def _below(spec: Spec, scheme: Scheme, options: Mapping[str, Any], context: Context) -> Context:
    """Return the context of the encoder below: below one that translates it sees one language only.

    Below a trained model it is made for the languages that it was made for in training, where these have all
    that are asked for: one that is fitted would be another encoder with fewer of them.
    """
    if scheme is SCHEMES["translate"]:
        return replace(context, languages=(options["to"],))
    if scheme is SCHEMES["model"]:
        from xlingual.models.folder import ModelFolder

        trained = (ModelFolder.read(spec.argument).config.get("base") or {}).get("languages") or ()
        if set(context.languages) <= set(trained):
            return replace(context, languages=tuple(trained))
    return context


def check(spec: Spec, kind: str) -> Scheme:
    """Return the scheme of the spec; raise InputError where it cannot encode `kind` or is used wrongly."""
    refuse_scheme(spec.scheme, dict(spec.options))
    scheme = scheme_of(spec.scheme)
    name, fit = scheme.name, listed(name for name, row in SCHEMES.items() if kind in row.takes)
    mistakes = (  # whether it is made, and what it is
        (
            spec.base is not None and scheme.over == "no",
            f"{name!r} is an encoder and cannot be applied on top of another",
        ),
        (
            spec.base is None and scheme.over == "must",
            f"{name} needs an encoder below it: {shown(spec)}::SPEC",
        ),
        (
            LISTS in scheme.takes and kind != LISTS,
            f"{name!r} returns lists of candidates, but this command needs vectors; these encoders give "
            f"vectors: {fit}",
        ),
        (kind not in scheme.takes, f"{name!r} does not encode {kind}; these encoders do: {fit}"),
        (
            scheme.argument and not spec.argument.strip(),
            f"{name}: needs an argument: {name}:{scheme.argument}",
        ),
        (
            spec.argument and not scheme.argument,
            f"{name}: takes no argument, found {without_url_secrets(spec.argument)!r}; "
            f"options follow a question mark: {name}:?key=value",
        ),
    )
    for made, what in mistakes:
        if made:
            raise InputError(f"spec {shown(spec)!r}: {what}")
    return scheme


def read_options(spec: Spec, scheme: Scheme, seed: int = 0, above: Spec | None = None) -> dict[str, Any]:
    """Return a value for every option of the scheme: the one written in the spec, else its default.

    `above` is the scheme that is applied on top of the spec, whose options may have been put here by mistake.
    """
    known = {option.name: option for option in scheme.options}
    values: dict[str, Any] = {}
    seen = set[str]()
    for key, text in spec.options:
        if key not in known:
            raise InputError(
                f"spec {shown(spec)!r}: {scheme.name} has no option {key!r}{_instead(key, known, above)}"
            )
        if key in seen:
            raise InputError(f"spec {shown(spec)!r}: option {key!r} is given twice; give it once")
        seen.add(key)
        try:
            values[key] = known[key].read(text)
        except ValueError as error:
            raise InputError(
                f"spec {shown(spec)!r}: {key} must be {error}, found {without_url_secrets(text)!r}"
            ) from None
    return {name: seed if name == "seed" else option.default for name, option in known.items()} | values


def _instead(key: str, known: Collection[str], above: Spec | None) -> str:
    """Return what to write instead of an option that is none of the scheme's."""
    if above is not None and key in {option.name for option in scheme_of(above.scheme).options}:
        return f". {key}= belongs behind {above.scheme}:{without_url_secrets(above.argument)}, before ::"
    has, hint = (f"its options: {listed(known)}" if known else "it has no options"), did_you_mean(key, known)
    return f"{hint and '.'}{hint} ({has})"
