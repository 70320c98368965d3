"""Metric validation: do measures without translations agree with true retrieval, over encoders.

`validate` is the entry; `measure` computes the scores of all encoders and seeds in one pass, `agreement` has
the statistics over encoders, `degrade` weakens image vectors, `side_by_side` joins validations in one table.
"""

from xlingual.evaluation.metric_validation.side_by_side import validation_table
from xlingual.evaluation.metric_validation.validate import validate_backretrieval

__all__ = ["validate_backretrieval", "validation_table"]
