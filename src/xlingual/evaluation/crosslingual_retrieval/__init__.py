"""Cross-lingual retrieval (XLR): does a text retrieve its own item's text in the other language."""

from xlingual.evaluation.crosslingual_retrieval.evaluate import crosslingual_retrieval

__all__ = ["crosslingual_retrieval"]
