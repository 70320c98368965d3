"""Where data, encoders and the store meet: texts and images become vectors that may be trusted.

Everything an encoder returns is checked here, once, for every encoder: shape, numbers, and that no row it was
fitted on is evaluated. What the store has is not encoded again.
"""

from xlingual.embed.encoding import is_kept
from xlingual.embed.fitting import (
    batch_identity,
    fit_texts_for,
    load_fit_texts,
    load_queries,
    queries_for,
    refuse_fitted_rows,
)
from xlingual.embed.images import ImageIndex, embed_images, image_vectors
from xlingual.embed.texts import (
    BatchVectors,
    PoolVectors,
    RoleVectors,
    TextVectors,
    embed_bank,
    embed_batch,
    embed_pool,
    embed_roles,
    embed_sides,
    embed_texts,
    joined,
)

__all__ = [
    "BatchVectors",
    "ImageIndex",
    "PoolVectors",
    "RoleVectors",
    "TextVectors",
    "batch_identity",
    "embed_bank",
    "embed_batch",
    "embed_images",
    "embed_pool",
    "embed_roles",
    "embed_sides",
    "embed_texts",
    "fit_texts_for",
    "image_vectors",
    "is_kept",
    "joined",
    "load_fit_texts",
    "load_queries",
    "queries_for",
    "refuse_fitted_rows",
]
