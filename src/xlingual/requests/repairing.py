"""The request of `repair`."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from xlingual.errors import InputError
from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Request, option
from xlingual.requests.shared import Keeping, ManifestOptions, Output, PoolLanguages
from xlingual.requests.values import AboveZero, Natural, Share, comma_list


def shares_of(text: str) -> list[float]:
    """Return the numbers of "0.4,0.2,0.4" or ".4,.2,.4"; raise InputError for anything else.

    >>> shares_of(".4, .2, .4")
    [0.4, 0.2, 0.4]
    """
    try:
        found = [float(word) for word in comma_list(text)]
    except ValueError:
        found = []
    if len(found) != 3 or not all(0 < share < math.inf for share in found):
        raise InputError(
            f"found {text!r}: give three numbers above 0, to fit on, to choose on and to test on, such as "
            "0.4,0.2,0.4"
        )
    return found


class RepairRequest(Request, frozen=True, kw_only=True):
    """Find a transform of an encoder's vectors that brings languages together, and test it."""

    command = "repair"
    first = ("text_encoder", "shares", "delta")

    data: ManifestOptions
    languages: PoolLanguages = None
    text_encoder: Annotated[str, option("Text encoder to repair. See: xlingual encoders.", metavar="SPEC")]
    shares: Annotated[
        tuple[AboveZero, ...],
        option(
            "Shares of the three parts: for fitting, for choosing, for testing.",
            metavar="FIT,CHOOSE,TEST",
            reads=shares_of,
        ),
    ] = (0.4, 0.2, 0.4)
    split_by: Annotated[
        Literal["paragraph", "article"],
        option("Unit that is kept in one part: paragraphs (clusters of questions), or whole articles."),
    ] = "paragraph"
    criterion: Annotated[
        Literal["pool", "crosslingual"],
        option(
            "Criterion of the choice and the test: mAP over the pool of all languages, or over the "
            "candidates of each other language separately."
        ),
    ] = "pool"
    delta: Annotated[
        AboveZero,
        option("Largest acceptable loss: a language pair that loses more counts as harmed.", metavar="D"),
    ] = 0.01
    alpha: Annotated[Share, option("Level of the tests.")] = 0.05
    image_encoder: Annotated[
        str | None,
        option(
            "Image encoder to report Backretrieval and SIM too; they are not used to judge the repair. See: "
            "xlingual encoders.",
            metavar="SPEC",
            otherwise="none",
        ),
    ] = None
    hubs: Annotated[bool, option("Also try corrections of hubs.", names=("--hubs/--no-hubs",))] = True
    candidate_text: Annotated[
        Literal["sentence", "sentence+context"], option("Text of a pool's candidates that is encoded.")
    ] = "sentence"
    seed: Annotated[Natural, option("Seed of the parts and of the tests.")] = 0
    keeping: Keeping
    ranking: Ranking
    output: Output
