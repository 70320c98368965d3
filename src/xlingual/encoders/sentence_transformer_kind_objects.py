"""SparseEncoder and MultiVectorEncoder objects: handed to the module that scores them as they are."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import SPARSE, TOKENS, refuse_kind
from xlingual.encoders.objects import is_a

_MODULE = "xlingual.encoders.sentence_transformer_kinds"


def adapter_of(entry: Any, kind: str) -> Encoder:  # noqa: ANN401  (of sentence-transformers)
    """Return the encoder; raise InputError where such models are not scored yet."""
    if find_spec(_MODULE) is None:
        refuse_kind(type(entry).__name__, SPARSE if is_a(entry, "sentence_transformers", SPARSE) else TOKENS)
    return cast("Encoder", import_module(_MODULE).adapter_of(entry))
