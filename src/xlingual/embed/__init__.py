"""Where data, encoders and the store meet: texts and pictures become vectors that may be trusted.

Everything an encoder returns is checked here, once, for every encoder: shape, numbers, and that no row it was
fitted on is evaluated. What the store has is not encoded again.
"""

from xlingual.embed.encoding import is_kept
from xlingual.embed.fitting import batch_identity, fit_texts_for, load_fit_texts, refuse_fitted_rows
from xlingual.embed.pictures import PictureIndex, embed_pictures, picture_vectors
from xlingual.embed.texts import (
    BatchVectors,
    PoolVectors,
    TextVectors,
    embed_batch,
    embed_pool,
    embed_sides,
    embed_texts,
    joined,
)

__all__ = [
    "BatchVectors",
    "PictureIndex",
    "PoolVectors",
    "TextVectors",
    "batch_identity",
    "embed_batch",
    "embed_pictures",
    "embed_pool",
    "embed_sides",
    "embed_texts",
    "fit_texts_for",
    "is_kept",
    "joined",
    "load_fit_texts",
    "picture_vectors",
    "refuse_fitted_rows",
]
