"""Encoders: texts or images to vectors, one adapter per file; they know no task."""

from xlingual.encoders.base import Adapter, Encoder, Stacked, kind_of
from xlingual.encoders.objects import Wrapped, adopt
from xlingual.encoders.registry import (
    EncoderLike,
    image_encoder,
    text_encoders,
    text_specs,
)
from xlingual.encoders.scheme import Context, Option, Scheme
from xlingual.encoders.spec import SCHEMES, Spec, parse

__all__ = [
    "SCHEMES",
    "Adapter",
    "Context",
    "Encoder",
    "EncoderLike",
    "Option",
    "Scheme",
    "Spec",
    "Stacked",
    "Wrapped",
    "adopt",
    "image_encoder",
    "kind_of",
    "parse",
    "text_encoders",
    "text_specs",
]
