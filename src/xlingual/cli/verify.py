"""`xlingual verify`: make a result again and compare; check a claim."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from xlingual.cli import screen
from xlingual.cli.answering import answer, named_command, request_of
from xlingual.cli.exit_codes import DONE, NO, UNKNOWN
from xlingual.cli.from_request import command
from xlingual.cli.wording import in_options
from xlingual.errors import InputError
from xlingual.requests import leaves
from xlingual.requests.verifying import VerifyRequest

_CODES = {"equal": DONE, "unchanged": DONE, "different": NO, "changed": NO, "missing": UNKNOWN}
_SILENT = {"quiet": True, "report": False, "examples": False, "neighbours": False}


@command(VerifyRequest)
def verify(request: VerifyRequest) -> int:
    """Compute RESULT again from its inputs and compare every digit; or check a CLAIM.

    RESULT is a file that a command wrote, or its folder. A CLAIM is a line of `xlingual cite`: its result is
    found by its digest. Exit codes: 0 equal, 1 different numbers or different inputs (they are named), 3
    something is missing.
    """
    from xlingual.workflows.verification import Wanted, is_claim, verify_claim
    from xlingual.workflows.verification import verify as verified

    wanted = Wanted(request.sample, request.inputs_only)
    if request.sample is not None and request.inputs_only:
        raise InputError("--sample ranks queries again, and --inputs-only computes nothing: give one of them")
    if is_claim(request.result):
        found = [verify_claim(request.result, request.within, _replay, wanted)]
    else:
        found = verified(request.result, _replay, wanted)
    found = [replace(one, problems=list(map(in_options, one.problems))) for one in found]
    if screen.as_json(request) and len(found) > 1:
        screen.print_json({"files": [one.to_dict() for one in found]})
    else:
        for one in found:
            screen.show(one, request)
    return max((_CODES[one.outcome] for one in found), key=(DONE, UNKNOWN, NO).index)


def _replay(content: Mapping[str, Any], folder: Path) -> None:
    """Run the command of a request; what it writes goes to a folder."""
    known = leaves(named_command(str(content.get("command", "")), "this result").kind)
    if "out" not in known:
        raise InputError(f"{content['command']} writes no file of results")
    more = {name: value for name, value in _SILENT.items() if name in known}
    found, request = request_of({**content, **more, "out": str(folder)}, "this result")
    with contextlib.redirect_stdout(io.StringIO()):
        answer(found, request)
