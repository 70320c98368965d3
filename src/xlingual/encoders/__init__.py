"""Encoders: texts or pictures to vectors, one adapter per file; they know no task."""

from xlingual.encoders.options import Option
from xlingual.encoders.registry import EncoderLike, PythonEncoder, image_encoder, text_encoders
from xlingual.encoders.schemes import SCHEMES, Context, Scheme
from xlingual.encoders.spec import Spec, parse

__all__ = [
    "SCHEMES",
    "Context",
    "EncoderLike",
    "Option",
    "PythonEncoder",
    "Scheme",
    "Spec",
    "image_encoder",
    "parse",
    "text_encoders",
]
