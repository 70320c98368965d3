"""The paragraphs of one SQuAD-style file, checked."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard

from xlingual.data.pools.segment import sentence_breaks
from xlingual.data.reading.problems import first_line
from xlingual.data.reading.values import described, encodes
from xlingual.errors import InputError

_LAYOUT = 'a SQuAD-style file: {"data": [{"title", "paragraphs": [{"context", "qas": [...]}]}]}'


@dataclass(frozen=True)
class Question:
    """A question and the numbers of the sentences in which its answers begin, ascending."""

    id: str
    text: str
    sentences: tuple[int, ...]


@dataclass(frozen=True)
class Paragraph:
    """A context, its sentences, and the questions about it; numbers count from 0."""

    language: int  # the number of its file
    article: int
    number: int  # within the article
    context: str
    sentences: list[str]
    questions: list[Question]


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


def read_paragraphs(
    path: Path, language: str, code: int, *, segment: bool
) -> tuple[list[Paragraph], LanguageFacts]:
    """Read one file; raise InputError with file, paragraph and question where it is not what it must be."""
    facts = LanguageFacts(language, str(path))
    found = []
    for a, article in enumerate(_articles(path)):
        title = article.get("title")
        named = f" {title!r:.60}" if isinstance(title, str) and title else ""
        where, paragraphs = f"{path}, article {a + 1}{named}", article.get("paragraphs")
        if not _all_of(paragraphs, dict):
            raise InputError(
                f"{where}: found {described(paragraphs)} where paragraphs are expected: it is not {_LAYOUT}"
            )
        for p, content in enumerate(paragraphs):
            place = (code, a, p)
            found.append(_paragraph(content, f"{where}, paragraph {p + 1}", facts, place, segment))
    facts.paragraphs = len(found)
    return found, facts


def _articles(path: Path) -> list[Mapping[str, Any]]:
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({first_line(error)}): expected {_LAYOUT}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    articles = content.get("data") if isinstance(content, dict) else None
    if not _all_of(articles, dict):
        raise InputError(f"{path} has another layout than expected: {_LAYOUT}")
    return articles


def _paragraph(
    content: Mapping[str, Any], where: str, facts: LanguageFacts, place: tuple[int, int, int], segment: bool
) -> Paragraph:
    context = _text(content.get("context"), "context", where)
    given_breaks, qas = content.get("sentence_breaks"), content.get("qas")
    if given_breaks is None and not segment:
        raise InputError(
            f"{where} has no 'sentence_breaks': make a pool of the file with: xlingual data squad-to-pool"
        )
    if given_breaks is None and content.get("sentences") is not None:
        raise InputError(
            f"{where} has 'sentences' but no 'sentence_breaks': add the breaks, or remove the sentences"
        )
    facts.segmented += given_breaks is None
    breaks = (
        sentence_breaks(context, facts.language)
        if given_breaks is None
        else _breaks(given_breaks, context, where)
    )
    sentences = _sentences(content.get("sentences"), breaks, context, where, facts)
    _count_gaps(context, breaks, facts)
    if not _all_of(qas, dict):
        raise InputError(f"{where}: found {described(qas)} as 'qas': expected a list of questions")
    questions = (_question(entry, where, context, breaks, facts, given_breaks is None) for entry in qas)
    answerable = [question for question in questions if question is not None]
    return Paragraph(*place, context, sentences, answerable)


def _all_of(value: Any, kind: type) -> TypeGuard[list[Any]]:  # noqa: ANN401
    return isinstance(value, list) and all(isinstance(entry, kind) for entry in value)


def _breaks(given: object, context: str, where: str) -> list[tuple[int, int]]:
    """Return the breaks; raise InputError where they overlap, are unsorted or leave the context."""
    breaks: list[tuple[int, int]] = []
    for number, pair in enumerate(given if isinstance(given, list) else [given], 1):
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(offset) is int for offset in pair)):
            raise InputError(f"{where}, sentence break {number}: {pair!r:.60} is not [start, end]")
        start, end = pair
        if not 0 <= start <= end <= len(context):
            raise InputError(
                f"{where}, sentence break {number}: [{start}, {end}] leaves the context of {len(context)} "
                "characters: count code points"
            )
        if breaks and start < breaks[-1][1]:
            fault = "overlaps" if end > breaks[-1][0] else "stands behind"
            raise InputError(
                f"{where}, sentence break {number}: [{start}, {end}] {fault} {[*breaks[-1]]} before it: sort "
                "the breaks, without overlaps"
            )
        breaks.append((start, end))
    return breaks


def _sentences(
    given: object, breaks: list[tuple[int, int]], context: str, where: str, facts: LanguageFacts
) -> list[str]:
    slices = [context[start:end] for start, end in breaks]
    if given is None:
        return slices
    if not _all_of(given, str):
        raise InputError(f"{where}: 'sentences' is not a list of texts")
    if len(given) != len(breaks):
        raise InputError(
            f"{where} has {len(given)} sentences but {len(breaks)} sentence breaks: give one for each"
        )
    for sentence in given:
        _check_characters(sentence, where)
    facts.differing += sum(sentence != part for sentence, part in zip(given, slices, strict=True))
    return given


def _count_gaps(context: str, breaks: list[tuple[int, int]], facts: LanguageFacts) -> None:
    for (_, end), (start, _) in pairwise([(0, 0), *breaks, (len(context), 0)]):
        characters = sum(not character.isspace() for character in context[end:start])
        facts.gaps += characters > 0
        facts.gap_characters += characters


def _question(
    entry: Mapping[str, Any],
    where: str,
    context: str,
    breaks: list[tuple[int, int]],
    facts: LanguageFacts,
    segmented: bool,
) -> Question | None:
    """Return a question; None where it says that it has no answer."""
    name = _text(entry.get("id"), "id of a question", where)
    where = f"{where}, question {name!r:.80}"
    if name in facts.ids:
        raise InputError(f"{where}: this id was used before in this language: give each question its own")
    facts.ids.add(name)
    text = _text(entry.get("question"), "question", where)
    if entry.get("is_impossible") is True:
        facts.impossible += 1
        return None
    answers = entry.get("answers")
    if not isinstance(answers, list) or not answers:
        raise InputError(f"{where} has no answers: give it one, or mark it as is_impossible")
    places = {_sentence_of(answer, where, context, breaks, facts, segmented) for answer in answers}
    return Question(name, text, tuple(sorted(places)))


def _sentence_of(
    answer: object,
    where: str,
    context: str,
    breaks: list[tuple[int, int]],
    facts: LanguageFacts,
    segmented: bool,
) -> int:
    """Return the number of the sentence in which an answer begins."""
    fields = answer if isinstance(answer, dict) else {}
    start, text = fields.get("answer_start"), fields.get("text")
    if type(start) is not int or not isinstance(text, str):
        raise InputError(f"{where}: an answer needs 'text' and a whole number as 'answer_start'")
    facts.misplaced += context[start : start + len(text)] != text if start >= 0 else 1
    begin = start
    while segmented and 0 <= begin < len(context) - 1 and context[begin].isspace():
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
        raise InputError(f"{where}: found {described(value)} as {what}: expected a text that is not empty")
    _check_characters(value, where)
    return value


def _check_characters(text: str, where: str) -> None:
    """Raise InputError for half a surrogate pair, which JSON can spell but no file can hold as UTF-8."""
    if not encodes(text):
        raise InputError(
            f"{where}: half of a surrogate pair (\\ud800 … \\udfff) is no character: write it whole"
        )
