"""Metric validation: do measures without translations agree with true retrieval, over encoders.

`validate` is the entry; `measure` computes the scores of all encoders and seeds in one pass, `agreement` has
the statistics over encoders, `degrade` weakens image vectors.
"""

from xlingual.evaluation.metric_validation.validate import validate_backretrieval

__all__ = ["validate_backretrieval"]
