"""What a comparison found as sentences, tables and a page, from its record alone."""

from xlingual.report.comparison.page import write_comparison
from xlingual.report.comparison.sentences import verdict
from xlingual.report.comparison.tables import FORMATS, Line, as_text, lines, remarks, title

__all__ = ["FORMATS", "Line", "as_text", "lines", "remarks", "title", "verdict", "write_comparison"]
