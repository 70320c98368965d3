"""The systems that are compared: a text encoder each, with the image encoder of the same space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xlingual import encoders
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import fit_texts_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.evaluation.run import EncoderSpecs


@dataclass(frozen=True)
class EncoderPair:
    """A text encoder and an image encoder whose vectors are compared, and the languages it is for."""

    name: str  # of the text encoder
    texts: Encoder
    image_name: str
    images: Encoder
    languages: tuple[str, ...]


def make_systems(
    manifest: Manifest,
    text_specs: EncoderSpecs,
    image_specs: Sequence[EncoderLike] | EncoderLike,
    languages: Sequence[str],
    *,
    named: bool,
) -> list[EncoderPair]:
    """Return the systems: text and image encoders paired in order, or one image encoder for all.

    Each pair is evaluated on those of the languages that its text encoder has. Raises InputError where the
    numbers of encoders differ, where two encoders are of different models, and for a language that none has.
    """
    texts = encoders.text_encoders(text_specs, languages=languages, fit_texts=fit_texts_for(manifest))
    pairs = _pairs(texts, image_specs, languages)
    known = {language for system in pairs for language in system.languages}
    if named and (missing := [language for language in languages if language not in known]):
        raise InputError(
            f"no text encoder has {missing[0]!r}: choose other languages ({parameter('languages')}), or add "
            "an encoder for it"
        )
    return pairs


def _pairs(
    texts: Mapping[str, Encoder], image_specs: Sequence[EncoderLike] | EncoderLike, languages: Sequence[str]
) -> list[EncoderPair]:
    """Return the text encoders, each with its image encoder."""
    given = list(image_specs) if isinstance(image_specs, list | tuple) else [cast("EncoderLike", image_specs)]
    if not given:
        raise InputError(
            f"text encoder {next(iter(texts))!r} needs the image encoder of its space: give one "
            f"({parameter('image_encoders', 'model:DIR')})"
        )
    if len(given) not in (1, len(texts)):
        raise InputError(
            f"{len(given)} image encoders for {len(texts)} text encoder{'s' if len(texts) > 1 else ''} "
            f"({listed(texts, 8)}): give one for all, or one for each text encoder in the same order"
        )
    images = [encoders.image_encoder(spec, languages=languages) for spec in given]
    images *= 1 if len(images) == len(texts) else len(texts)
    found = [
        EncoderPair(name, encoder, *image, _languages_of(name, encoder, languages))
        for (name, encoder), image in zip(texts.items(), images, strict=True)
    ]
    for system in found:
        _refuse_other_space(system)
    return found


def _languages_of(name: str, encoder: Encoder, languages: Sequence[str]) -> tuple[str, ...]:
    """Return those of the languages that an encoder has; one that names none has all."""
    has = encoder.languages
    if has is None:
        return tuple(languages)
    found = tuple(language for language in languages if language in has)
    if not found:
        raise InputError(
            f"text encoder {name!r} is for {listed(map(str, has), 12)}, none of the languages evaluated "
            f"({listed(languages, 12)}): leave it out, or choose other languages "
            f"({parameter('languages')})"
        )
    return found


def _refuse_other_space(system: EncoderPair) -> None:
    """Raise InputError where the two encoders say that they are of different models."""
    spaces = (system.texts.space, system.images.space)
    if None not in spaces and spaces[0] != spaces[1]:
        raise InputError(
            f"text encoder {system.name!r} and image encoder {system.image_name!r} are of different models "
            f"({spaces[0]:.12} and {spaces[1]:.12}), so their vectors cannot be compared: pair each text "
            "encoder with the image encoder of the same model, in the same order"
        )


def check_baselines(baselines: Sequence[str], systems: Sequence[EncoderPair]) -> None:
    """Raise InputError for a baseline that is no system, or that leaves nothing to compare."""
    names = [system.name for system in systems]
    for name in baselines:
        if name not in names:
            raise InputError(
                f"{parameter('baselines', name)}: no text encoder.{did_you_mean(name, names)} Text encoders: "
                f"{listed(names, 20)}"
            )
    if baselines and len(names) < 2:
        raise InputError(
            f"{parameter('baselines')} needs another text encoder to compare with: give a second one"
        )


def baseline_of(language: str, baselines: Sequence[str], systems: Sequence[EncoderPair]) -> str | None:
    """Return the baseline of a language: the first one named that has it."""
    has = {system.name for system in systems if language in system.languages}
    return next((name for name in baselines if name in has), None)
