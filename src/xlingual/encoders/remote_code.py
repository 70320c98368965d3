"""Python code that a model brings: never run unless a spec pins it with `remote-code=`, and said then."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from xlingual.errors import InputError, warn
from xlingual.records import digest

E = TypeVar("E", bound=Any)
OPTION = "remote-code"
VOCABULARY = "tokenizer.json"  # large, and names no classes
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OF_OTHERS = re.compile(r"((?:(?!--)\S)+)--(?:(?!--)[^\s.])+\.[^\s.]+")  # owner/name--module.Class


def code_digest(folder: Path) -> str:
    """Return 16 digits of all Python files of a folder, "" where it has none."""
    files = sorted(folder.rglob("*.py"))
    parts = [part for path in files for part in (path.relative_to(folder).as_posix(), path.read_bytes())]
    return digest(*parts).hex()[:16] if files else ""


def pinned_commit(who: str, options: Mapping[str, Any]) -> str | None:
    """Return the commit to fetch from a hub with its code, None where no code is to be run.

    Raises InputError where the code is not pinned, or at another revision than the weights.
    """
    wanted = options.get(OPTION)
    if wanted is None:
        return None
    if not _COMMIT.fullmatch(wanted):
        raise InputError(
            f"{who}: {OPTION}={wanted}: a branch or a tag may have other code tomorrow: give the whole "
            "commit (40 digits) whose code you have read"
        )
    if options.get("revision") not in (None, wanted):
        raise InputError(
            f"{who}: {OPTION} and revision differ: give {OPTION} alone, of both code and weights"
        )
    return str(wanted)


def trusted(who: str, folder: Path, options: Mapping[str, Any], *, of_hub: bool) -> bool:
    """Return whether the code in a model's folder may run; raise InputError where it is not as pinned."""
    wanted = options.get(OPTION)
    if wanted is None:
        return False
    for path in sorted(folder.rglob("*.json")):
        if path.name != VOCABULARY and (elsewhere := _elsewhere(path)):
            raise InputError(
                f"{who}: its code is in another repository ({elsewhere}, in {path.relative_to(folder)}), "
                f"which {OPTION} does not pin: save model and code into one folder, and name that"
            )
    found = code_digest(folder)
    if not found:
        raise InputError(f"{who}: brings no Python code: leave {OPTION} out")
    if not of_hub and wanted != found:
        raise InputError(
            f"{who}: {OPTION}={wanted}, but the digest of the code in this folder is {found}: read the code "
            f"(*.py), and where you trust it write {OPTION}={found}"
        )
    return True


def _elsewhere(path: Path) -> str | None:
    """Return another repository whose code a file of settings names, wherever it does; None for none."""
    try:
        left = [(False, json.loads(path.read_text(encoding="utf-8")))]
    except RecursionError:
        raise InputError(f"{path}: too deep to be settings: fetch the model again") from None
    except ValueError:  # no JSON: no library reads it either
        return None
    while left:
        of_classes, found = left.pop()
        if isinstance(found, str) and ((of_classes and "--" in found) or _OF_OTHERS.fullmatch(found)):
            return found.partition("--")[0]
        if isinstance(found, list):
            left += [(of_classes, value) for value in found]
        elif isinstance(found, dict):
            left += [(of_classes or key == "auto_map", value) for key, value in found.items()]
    return None


def checked(encoder: E, code: str | None) -> E:
    """Return an encoder; raise InputError, before any work, where it may not run the code that its spec pins.

    `code` is the commit that its files were fetched at, None of a folder.
    """
    encoder.of_hub = code is not None
    _ = encoder.runs_code
    return encoder


def say(who: str, options: Mapping[str, Any]) -> None:
    """Warn, on the screen and in results, that the model's own code runs now."""
    warn(
        f"{who}: runs Python code that the model brings ({OPTION}={options[OPTION]}): it can do "
        "whatever you can"
    )
