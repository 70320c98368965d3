"""Metric validation: do measures without translations agree with true retrieval, over encoders."""

from xlingual.evaluation.metric_validation.validate import validate_backretrieval, validation_of

__all__ = ["validate_backretrieval", "validation_of"]
