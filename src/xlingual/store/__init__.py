"""The store: vectors on disk, found by the text or image and by its encoder. See docs/reference/store.md.

A vector belongs to an encoder's identity and to a digest of the text or image, so languages, tasks and
manifests share it, and another encoder is never served it.
"""

from xlingual.store.blocks import FolderBlocks
from xlingual.store.store import (
    Collection,
    DamagedError,
    Store,
    StoreLike,
    clean,
    default_folder,
    holdings,
    open_store,
)

__all__ = [
    "Collection",
    "DamagedError",
    "FolderBlocks",
    "Store",
    "StoreLike",
    "clean",
    "default_folder",
    "holdings",
    "open_store",
]
