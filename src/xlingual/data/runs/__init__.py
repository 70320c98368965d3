"""What search systems returned, and how relevant it was judged: runs and qrels from the files of others."""

from xlingual.data.runs.search_run import SearchRun

__all__ = ["SearchRun"]
