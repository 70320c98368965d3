"""Requests in TOML files: names and values, as on the command line.

    # triplet.toml
    epochs = 30
    patience = "none"       # TOML has no word for nothing: "none" where a field may have none
    text-encoder = ["chargram"]

A list stands for an option that is repeated; names may be written with `-` or `_`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, why


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return what a TOML file holds; raise InputError where it cannot be read."""
    path = Path(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path} ({why(error)}): give a TOML file of options") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML ({error}): write lines such as epochs = 30") from error
