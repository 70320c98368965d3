"""Retrieval by graded judgements: encoders and search engines side by side, in one language or several."""

from xlingual.evaluation.retrieval.evaluate import retrieval, runs_against_qrels

__all__ = ["retrieval", "runs_against_qrels"]
