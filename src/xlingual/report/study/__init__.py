"""The report of a blind study, from its analysis alone."""

from xlingual.report.study.page import render, write_study
from xlingual.report.study.sentences import verdict
from xlingual.report.study.terminal import show

__all__ = ["render", "show", "verdict", "write_study"]
