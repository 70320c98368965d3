"""SQuAD-style JSON (v1.1 and 2.0), one file per language, as the rows of a pool.

Every sentence of every paragraph is a candidate, identified by its position; the relevant one of an answer is
the first whose break satisfies start ≤ answer_start < end (offsets count Python code points).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.clusters import joined
from xlingual.data.pools.paragraphs import LanguageFacts, Paragraph, read_paragraphs
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.reading.values import numbered
from xlingual.errors import InputError, listed
from xlingual.results.provenance import note_file

# Stricter than elsewhere: file names are full of short words.
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_WORDS = {"dev", "val", "all", "new", "old", "raw", "out", "qa", "of", "to", "the", "set"}  # and no language


def squad_files(given: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """Return (language, file) for files, `LANG=FILE`, and folders, which count as all their `*.json`.

    Raise InputError where a file is missing, its language is not known, or two are in one language.
    """
    found: list[tuple[str, Path]] = []
    for word in given:
        language, path = _named(str(word))
        if path.is_dir() and language is None:
            found += [(language_of(file), file) for file in json_files(path)]
        elif not path.is_file():
            raise InputError(f"{path}: no such file: give SQuAD-style JSON files, or a folder of them")
        else:
            found.append((language or language_of(path), path))
    if not found:
        raise InputError("no file is given: give SQuAD-style JSON files, or a folder of them")
    first: dict[str, Path] = {}
    for language, path in found:
        if language in first:
            raise InputError(
                f"{first[language]} and {path} are both in {language!r}: give one file for each language, "
                "or say LANG=FILE"
            )
        first[language] = path
    return found


def json_files(folder: Path) -> list[Path]:
    """Return the `*.json` of a folder by name; raise InputError where it has none."""
    files = sorted(path for path in folder.glob("*.json") if path.is_file())
    if not files:
        raise InputError(f"{folder} holds no *.json: give SQuAD-style files, one for each language")
    return files


def language_of(path: Path) -> str:
    """Return the language in a file's name; raise InputError where it has none or several.

    It is the stem if that is a language tag (`zh-Hant.json`), else the one tag among its pieces between dots
    and hyphens (`xquad.ar.json`, `dev-context-ar-question-ar.json`).
    """
    if is_tag(path.stem):
        return path.stem
    parts = path.stem.split(".")
    pieces = [piece for part in parts for piece in ([part] if is_tag(part) else part.split("-"))]
    short = {piece for piece in pieces if is_tag(piece) and (len(piece) != 3 or piece == pieces[-1])}
    if len(short) == 1:
        return short.pop()
    what = f"several ({listed(sorted(short))})" if short else "none"
    raise InputError(f"{path}: its name should hold one language but holds {what}: write LANG={path}")


def is_tag(word: str) -> bool:
    """Return whether a word of a file name is a language tag."""
    return _TAG.fullmatch(word) is not None and word.split("-")[0].lower() not in _WORDS


def _named(word: str) -> tuple[str | None, Path]:
    """Return the language and the path of `LANG=FILE`; a file whose own name holds "=" is found as it is."""
    language, sign, path = word.partition("=")
    if sign and is_tag(language) and not Path(word).exists():
        return language, Path(path)
    return None, Path(word)


@dataclass(frozen=True, eq=False)
class SquadRows:
    """All rows of the files, language by language, and counts of oddities in the files."""

    languages: tuple[str, ...]
    questions: Questions
    candidates: Candidates
    facts: tuple[LanguageFacts, ...]  # one for each language


def read_squad(files: Sequence[tuple[str, Path]], *, segment: bool = False) -> SquadRows:
    """Read (language, file) pairs. With `segment`, contexts without sentence breaks are given some.

    Raise InputError, with file, paragraph and question, where a file is not what it must be.
    """
    read = [
        read_paragraphs(path, language, code, segment=segment) for code, (language, path) in enumerate(files)
    ]
    for _, path in files:
        note_file("pool", path)
    paragraphs = [paragraph for found, _ in read for paragraph in found]
    # Questions in several languages are parallel where their ids are equal, and so are what they are about:
    # files may list the same paragraphs in different orders.
    cluster = _components(paragraphs, [(p.language, p.article, p.number) for p in paragraphs])
    article = _components(paragraphs, [(p.language, p.article) for p in paragraphs])
    return SquadRows(
        tuple(language for language, _ in files),
        _questions(paragraphs, cluster, article),
        _candidates(paragraphs, cluster),
        tuple(facts for _, facts in read),
    )


def warning_sentences(source: str, facts: Sequence[LanguageFacts]) -> list[str]:
    """Return the warnings about the files, one sentence each, with the count of each language."""

    def counted(name: str) -> str:
        counts = [(fact.language, getattr(fact, name)) for fact in facts]
        return ", ".join(f"{language} {count}" for language, count in counts if count)

    kinds = {
        "impossible": ("questions that say they have no answer (is_impossible)", "they are left out"),
        "gap_characters": ("characters outside every sentence break", "no candidate has them"),
        "differing": ("sentences that differ from their slice of the context", "the sentence is the text"),
        "crossing": ("answers that cross a sentence break", "relevant is the sentence in which they begin"),
        "misplaced": ("answers that the context does not have at answer_start", "count code points, from 0"),
    }
    return [
        f"{source}: {words}: {sum(getattr(fact, name) for fact in facts)} [{counted(name)}]; {remark}"
        for name, (words, remark) in kinds.items()
        if counted(name)
    ]


def _components(paragraphs: Sequence[Paragraph], nodes: Sequence[Hashable]) -> Ints:
    """Return, for each paragraph, the number of the component in which its node is joined by question ids."""
    number, _ = numbered(nodes)
    counts = [len(paragraph.questions) for paragraph in paragraphs]
    ids = [question.id for paragraph in paragraphs for question in paragraph.questions]
    return joined(np.repeat(number, counts), ids, size=int(number.max(initial=-1)) + 1)[number]


def _questions(paragraphs: Sequence[Paragraph], cluster: Ints, article: Ints) -> Questions:
    counts = [len(paragraph.questions) for paragraph in paragraphs]
    questions = [question for paragraph in paragraphs for question in paragraph.questions]
    return Questions(
        ids=[question.id for question in questions],
        language=np.repeat(np.array([p.language for p in paragraphs], dtype=np.int64), counts),
        text=[question.text for question in questions],
        key=[question.id for question in questions],
        cluster=np.repeat(cluster, counts),
        article=np.repeat(article, counts),
    )


def _candidates(paragraphs: Sequence[Paragraph], cluster: Ints) -> Candidates:
    counts = [len(paragraph.sentences) for paragraph in paragraphs]
    keys = [
        tuple(question.id for question in paragraph.questions if sentence in question.sentences)
        for paragraph in paragraphs
        for sentence in range(len(paragraph.sentences))
    ]
    return Candidates(
        ids=[
            f"{p.article}.{p.number}.{sentence}" for p in paragraphs for sentence in range(len(p.sentences))
        ],
        language=np.repeat(np.array([p.language for p in paragraphs], dtype=np.int64), counts),
        text=[sentence for paragraph in paragraphs for sentence in paragraph.sentences],
        context=[paragraph.context for paragraph in paragraphs for _ in paragraph.sentences],
        keys=keys,
        cluster=np.repeat(cluster, counts),
    )
