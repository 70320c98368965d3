"""What is read, in requests: a manifest, or a multilingual pool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from xlingual.requests.record import Record, argument, option
from xlingual.requests.values import comma_list

Pool: TypeAlias = Annotated[Path, argument("POOL", "A pool folder, or a folder of SQuAD-style files.")]
PoolLanguages: TypeAlias = Annotated[
    tuple[str, ...] | None,
    option("Use only these languages, in this order.", metavar="ar,de,…", otherwise="all", reads=comma_list),
]
Split: TypeAlias = Annotated[str | None, option("Use only the rows of this split.", metavar="NAME")]
Cluster: TypeAlias = Annotated[
    str,
    option(
        "Which queries count as dependent: those of one declared cluster or item (declared), or those of "
        "near-equal texts and images too (near-duplicates).",
        metavar="NAME",
    ),
]


class Columns(Record, frozen=True, kw_only=True):
    """How a manifest is read, whichever rows are taken."""

    heading = "Reading the manifest"

    text_column: Annotated[
        str | None, option("Column of texts, or a pattern such as name_{lang}.", metavar="NAME")
    ] = None
    image_column: Annotated[str | None, option("Column of image paths or bytes.", metavar="NAME")] = None
    item_column: Annotated[str | None, option("Column that says which texts match.", metavar="NAME")] = None
    id_column: Annotated[str | None, option("Column of ids.", metavar="NAME")] = None
    lang_column: Annotated[
        str | None, option("Column of languages, in a manifest with one text per row.", metavar="NAME")
    ] = None
    cluster_column: Annotated[
        str | None, option("Column that says which texts depend on each other.", metavar="NAME")
    ] = None
    separator: Annotated[
        str | None,
        option("Character between the columns of a text file, such as ';' or tab.", metavar="CHAR"),
    ] = None
    encoding: Annotated[
        str | None,
        option("Encoding of a text file, such as cp1252.", metavar="NAME", otherwise="UTF-8"),
    ] = None


class Table(Columns, frozen=True, kw_only=True):
    """A manifest, and the rows of it that are taken."""

    manifest: Annotated[Path, argument("MANIFEST", "The file or folder of texts and images.")]
    split: Split = None
    rows: Annotated[
        str | None, option("Use only rows A to B, counted from 0, B left out.", metavar="A:B")
    ] = None
