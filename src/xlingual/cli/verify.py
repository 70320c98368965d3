"""`xlingual verify`: make a result again from its record, and compare."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from xlingual.cli import screen
from xlingual.cli.answering import answer, named_command, request_of
from xlingual.cli.exit_codes import BAD, DONE, NO, UNKNOWN
from xlingual.cli.from_request import command
from xlingual.cli.wording import in_options
from xlingual.errors import InputError, listed
from xlingual.permission import SAFE_SCHEMES, Permission
from xlingual.requests import leaves
from xlingual.requests.verifying import VerifyRequest

_CODES = {
    "equal": DONE,
    "unchanged": DONE,
    "different": NO,
    "changed": NO,
    "missing": UNKNOWN,
    "not allowed": BAD,
}
_SILENT = {"quiet": True, "report": False, "neighbours": False, "no_store": True}


@command(VerifyRequest)
def verify(request: VerifyRequest) -> int:
    """Compute RESULT again from its record, and compare every digit.

    RESULT is a folder of results, or a file in it. The record may come from a stranger: the encoders and
    files that it asks for are printed, and nothing is computed unless all are allowed. Files below the
    current folder are, and encoders that run no code and send nothing; --allow adds others. Exit codes: 0
    equal, 1 different numbers or different inputs (they are named), 2 something is not allowed, 3 something
    is missing.
    """
    from xlingual.workflows.verify import verify as verified

    found = verified(
        request.result,
        _replay,
        lambda words: named_command(words, "this result").kind,
        _permission(request.allow),
        inputs_only=request.inputs_only,
    )
    found = [replace(one, problems=list(map(in_options, one.problems))) for one in found]
    if screen.as_json(request) and len(found) > 1:
        screen.print_json({"files": [one.to_dict() for one in found]})
    else:
        for one in found:
            screen.show(one, request)
    return max((_CODES[one.outcome] for one in found), key=(DONE, UNKNOWN, NO, BAD).index)


def _permission(words: Iterable[str]) -> Permission:
    from xlingual.encoders.spec import SCHEMES

    schemes, folders = set(SAFE_SCHEMES), [Path.cwd()]
    for word in words:
        if (name := word.removesuffix(":")) in SCHEMES:
            schemes.add(name)
        elif Path(word).is_dir():
            folders.append(Path(word))
        else:
            raise InputError(
                f"--allow {word}: no such folder or scheme: give a folder, or one of {listed(SCHEMES, 40)}"
            )
    return Permission(frozenset(schemes), tuple(folder.resolve() for folder in folders))


def _replay(content: Mapping[str, Any], folder: Path) -> None:
    """Run the command of a request; what it writes goes to a folder."""
    known = leaves(named_command(str(content["command"]), "this result").kind)
    if "out" not in known:
        raise InputError(f"{content['command']} writes no file of results")
    more = {name: value for name, value in _SILENT.items() if name in known}
    found, request = request_of({**content, **more, "out": str(folder)}, "this result")
    with contextlib.redirect_stdout(io.StringIO()):
        answer(found, request)
