"""What a result is called in a history: its digest."""

from __future__ import annotations

import hashlib
import json

from xlingual.results import Results

_BESIDE = ("request", "run", "files", "timings", "costs", "diagnostics", "warnings")


def result_digest(results: Results) -> str:
    """Return a digest of all numbers, 64 hexadecimal digits: equal for equal numbers, whenever they were made."""
    kept = {name: part for name, part in results.to_dict().items() if name not in _BESIDE}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
