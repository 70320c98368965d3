"""What requests of `xlingual rerank` stand for: the settings of an algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.errors import InputError
from xlingual.requests.rerank import Tuning

if TYPE_CHECKING:
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro

_OF_MIRA = ("c", "decay", "epochs", "no_shuffle", "background", "precision", "average")


def chosen_settings(asked: Tuning) -> Mira | Pro:
    """Return the settings of the algorithm that was asked for."""
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro

    own = {
        name: value for name in _OF_MIRA if (value := getattr(asked, name)) is not None and value is not False
    }
    if asked.algorithm == "pro":
        if own:
            option = f"--{'C' if 'c' in own else next(iter(own)).replace('_', '-')}"
            raise InputError(f"{option} is an option of mira: leave it out, or use --algorithm mira")
        return Pro()
    if "c" in own:
        own["C"] = own.pop("c")
    if own.pop("no_shuffle", False):
        own["shuffle"] = False
    return Mira(**own)
