"""SQuAD-style JSON (v1.1 and 2.0), one file per language, as the rows of a pool.

Every sentence of every paragraph is a candidate, told apart by its position; the relevant one of an answer is
the first whose break satisfies start ≤ answer_start < end (offsets count Python code points).
"""

from __future__ import annotations

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


@dataclass(frozen=True, eq=False)
class SquadRows:
    """All rows of the files, language by language, and what in the files deserves a look."""

    languages: tuple[str, ...]
    questions: Questions
    candidates: Candidates
    facts: tuple[LanguageFacts, ...]  # one for each language


def read_squad(files: Sequence[tuple[str, Path]], *, segment: bool = False) -> SquadRows:
    """Read (language, file) pairs. With `segment`, contexts without sentence breaks are given some.

    Raise InputError, with file, paragraph and question, where a file is not what it must be.
    """
    languages = tuple(language for language, _ in files)
    paragraphs, facts = [], []
    for code, (language, path) in enumerate(files):
        found, fact = read_paragraphs(path, language, code, segment=segment)
        paragraphs += found
        facts.append(fact)
    # Questions in several languages are parallel where their ids are equal, and so are what they are about:
    # files may list the same paragraphs in different orders.
    cluster = _components(paragraphs, [(p.language, p.article, p.number) for p in paragraphs])
    article = _components(paragraphs, [(p.language, p.article) for p in paragraphs])
    return SquadRows(
        languages, _questions(paragraphs, cluster, article), _candidates(paragraphs, cluster), tuple(facts)
    )


def warning_sentences(source: str, facts: Sequence[LanguageFacts]) -> list[str]:
    """Return what in the files deserves a look, one sentence each, with the count of each language."""

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
    asked = [question for paragraph in paragraphs for question in paragraph.questions]
    return Questions(
        ids=[question.id for question in asked],
        language=np.repeat(np.array([p.language for p in paragraphs], dtype=np.int64), counts),
        text=[question.text for question in asked],
        key=[question.id for question in asked],
        cluster=np.repeat(cluster, counts),
        article=np.repeat(article, counts),
    )


def _candidates(paragraphs: Sequence[Paragraph], cluster: Ints) -> Candidates:
    counts = [len(paragraph.sentences) for paragraph in paragraphs]
    keys: list[tuple[str, ...]] = []
    for paragraph in paragraphs:
        held: list[list[str]] = [[] for _ in paragraph.sentences]
        for question in paragraph.questions:
            for sentence in question.sentences:
                held[sentence].append(question.id)
        keys += map(tuple, held)
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


def refuse_without_questions(rows: SquadRows, paths: Sequence[Path]) -> None:
    """Raise InputError where the files hold no question that has an answer."""
    if not len(rows.questions):
        raise InputError(f"{listed(paths, 3)}: no question with an answer: give a file that has some")
