"""Encoders: texts or images to vectors, one adapter per file; they know no task."""

from xlingual.encoders.base import Adapter, Encoder, Stacked, kind_of
from xlingual.encoders.objects import SimilarityFunction, Wrapped, adopt
from xlingual.encoders.registry import (
    EncoderLike,
    ImageModelLike,
    image_encoder,
    image_model,
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
    "ImageModelLike",
    "Option",
    "Scheme",
    "SimilarityFunction",
    "Spec",
    "Stacked",
    "Wrapped",
    "adopt",
    "image_encoder",
    "image_model",
    "kind_of",
    "parse",
    "text_encoders",
    "text_specs",
]
