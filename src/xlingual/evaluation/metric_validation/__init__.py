"""Metric validation: do measures without translations agree with true retrieval, over encoders.

`validate` has the entries, from data and from results; `measure` runs the tasks for all encoders and seeds,
`agreement` and `coefficients` have the statistics over encoders, `degrade` weakens image vectors,
`side_by_side` joins validations in one table.
"""

from xlingual.evaluation.metric_validation.side_by_side import validation_table
from xlingual.evaluation.metric_validation.validate import validate_backretrieval, validation_of

__all__ = ["validate_backretrieval", "validation_of", "validation_table"]
