"""How texts are compared: by cosine, or by cosine with its hubs repaired."""

from __future__ import annotations

import re

from xlingual.errors import InputError, did_you_mean, parameter
from xlingual.ranking import Csls, Repair

COSINE = "cosine"
_WORD = re.compile(r"(\w+):?(?:\?(.*))?")
_KNOWN = "cosine, csls or csls?k=10"


def repair_of(similarity: str | Repair) -> Repair | None:
    """Return the repair of hubs that a similarity stands for, None for plain cosine.

    A user's own repair, an object with `name` and `request`, is taken as it is.

    >>> repair_of("csls?k=5")
    Csls(k=5)

    Raises InputError where a similarity is not known.
    """
    if not isinstance(similarity, str):
        if isinstance(getattr(similarity, "name", None), str) and hasattr(similarity, "request"):
            return similarity
        raise InputError(
            f"a similarity is {_KNOWN}, or an object with `name` and `request`, found "
            f"{type(similarity).__name__}"
        )
    found = _WORD.fullmatch(similarity)
    word, options = (found[1], found[2]) if found else (similarity, None)
    if word == COSINE and not options:
        return None
    if word != "csls":
        raise InputError(
            f"{parameter('similarity', similarity)} is not known: expected {_KNOWN}."
            f"{did_you_mean(word, (COSINE, 'csls'))}"
        )
    if not options:
        return Csls()
    nearest = re.fullmatch(r"k=(\d+)", options)
    if nearest is None or int(nearest[1]) < 1:
        raise InputError(
            f"{parameter('similarity', similarity)}: csls has one option, k, the number of nearest texts "
            "that are averaged, 1 at least: write csls?k=10"
        )
    return Csls(int(nearest[1]))
