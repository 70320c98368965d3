"""Textual similarity in the terminal and in the report."""

from xlingual.report.sts.reading import TASK
from xlingual.report.sts.terminal import show

__all__ = ["TASK", "show"]
