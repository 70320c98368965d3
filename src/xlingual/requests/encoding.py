"""Which encoders are used and where their vectors are kept, in requests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from xlingual.requests.record import Record, option
from xlingual.requests.values import AtLeastZero

TextEncoders: TypeAlias = Annotated[
    tuple[str, ...],
    option(
        "Text encoder: vectors:PATH (or just a path), st:, hf:, onnx:, wordvec:, translate:, api:, python:, "
        "model:, random, chargram or lsa:?fit=FILE#SPLIT; repeat for several. Quote patterns with *. "
        "See: xlingual encoders.",
        names=("--text-encoder",),
        metavar="SPEC",
    ),
]
SkipBroken: TypeAlias = Annotated[
    bool,
    option("Leave out texts whose image is missing or broken, with a warning that counts them."),
]


class Keeping(Record, frozen=True, kw_only=True):
    """Where vectors are kept, and what they may cost."""

    heading = "Keeping vectors"

    store: Annotated[
        Path | None,
        option(
            "Folder where vectors are kept, to be computed once.",
            metavar="DIR",
            otherwise="in the user's cache folder",
            run=True,
        ),
    ] = None
    no_store: Annotated[bool, option("Keep no vectors, and use none that are kept.", run=True)] = False
    max_cost: Annotated[
        AtLeastZero | None,
        option(
            "Refuse api: encoders whose estimate is higher than AMOUNT; each of them needs ?price=.",
            metavar="AMOUNT",
            run=True,
        ),
    ] = None


class ImageEncoding(Record, frozen=True, kw_only=True):
    """How images are compared."""

    image_encoder: Annotated[
        str,
        option(
            "Image encoder: vectors:PATH, pixels, hf:MODEL, st:MODEL … See docs/encoders.md.",
            metavar="SPEC",
        ),
    ]
    skip_broken: SkipBroken = False
