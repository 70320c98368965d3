"""Retrieval by graded judgements: encoders and search engines side by side, in one language or several."""

from xlingual.evaluation.retrieval.evaluate import retrieval
from xlingual.evaluation.retrieval.ids_alone import runs_against_qrels

__all__ = ["retrieval", "runs_against_qrels"]
