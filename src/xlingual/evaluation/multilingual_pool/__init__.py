"""Answers from a multilingual pool (LAReQA): one pass, and every view of language bias that follows."""

from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool

__all__ = ["multilingual_pool"]
