"""`xlingual data describe`, `squad-to-pool` and `mix-pool`: multilingual pools."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_pool_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest
from xlingual.errors import InputError
from xlingual.online import page as address
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import MISSING, counted
from xlingual.report.table import Cell, Table, narrower
from xlingual.requests.making import (
    DescribeRequest,
    MixPoolRequest,
    SquadToPoolRequest,
)
from xlingual.requests.shared import Output
from xlingual.requests.values import comma_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xlingual.data.pools.describe import LanguageDescription, PoolDescription
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.data.pools.squad import LanguageFacts


@command(DescribeRequest, short_help="Count what a multilingual pool holds.")
def describe(request: DescribeRequest) -> None:
    """Count questions and candidates of POOL: a pool folder, one of BEIR or MTEB, or SQuAD-style files."""
    from xlingual.data.pools.describe import describe_pool
    from xlingual.data.pools.pool import MultilingualPool

    with screen.warnings_as_lines():
        chosen = request.languages, request.split, request.equal_ids
        found = describe_pool(MultilingualPool.read(request.pool, *chosen))
    sentences = [Prose(sentence, where="both") for sentence in _sentences(found)]
    page = Page.of("pool", found.source, [_languages(found), *sentences])
    screen.show_page(page, found.to_dict(), request)


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


def _languages(found: PoolDescription) -> Table:
    heads = ("language", "questions", "candidates", "relevant", "share of pool", "own language")
    spare = ("least–most", "repeated texts", "own language", "share of pool")
    made = Table.of_texts(
        found.source, (*heads, "repeated texts", "least–most"), map(_cells, (*found.languages, found.total)),
        looks=narrower(*spare), where="both",
    )  # fmt: skip
    return replace(made, rows=(*made.rows[:-1], replace(made.rows[-1], begins=True)))


def _cells(language: LanguageDescription) -> Sequence[Cell]:
    relevant, span = Cell(MISSING), MISSING
    if language.relevant_mean is not None:
        relevant = Cell(f"{language.relevant_mean:.2f}", value=language.relevant_mean)
        span = f"{language.relevant_least}–{language.relevant_most}"
    return (
        Cell(language.language),
        Cell.count(language.n_questions),
        Cell.count(language.n_candidates),
        relevant,
        Cell(f"{language.pool_share:.1%}", value=language.pool_share),
        Cell.count(language.n_own_language),
        Cell.count(language.n_repeated_texts),
        Cell(span),
    )


def _sentences(found: PoolDescription) -> list[str]:
    articles = "" if found.n_articles is None else f" and {counted(found.n_articles, 'article')}"
    sentences = [
        "relevant: answers of any language, mean per question; own language: questions with one in theirs",
        f"{counted(found.n_clusters, 'cluster')}{articles} with questions",
        f"{counted(found.n_irrelevant, 'candidate answers', 'candidates answer')} nothing; "
        f"texts in several languages: {found.n_shared_texts:,}",
    ]
    parts = (
        f"{name or '(none)'}: {counted(counts['questions'], 'question')}, "
        f"{counted(counts['candidates'], 'candidate')}"
        for name, counts in found.splits.items()
    )
    return [*sentences, *([f"splits: {'; '.join(parts)}"] if found.splits else [])]


def _made(pool: MultilingualPool, facts: Sequence[LanguageFacts]) -> Page:
    """Return the counts of the files, by language."""
    rows = []
    for fact in facts:
        code = pool.languages.index(fact.language)
        n_questions, n_candidates = (
            int((texts.language == code).sum()) for texts in (pool.questions, pool.candidates)
        )
        counts = (n_questions, n_candidates, fact.paragraphs, fact.segmented, fact.crossing, fact.gaps)
        rows.append((fact.language, *map(Cell.count, counts)))
    heads = ("questions", "candidates", "paragraphs", "made here", "crossing answers", "gaps")
    rule = f"made here: paragraphs that had no sentence breaks; the rules: {address('reference/pools')}"
    notes = (rule,) if any(fact.segmented for fact in facts) else ()
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
    import numpy as np

    n, m, relevant = len(pool.questions), len(pool.candidates), len(pool.relevant[0])
    counts = (
        np.bincount(texts.language, minlength=len(pool.languages)).tolist()
        for texts in (pool.questions, pool.candidates)
    )
    rows = [
        (tag, Cell.count(n_questions), Cell.count(n_candidates), f"{n_candidates / m:.1%}")
        for tag, n_questions, n_candidates in zip(pool.languages, *counts, strict=True)
    ]
    title = f"{n:,} questions, {m:,} candidates, {relevant / n:.2f} relevant to a question"
    table = Table.of_texts(title, ("language", "questions", "candidates", "share"), rows, where="both")
    return Page.of("pool", title, [table])
