"""Encoders: texts or pictures to vectors, one adapter per file; they know no task."""

from xlingual.encoders.kind import kind_of
from xlingual.encoders.options import Option
from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.encoders.registry import (
    EncoderLike,
    ImageModelLike,
    PythonEncoder,
    image_encoder,
    image_model,
    text_encoders,
    text_specs,
)
from xlingual.encoders.schemes import SCHEMES, Context, Scheme
from xlingual.encoders.spec import Spec, parse

__all__ = [
    "SCHEMES",
    "Context",
    "EncoderLike",
    "ImageModelLike",
    "Option",
    "OwnSimilarity",
    "PythonEncoder",
    "Scheme",
    "Spec",
    "image_encoder",
    "image_model",
    "kind_of",
    "parse",
    "text_encoders",
    "text_specs",
]
