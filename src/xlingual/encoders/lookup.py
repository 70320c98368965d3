"""From a spec to its encoder: the scheme is looked up, its options are read, and its module builds it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from xlingual.encoders.base import Encoder, adopt
from xlingual.encoders.options import TRAINED_ON
from xlingual.encoders.plugins import in_words, package_of, scheme_of
from xlingual.encoders.schemes import SCHEMES, Context, Scheme
from xlingual.encoders.spec import Spec
from xlingual.errors import InputError, XlingualError, did_you_mean, listed
from xlingual.hidden import shown, without_url_secrets


def build(spec: Spec, kind: str, context: Context, above: Spec | None = None) -> Encoder:
    """Return the encoder that the spec names, for "texts" or "pictures"; raise InputError where it cannot be.

    `above` is what is applied on top of it.

    The scheme's module is imported here. `build(argument, options, context)` of that module gets every option
    of the table, defaults filled in.
    """
    scheme = check(spec, kind)
    options = read_options(spec, scheme, context.seed, above)
    base = None if spec.base is None else build(spec.base, kind, _below(spec, scheme, options, context), spec)
    own = replace(context, kind=kind, base=base)
    made = _of_plugin if scheme.name not in SCHEMES else _of_table
    return made(scheme, spec.argument, options, own)


def _of_table(scheme: Scheme, argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    encoder: Encoder = import_module(scheme.module).build(argument, options, context)
    if options.get(TRAINED_ON.name) is not None:
        encoder.trained_on_images = options[TRAINED_ON.name] == "images"
    return encoder


def _of_plugin(scheme: Scheme, argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder that a scheme of another package makes; raise InputError where that fails."""
    who = f"{scheme.name}: the plug-in of {package_of(scheme.name)}"
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
    """Return what the encoder below knows: below one that translates it sees one language only.

    Below a trained model it is made for the languages that it was made for in training, where these have all
    that are asked for: one that is fitted would be another encoder with fewer of them.
    """
    if "to" in options:
        return replace(context, languages=(options["to"],))
    if scheme is SCHEMES["model"]:
        from xlingual.models.folder import ModelFolder

        trained = (ModelFolder.read(spec.argument).config.get("base") or {}).get("languages") or ()
        if set(context.languages) <= set(trained):
            return replace(context, languages=tuple(trained))
    return context


def check(spec: Spec, kind: str) -> Scheme:
    """Return the scheme of the spec; raise InputError where it cannot encode `kind` or is used wrongly."""
    scheme = scheme_of(spec.scheme)
    if spec.base is not None and scheme.over == "no":
        raise InputError(
            f"spec {shown(spec)!r}: {spec.scheme!r} is an encoder and cannot be applied on top of another"
        )
    if spec.base is None and scheme.over == "must":
        raise InputError(
            f"spec {shown(spec)!r}: {spec.scheme} needs an encoder below it: {shown(spec)}::SPEC"
        )
    if kind not in scheme.takes:
        fit = listed(name for name, row in SCHEMES.items() if kind in row.takes)
        raise InputError(f"spec {shown(spec)!r}: {scheme.name!r} does not encode {kind}; these do: {fit}")
    if scheme.argument and not spec.argument.strip():
        raise InputError(
            f"spec {shown(spec)!r}: {scheme.name}: needs an argument: {scheme.name}:{scheme.argument}"
        )
    if spec.argument and not scheme.argument:
        raise InputError(
            f"spec {shown(spec)!r}: {scheme.name}: takes no argument, found "
            f"{without_url_secrets(spec.argument)!r}; "
            f"options follow a question mark: {scheme.name}:?key=value"
        )
    return scheme


def read_options(spec: Spec, scheme: Scheme, seed: int = 0, above: Spec | None = None) -> dict[str, Any]:
    """Return a value for every option of the scheme: the one written in the spec, else its default.

    `above` is what is applied on top of the spec, whose options may have been put here by mistake.
    """
    known = {option.name: option for option in scheme.options}
    values: dict[str, Any] = {}
    for key, text in spec.options:
        if key not in known:
            raise InputError(
                f"spec {shown(spec)!r}: {scheme.name} has no option {key!r}{_instead(key, known, above)}"
            )
        if key in values:
            raise InputError(f"spec {shown(spec)!r}: option {key!r} is given twice; give it once")
        try:
            values[key] = known[key].read(text)
        except ValueError as error:
            raise InputError(
                f"spec {shown(spec)!r}: {key} must be {error}, found {without_url_secrets(text)!r}"
            ) from None
    defaults = {name: seed if name == "seed" else option.default for name, option in known.items()}
    return defaults | values


def _instead(key: str, known: Collection[str], above: Spec | None) -> str:
    """Return what to write instead of an option that is none of the scheme's."""
    if above is not None and key in {option.name for option in scheme_of(above.scheme).options}:
        top = f"{above.scheme}:{without_url_secrets(above.argument)}"
        return f". {key}= belongs behind {top}, before ::"
    has = f"its options: {listed(known)}" if known else "it has no options"
    hint = did_you_mean(key, known)
    return f".{hint} ({has})" if hint else f" ({has})"
