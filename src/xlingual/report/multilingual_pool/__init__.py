"""How answers from a multilingual pool are shown: sentences, tables and pictures of language bias."""

from xlingual.report.multilingual_pool.reading import TASK, VIEWED
from xlingual.report.multilingual_pool.terminal import has_views, show

__all__ = ["TASK", "VIEWED", "has_views", "show"]
