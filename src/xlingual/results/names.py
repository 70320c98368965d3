"""What results call their data."""

from __future__ import annotations

import re
from pathlib import PurePath

from xlingual.results.evaluation import Results

_DIGEST = re.compile("[0-9a-f]{32}")  # stands for data in memory


def given_name(run: Results) -> str:
    """Return the name that a pool was given, else that of its folder; "" where results have neither."""
    return str(run.run.get("name") or last_part(run.request.get("pool")))


def data_name(run: Results) -> str:
    """Return the name of the data of a run: that of a pool, or of a file; "" where results have none."""
    named = (run.request.get(key) for key in ("manifest", "pool"))
    found = next((name for name in named if isinstance(name, str)), "")
    return given_name(run) or ("" if _DIGEST.fullmatch(found) else last_part(found))


def last_part(path: object) -> str:
    """Return the last part of a path that a request names; "" where it names none."""
    return PurePath(path.replace("\\", "/")).name if isinstance(path, str) else ""
