"""`xlingual calibrate`: from validations to a file that turns Backretrieval into estimated retrieval."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.validating import CalibrateRequest


@command(CalibrateRequest)
def calibrate(request: CalibrateRequest) -> None:
    """Fit a calibration on validations, to estimate true retrieval (XLR) from Backretrieval (BkR).

    VALIDATION is a validation.json, or its folder. Use the written FILE with `xlingual evaluate backretrieval
    … --calibration FILE`.
    """
    from xlingual.evaluation.calibration.calibrate import calibrate as fitted

    out = request.out
    if out.is_dir():
        raise InputError(f"--out {out} is a folder: name a file, for example {out / 'calibration.json'}")
    found = signed(fitted(**keywords(request, fitted)), request)
    found.write(out)
    screen.show(found, request)
    screen.wrote(out, quiet=request.quiet)
