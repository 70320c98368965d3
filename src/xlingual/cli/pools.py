"""`xlingual data squad-to-pool`, `mix-pool`, and `check` of multilingual pools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_pool_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import columns, read_manifest
from xlingual.errors import InputError, parameter
from xlingual.online import page as address
from xlingual.report.blocks import Page
from xlingual.report.numbers import MISSING
from xlingual.report.table import Cell, Table
from xlingual.requests.making import (
    CheckRequest,
    MixPoolRequest,
    SquadToPoolRequest,
)
from xlingual.requests.shared import Output
from xlingual.requests.values import comma_list

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.data.pools.squad import Facts


def check_pool(request: CheckRequest) -> int:
    """Print the questions, candidates, and relevant candidates of a question, of each language of a pool."""
    from xlingual.data.pools.pool import MultilingualPool

    data = request.data
    given = {**columns(data), "rows": data.rows, "image_encoder": request.image_encoder}
    for name in (name for name, value in given.items() if value is not None):
        raise InputError(f"{parameter(name)} is for manifests, {data.manifest} is a pool: leave it out")
    with screen.warnings_as_lines():
        pool = MultilingualPool.read(data.manifest, split=data.split)
    names = ("language", "questions", "candidates", "relevant")
    rows = [(tag, Cell.count(n), Cell.count(m), _mean(mean)) for tag, n, m, mean in pool.counts()]
    counts = [
        dict(zip(names, (tag, n, m, None if math.isnan(mean) else mean), strict=True))
        for tag, n, m, mean in pool.counts()
    ]
    note = "relevant: candidates of any language, mean per question"
    table = Table.of_texts(pool.source, names, rows, notes=(note,), where="both")
    content = {"source": pool.source, "digest": pool.digest, "languages": counts[:-1], "total": counts[-1]}
    screen.show_page(Page.of("pool", pool.source, [table]), content, request)
    return 0


def _mean(value: float) -> Cell:
    return Cell(MISSING) if math.isnan(value) else Cell(f"{value:.2f}", value=value)


@command(SquadToPoolRequest, short_help="Make a multilingual pool of SQuAD-style files.")
def squad_to_pool(request: SquadToPoolRequest) -> None:
    """Make a multilingual pool from SQuAD-style JSON files, one for each language, or from folders of them.

    Sentence breaks in the files are used. If a file has none, rules find the sentences. The file's name gives
    the language (ar.json, xquad.ar.json); LANG=FILE names it otherwise.
    """
    from xlingual.data.pools.pool import build_pool, split_pool
    from xlingual.data.pools.squad import read_squad, squad_files

    train, out, files = request.train, request.out, request.files
    if train is not None and not 0 < train < 1:
        raise InputError(f"--train {train}: give a share between 0 and 1, such as 0.3")
    replaced = check_pool_folder(out, request.force)
    with screen.warnings_as_lines():
        named = squad_files(files)
        source = str(files[0]) if len(files) == 1 else f"{len(named)} files"
        rows, facts = read_squad(named, source, segment=True)
        pool = build_pool(source, rows)
        if train is not None:
            pool = split_pool(pool, train, request.seed, request.train_by)
    pool.write(out, request.file_format, overwrite=request.force)
    screen.show_page(_made(pool, facts), {}, Output(quiet=request.quiet))
    screen.wrote(out, quiet=request.quiet, replaced=replaced)


def _made(pool: MultilingualPool, facts: Facts) -> Page:
    """Return the counts of the files, by language."""
    rows = []
    for tag, n_questions, n_candidates, _ in pool.counts()[:-1]:
        counts = [facts[tag][name] for name in ("paragraphs", "segmented", "crossing", "gaps")]
        rows.append((tag, *map(Cell.count, (n_questions, n_candidates, *counts))))
    heads = ("questions", "candidates", "paragraphs", "made here", "crossing answers", "gaps")
    rule = f"made here: paragraphs that had no sentence breaks; the rules: {address('reference/pools')}"
    notes = (rule,) if any(of["segmented"] for of in facts.values()) else ()
    table = Table.of_texts("", ("language", *heads), rows, notes=notes, where="both")
    return Page.of("pool", "", [table])


@command(MixPoolRequest, short_help="Make a multilingual pool with a chosen mix of languages.")
def mix_pool(request: MixPoolRequest) -> None:
    """Make a multilingual pool from a manifest, with a chosen mix of candidate languages.

    In each question language, the first text of an item becomes a question. The other texts of the item
    become candidates. The mix is drawn from these.
    """
    from xlingual.data.pools.mix import mix_pool

    replaced = check_pool_folder(request.out, request.force)
    given = keywords(request, mix_pool) | {"mix": None if request.mix is None else _shares(request.mix)}
    with screen.warnings_as_lines():
        pool = mix_pool(**given | {"manifest": read_manifest(request.data)})
        pool.write(request.out, format=request.file_format, overwrite=request.force)
    screen.show_page(_page(pool), {}, Output(quiet=request.quiet))
    screen.wrote(request.out, quiet=request.quiet, replaced=replaced)


def _shares(text: str) -> dict[str, float]:
    """Return the shares that "en=3,de=1" names."""
    shares: dict[str, float] = {}
    for part in comma_list(text):
        tag, _, number = (piece.strip() for piece in part.partition("="))
        if tag in shares:
            raise InputError(f"--mix {text!r} names {tag!r} twice: give each language one share")
        try:
            shares[tag] = float(number if tag else "")
        except ValueError:
            raise InputError(
                f"--mix {text!r}: found {part!r} where language=share is expected, as in en=3,de=1"
            ) from None
    return shares


def _page(pool: MultilingualPool) -> Page:
    """Return questions and candidates of each language."""
    n, m, relevant = len(pool.questions), len(pool.candidates), len(pool.relevant[0])
    rows = [
        (tag, Cell.count(n_questions), Cell.count(n_candidates), f"{n_candidates / m:.1%}")
        for tag, n_questions, n_candidates, _ in pool.counts()[:-1]
    ]
    title = f"{n:,} questions, {m:,} candidates, {relevant / n:.2f} relevant to a question"
    table = Table.of_texts(title, ("language", "questions", "candidates", "share"), rows, where="both")
    return Page.of("pool", title, [table])
