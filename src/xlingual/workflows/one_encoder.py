"""The one encoder of texts whose vectors are mapped: by `repair`, or by an image pivot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xlingual.encoders import Encoder, EncoderLike, text_encoders
from xlingual.errors import InputError
from xlingual.records import Texts

FitTexts: TypeAlias = Callable[[str], Texts]


def one_encoder(
    spec: EncoderLike,
    languages: Sequence[str],
    fit_texts: FitTexts,
    role_languages: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, Encoder]:
    """Return the name and the encoder; InputError where there are several, or one that cannot be repaired."""
    made = text_encoders(spec, languages=list(languages), role_languages=role_languages, fit_texts=fit_texts)
    if len(made) != 1:
        raise InputError(f"one encoder is repaired at a time, found {', '.join(made)}")
    ((name, encoder),) = made.items()
    if encoder.depends_on_batch:
        raise InputError(
            f"{name!r} gives a text other vectors among other texts, so that what is fitted on some does "
            "not hold for others: give it the texts that it is fitted on (fit=FILE#SPLIT)"
        )
    if encoder.hub_correction is not None:
        raise InputError(
            f"{name!r} was repaired before, and has a correction of hubs, and a repair begins with plain "
            "cosines: repair the encoder below it"
        )
    return name, encoder
