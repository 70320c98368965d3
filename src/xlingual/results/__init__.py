"""Results: what was found, with an interval on every number, in memory and on disk.

One file for each kind: `evaluation` (results.json and the tables beside it), `validation`, `comparison`,
`gate`, `plan` and `calibration`; `schemas/` has a JSON Schema for each. `files` and `reading` are what they
share.
"""

from xlingual.results.evaluation import (
    SCHEMA,
    Approximation,
    Behind,
    Entry,
    EstimatedXLR,
    Interval,
    Results,
    Summary,
    by_key,
)
from xlingual.results.files import read_json, to_json, write_json

__all__ = [
    "SCHEMA",
    "Approximation",
    "Behind",
    "Entry",
    "EstimatedXLR",
    "Interval",
    "Results",
    "Summary",
    "by_key",
    "read_json",
    "to_json",
    "write_json",
]
