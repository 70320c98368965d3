"""`repair`: a pool in three parts; transforms fitted on one, chosen on another, tested once on the third."""

from xlingual.workflows.repairing.repaired import Repaired, repair_encoder
from xlingual.workflows.repairing.unlabelled import has_no_translations, repair_unlabelled

__all__ = ["Repaired", "has_no_translations", "repair_encoder", "repair_unlabelled"]
