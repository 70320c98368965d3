"""What a person sees of a metric validation: sentences, tables for the terminal, one HTML file."""

from xlingual.report.validation.page import write_validation_report
from xlingual.report.validation.sentences import verdict
from xlingual.report.validation.terminal import show

__all__ = ["show", "verdict", "write_validation_report"]
