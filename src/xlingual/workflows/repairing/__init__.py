"""`repair`: a pool in three parts; transforms fitted on one, chosen on another, tested once on the third."""

from xlingual.workflows.repairing.repaired import Repaired, repair

__all__ = ["Repaired", "repair"]
