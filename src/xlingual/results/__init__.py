"""Results: what was found, with an interval on every number, in memory and on disk.

One file for each kind: `evaluation` (results.json and the tables beside it; its numbers are in `entries` and
`views`), `validation`, `comparison`, `gate`, `plan` and `study`. `values`,
`document` and `files` are what they share; `schemas` makes a JSON Schema of each.
"""

from xlingual.results.entries import Behind, Entry, Summary
from xlingual.results.evaluation import SCHEMA, Results, by_key
from xlingual.results.files import read_json, to_json, write_json
from xlingual.results.values import Interval

__all__ = [
    "SCHEMA",
    "Behind",
    "Entry",
    "Interval",
    "Results",
    "Summary",
    "by_key",
    "read_json",
    "to_json",
    "write_json",
]
