"""The report of a case study, from its record alone."""

from xlingual.report.case_study.page import render, write_case_study
from xlingual.report.case_study.terminal import show

__all__ = ["render", "show", "write_case_study"]
