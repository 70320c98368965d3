"""`repair`: a pool in three parts; transforms fitted on one, chosen on another, tested once on the third."""

from xlingual.workflows.repairing.repaired import Repaired, repair_encoder

__all__ = ["Repaired", "repair_encoder"]
