"""Reports: tables, plots and one HTML file, from result files only."""

from xlingual.report.page import write_report
from xlingual.report.rows import Row
from xlingual.report.tables import leaderboard
from xlingual.report.validation.page import write_validation_report
from xlingual.report.verdict import verdict

__all__ = ["Row", "leaderboard", "verdict", "write_report", "write_validation_report"]
