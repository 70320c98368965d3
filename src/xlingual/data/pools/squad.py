"""SQuAD-style JSON (v1.1 and 2.0), one file per language, as a pool.

Every sentence of every paragraph is a candidate, identified by its position; the relevant one of an answer is
the first whose break satisfies start ≤ answer_start < end (offsets count Python code points).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from xlingual.data.pools.build import build_pool, joined
from xlingual.data.pools.rows import Candidates, PoolRows, Questions
from xlingual.data.pools.segment import sentence_breaks
from xlingual.data.rows import numbered, parsed, read_bytes
from xlingual.errors import InputError, listed
from xlingual.results.provenance import note_file

# Stricter than elsewhere: file names are full of short words.
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_WORDS = {"dev", "val", "all", "new", "old", "raw", "out", "qa", "of", "to", "the", "set"}  # and no language
_LAYOUT = 'a SQuAD-style file: {"data": [{"title", "paragraphs": [{"context", "qas": [...]}]}]}'
Breaks = Sequence[tuple[int, int]]


@dataclass
class LanguageFacts:
    """Counts of oddities in one file."""

    language: str
    source: str
    paragraphs: int = 0
    segmented: int = 0  # paragraphs whose breaks were made here
    impossible: int = 0  # questions that say they have no answer
    crossing: int = 0  # answers that end beyond the sentence in which they begin
    misplaced: int = 0  # answers that the context does not have where they say
    gaps: int = 0  # stretches outside every break that are not whitespace
    gap_characters: int = 0
    differing: int = 0  # sentences that are not their slice of the context
    ids: set[str] = field(default_factory=set, repr=False)


@dataclass(frozen=True)
class _Paragraph:
    place: tuple[int, int, int]  # language, article, number within it; from 0
    context: str
    sentences: list[str]
    questions: list[tuple[str, str, set[int]]]  # id, text, the sentences in which its answers begin


_ODDITIES = {
    "impossible": ("questions that say they have no answer (is_impossible)", "they are left out"),
    "gap_characters": ("characters outside every sentence break", "no candidate has them"),
    "differing": ("sentences that differ from their slice of the context", "the sentence is the text"),
    "crossing": ("answers that cross a sentence break", "relevant is the sentence in which they begin"),
    "misplaced": ("answers that the context does not have at answer_start", "count code points, from 0"),
}


def squad_files(given: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """Return (language, file) for files, `LANG=FILE`, and folders, which count as all their `*.json`."""
    files: list[tuple[str, Path]] = []
    for word in map(str, given):
        tag, sign, name = word.partition("=")
        named = sign and _is_tag(tag) and not Path(word).exists()  # a file whose own name holds "=" is itself
        path = Path(name if named else word)
        if path.is_dir() and not named:
            inside = sorted(file for file in path.glob("*.json") if file.is_file())
            if not inside:
                raise InputError(f"{path} holds no *.json: give SQuAD-style files, one for each language")
            files += [(language_of(file), file) for file in inside]
        elif not path.is_file():
            raise InputError(f"{path}: no such file: give SQuAD-style JSON files, or a folder of them")
        else:
            files.append((tag if named else language_of(path), path))
    if not files:
        raise InputError("no file is given: give SQuAD-style JSON files, or a folder of them")
    first: dict[str, Path] = {}
    for language, path in files:
        if language in first:
            raise InputError(
                f"{first[language]} and {path} are both in {language!r}: give one file for each language, or "
                "say LANG=FILE"
            )
        first[language] = path
    return files


def language_of(path: Path) -> str:
    """Return the language in a file's name; raise InputError where it has none or several.

    It is the stem if that is a language tag (`zh-Hant.json`), else the one tag among its pieces between dots
    and hyphens (`xquad.ar.json`, `dev-context-ar-question-ar.json`).
    """
    if _is_tag(path.stem):
        return path.stem
    parts = path.stem.split(".")
    pieces = [piece for part in parts for piece in ([part] if _is_tag(part) else part.split("-"))]
    short = {piece for piece in pieces if _is_tag(piece) and (len(piece) != 3 or piece == pieces[-1])}
    if len(short) == 1:
        return short.pop()
    what = f"several ({listed(sorted(short))})" if short else "none"
    raise InputError(f"{path}: its name should hold one language but holds {what}: write LANG={path}")


def _is_tag(word: str) -> bool:
    return _TAG.fullmatch(word) is not None and word.split("-")[0].lower() not in _WORDS


def pool_of_squad(
    files: Sequence[tuple[str, Path]],
    source: str,
    languages: Sequence[str] | None = None,
    split: str | None = None,
    *,
    segment: bool = False,
) -> tuple[PoolRows, tuple[LanguageFacts, ...]]:
    """Return the pool of (language, file) pairs, with a warning for each kind of oddity, and the counts.

    With `segment`, contexts without sentence breaks are given some. Raises InputError, with file, paragraph
    and question, where a file is not what it must be.
    """
    facts = tuple(LanguageFacts(language, str(path)) for language, path in files)
    paragraphs = [p for code, own in enumerate(facts) for p in _paragraphs(own, code, segment=segment)]
    asked = [(p, question) for p in paragraphs for question in p.questions]
    if not asked:
        paths = listed((path for _, path in files), 3)
        raise InputError(f"{paths}: no question with an answer: give a file that has some")
    # Questions in several languages are parallel where their ids are equal, and so are what they are about:
    # files may list the same paragraphs in different orders.
    row_of = {id(p): row for row, p in enumerate(paragraphs)}
    owner = np.array([row_of[id(p)] for p, _ in asked], dtype=np.int64)
    ids = [name for _, (name, _, _) in asked]
    labels = []
    for depth in (3, 2):  # paragraphs, articles
        number, _ = numbered(p.place[:depth] for p in paragraphs)
        labels.append(joined(number[owner], ids, size=int(number.max()) + 1)[number])
    cluster, article = labels
    sentences = [(p, row, at) for row, p in enumerate(paragraphs) for at in range(len(p.sentences))]
    questions = Questions(
        ids=ids,
        language=np.array([p.place[0] for p, _ in asked], dtype=np.int64),
        text=[text for _, (_, text, _) in asked],
        key=ids,
        cluster=cluster[owner],
        article=article[owner],
    )
    candidates = Candidates(
        ids=[f"{p.place[1]}.{p.place[2]}.{at}" for p, _, at in sentences],
        language=np.array([p.place[0] for p, _, _ in sentences], dtype=np.int64),
        text=[p.sentences[at] for p, _, at in sentences],
        context=[p.context for p, _, _ in sentences],
        keys=[tuple(name for name, _, places in p.questions if at in places) for p, _, at in sentences],
        cluster=cluster[[row for _, row, _ in sentences]],
    )
    tags = tuple(language for language, _ in files)
    used = [own for own in facts if languages is None or own.language in languages]
    notes = []
    for name, (words, remark) in _ODDITIES.items():
        counts = {own.language: getattr(own, name) for own in used}
        if total := sum(counts.values()):
            each = ", ".join(f"{tag} {number}" for tag, number in counts.items() if number)
            notes.append(f"{source}: {words}: {total} [{each}]; {remark}")
    pool = build_pool(source, tags, questions, candidates, languages, split, notes=notes)
    return pool, facts


def _paragraphs(facts: LanguageFacts, code: int, *, segment: bool) -> list[_Paragraph]:
    """Return the paragraphs of one file."""
    path = Path(facts.source)
    content = parsed(read_bytes(path), facts.source)
    note_file("pool", path)
    articles = content.get("data") if isinstance(content, dict) else None
    if not _all_of(articles, dict):
        raise InputError(f"{path} has another layout than expected: {_LAYOUT}")
    paragraphs = []
    for a, article in enumerate(articles):
        title = article.get("title")
        named = f" {title!r:.60}" if isinstance(title, str) and title else ""
        where, own = f"{path}, article {a + 1}{named}", article.get("paragraphs")
        if not _all_of(own, dict):
            raise InputError(f"{where}: found {own!r:.60} where paragraphs are expected: it is not {_LAYOUT}")
        for p, entry in enumerate(own):
            place = (code, a, p)
            paragraphs.append(_paragraph(entry, f"{where}, paragraph {p + 1}", facts, place, segment=segment))
    facts.paragraphs = len(paragraphs)
    return paragraphs


def _paragraph(
    entry: Mapping[str, Any], where: str, facts: LanguageFacts, place: tuple[int, int, int], *, segment: bool
) -> _Paragraph:
    context = _text(entry.get("context"), "context", where)
    given, qas = entry.get("sentence_breaks"), entry.get("qas")
    if given is None and not segment:
        raise InputError(
            f"{where} has no 'sentence_breaks': make a pool of the file with: xlingual data squad-to-pool"
        )
    if given is None and entry.get("sentences") is not None:
        raise InputError(
            f"{where} has 'sentences' but no 'sentence_breaks': add the breaks, or remove the sentences"
        )
    facts.segmented += given is None
    breaks = sentence_breaks(context, facts.language) if given is None else _breaks(given, context, where)
    for (_, end), (start, _) in pairwise([(0, 0), *breaks, (len(context), 0)]):
        characters = sum(not character.isspace() for character in context[end:start])
        facts.gaps += characters > 0
        facts.gap_characters += characters
    slices = [context[start:end] for start, end in breaks]
    sentences = entry.get("sentences", slices) if given is not None else slices
    sentences = slices if sentences is None else sentences
    if not _all_of(sentences, str) or len(sentences) != len(breaks):
        raise InputError(
            f"{where}: 'sentences' should be {len(breaks)} texts, one for each sentence break: mend them"
        )
    facts.differing += sum(text != part for text, part in zip(sentences, slices, strict=True))
    if not _all_of(qas, dict):
        raise InputError(f"{where}: found {qas!r:.60} as 'qas': expected a list of questions")
    questions = []
    for question in qas:
        name = _text(question.get("id"), "id of a question", where)
        at = f"{where}, question {name!r:.80}"
        if name in facts.ids:
            raise InputError(f"{at}: this id was used before in this language: give each question its own")
        facts.ids.add(name)
        text = _text(question.get("question"), "question", at)
        if question.get("is_impossible") is True:
            facts.impossible += 1
            continue
        answers = question.get("answers")
        if not isinstance(answers, list) or not answers:
            raise InputError(f"{at} has no answers: give it one, or mark it as is_impossible")
        begun = {_sentence_of(own, at, context, breaks, facts, trim=given is None) for own in answers}
        questions.append((name, text, begun))
    return _Paragraph(place, context, sentences, questions)


def _breaks(given: object, context: str, where: str) -> Breaks:
    """Return the breaks; raise InputError where they overlap, are unsorted or leave the context."""
    breaks: list[tuple[int, int]] = []
    for number, pair in enumerate(given if isinstance(given, list) else [given], 1):
        at = f"{where}, sentence break {number}"
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(offset) is int for offset in pair)):
            raise InputError(f"{at}: {pair!r:.60} is not [start, end]")
        start, end = pair
        if not 0 <= start <= end <= len(context):
            raise InputError(
                f"{at}: [{start}, {end}] leaves the context of {len(context)} characters: count code points"
            )
        if breaks and start < breaks[-1][1]:
            fault = "overlaps" if end > breaks[-1][0] else "stands behind"
            raise InputError(
                f"{at}: [{start}, {end}] {fault} {[*breaks[-1]]} before it: sort the breaks, without overlaps"
            )
        breaks.append((start, end))
    return breaks


def _sentence_of(
    answer: object, where: str, context: str, breaks: Breaks, facts: LanguageFacts, *, trim: bool
) -> int:
    """Return the number of the sentence in which an answer begins."""
    fields = answer if isinstance(answer, dict) else {}
    start, text = fields.get("answer_start"), fields.get("text")
    if type(start) is not int or not isinstance(text, str):
        raise InputError(f"{where}: an answer needs 'text' and a whole number as 'answer_start'")
    facts.misplaced += context[start : start + len(text)] != text if start >= 0 else 1
    begin = start
    while trim and 0 <= begin < len(context) - 1 and context[begin].isspace():
        begin += 1  # sentences that are made here have no whitespace at their ends
    number = bisect_right(breaks, (begin, len(context))) - 1
    while number > 0 and breaks[number - 1][0] <= begin < breaks[number - 1][1]:
        number -= 1
    if number < 0 or not breaks[number][0] <= begin < breaks[number][1]:
        raise InputError(
            f"{where}: no sentence holds the answer that begins at character {start}: mend answer_start or "
            "the sentence breaks"
        )
    facts.crossing += start + len(text.rstrip()) > breaks[number][1]
    return number


def _text(value: object, what: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: found {value!r:.60} as {what}: expected a text that is not empty")
    return value


def _all_of(value: Any, kind: type) -> TypeGuard[list[Any]]:  # noqa: ANN401
    return isinstance(value, list) and all(isinstance(entry, kind) for entry in value)
