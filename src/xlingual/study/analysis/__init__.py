"""The analysis of a study: what people prefer, how sure that is, and how far they agree."""

from xlingual.study.analysis.analyse import LEVEL, REPLICATES, analyse

__all__ = ["LEVEL", "REPLICATES", "analyse"]
