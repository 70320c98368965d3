"""`xlingual data mix-pool`: from texts with items to a multilingual pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_pool_folder
from xlingual.cli.from_request import command
from xlingual.cli.opening import read_manifest
from xlingual.errors import InputError
from xlingual.report.blocks import Page
from xlingual.report.table import Cell, Table
from xlingual.requests.making import MixPoolRequest
from xlingual.requests.output import Output
from xlingual.requests.values import comma_list

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool


@command(MixPoolRequest, short_help="Make a multilingual pool with a chosen mix of languages.")
def mix_pool(asked: MixPoolRequest) -> None:
    """Make a pool of questions and candidates from texts with items, with a chosen mix of languages.

    The first text of an item in every question language asks; its other texts are candidates, of which the
    mix draws. See docs/mixing.md.
    """
    from xlingual.data.pools.mix import mix_pool

    replaced = check_pool_folder(asked.out, asked.force)
    shares = None if asked.mix is None else _shares(asked.mix)
    with screen.warnings_as_lines():
        pool = mix_pool(
            read_manifest(asked.data),
            question_languages=asked.question_languages,
            mix=shares,
            per_item=asked.per_item,
            candidates=asked.candidates,
            questions=asked.questions,
            seed=asked.seed,
        )
        pool.write(asked.out, format=asked.file_format, overwrite=asked.force)
    screen.show_page(_page(pool), {}, Output(quiet=asked.quiet))
    screen.wrote(asked.out, quiet=asked.quiet, replaced=replaced)


def _shares(text: str) -> dict[str, float]:
    """Return the shares that "en=3,de=1" names."""
    shares: dict[str, float] = {}
    for part in comma_list(text):
        tag, equals, number = (piece.strip() for piece in part.partition("="))
        try:
            share = float(number)
        except ValueError:
            equals = ""
        if not equals or not tag:
            raise InputError(
                f"--mix {text!r}: found {part!r} where language=share is expected, as in en=3,de=1"
            )
        if tag in shares:
            raise InputError(f"--mix {text!r} names {tag!r} twice: give each language one share")
        shares[tag] = share
    return shares


def _page(pool: MultilingualPool) -> Page:
    """Return questions and candidates of each language."""
    import numpy as np

    n, m, relevant = len(pool.questions), len(pool.candidates), len(pool.relevant[0])
    counts = (
        np.bincount(side.language, minlength=len(pool.languages)).tolist()
        for side in (pool.questions, pool.candidates)
    )
    rows = [
        (tag, Cell.count(asked), Cell.count(held), f"{held / m:.1%}")
        for tag, asked, held in zip(pool.languages, *counts, strict=True)
    ]
    title = f"{n:,} questions, {m:,} candidates, {relevant / n:.2f} relevant to a question"
    table = Table.of_texts(title, ("language", "questions", "candidates", "share"), rows, where="both")
    return Page.of("pool", title, [table])
