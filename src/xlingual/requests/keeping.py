"""Requests of `store` and `train export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import AsJson, Form, Quiet
from xlingual.requests.values import AtLeastZero

Root: TypeAlias = Annotated[
    Path | None,
    option(
        "Folder of the store.",
        names=("--store",),
        metavar="DIR",
        otherwise="XLINGUAL_STORE, else a folder in the user's cache",
        run=True,
    ),
]
Encoder: TypeAlias = Annotated[
    str | None,
    option("Only the vectors of this encoder; * stands for any letters.", metavar="IDENTITY"),
]
Model: TypeAlias = Annotated[Path, argument("MODEL", "Folder of a model that xlingual train or repair made.")]


class ListRequest(Request, frozen=True, kw_only=True):
    """List the encoders whose vectors are kept."""

    command = "store list"

    root: Root = None
    encoder: Encoder = None
    form: Form = "table"
    as_json: AsJson = False


class VerifyRequest(Request, frozen=True, kw_only=True):
    """Check every checksum of the store."""

    command = "store verify"

    root: Root = None
    encoder: Encoder = None
    quiet: Annotated[bool, option("Print damaged files only.", run=True)] = False


class CleanRequest(Request, frozen=True, kw_only=True):
    """Remove damaged and left-over files from the store."""

    command = "store clean"

    root: Root = None
    older_than: Annotated[
        AtLeastZero | None, option("Remove encoders not used for so many days, too.", metavar="DAYS")
    ] = None
    encoder: Annotated[
        str | None,
        option("Remove all vectors of this encoder, too; * stands for any letters.", metavar="IDENTITY"),
    ] = None


class ExportModelRequest(Request, frozen=True, kw_only=True):
    """Write a model for other programs."""

    command = "train export"

    folder: Model
    to: Annotated[
        Literal["sentence-transformers", "safetensors"],
        option("Format of the exported model."),
    ]
    out: Annotated[
        Path,
        option(
            "Write to a new folder.",
            metavar="PATH",
            run=True,
        ),
    ]
    base: Annotated[
        str | None,
        option(
            "Base encoder of the model, for sentence-transformers: st: or hf:.",
            metavar="SPEC",
        ),
    ] = None
    field: Annotated[
        Literal["title", "body"] | None,
        option(
            "Field whose layers are written, for sentence-transformers, where title and body have separate "
            "layers."
        ),
    ] = None
    language: Annotated[
        str | None,
        option(
            "Language of the texts, for sentence-transformers, where the model has a map for each (repair); "
            "of texts whose language is not given, where it has an encoder for each (train mlmme).",
            metavar="TAG",
        ),
    ] = None
    force: Annotated[bool, option("Replace what was exported to PATH before.", run=True)] = False
    quiet: Quiet = False
