"""SQuAD-style JSON (v1.1 and 2.0), one file per language, as a pool.

Every sentence of every paragraph is a candidate, identified by its position; the relevant one of an answer is
the first whose break satisfies start ≤ answer_start < end (offsets count Python code points).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from xlingual.data.languages import TAG
from xlingual.data.pools.rows import Candidates, Questions, Rows, joined
from xlingual.data.rows import numbered, parsed, read_bytes
from xlingual.errors import InputError, MissingExtraError, listed
from xlingual.languages import name_of
from xlingual.results.provenance import note_file

_SPACE = re.compile(r"[^\S\x00-\x7f]")  # whitespace beyond ASCII, such as the no-break space
Breaks = Sequence[tuple[int, int]]
Facts = dict[str, Counter[str]]  # by language: paragraphs, segmented (breaks made here), gaps, and oddities

_ODDITIES = {
    "impossible": ("questions that say they have no answer (is_impossible)", "they are left out"),
    "gap characters": ("characters outside every sentence break", "no candidate has them"),
    "differing": ("sentences that differ from their slice of the context", "the sentence is the text"),
    "crossing": ("answers that cross a sentence break", "relevant is the sentence in which they begin"),
    "misplaced": ("answers that the context does not have at answer_start", "count code points, from 0"),
}


class _Paragraph(NamedTuple):
    place: tuple[int, int, int]  # language, article, number within it; from 0
    context: str
    sentences: list[str]
    questions: list[tuple[str, str, set[int]]]  # id, text, the sentences in which its answers begin


def is_squad(path: Path) -> bool:
    """Whether a file looks like SQuAD-style JSON, and not like a manifest of JSON lines or an array."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(1 << 16)
    return head.lstrip().startswith(b"{") and (b'"data"' in head or b'"paragraphs"' in head)


def squad_files(names: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """List (language, file) of files, `LANG=FILE`, and folders, which count as all their `*.json`."""
    files: dict[str, Path] = {}
    for word in map(str, names):
        tag, sign, name = word.partition("=")
        named = bool(sign) and TAG.fullmatch(tag) is not None and not Path(word).exists()
        path = Path(name if named else word)
        inside = [path] if named or not path.is_dir() else sorted(filter(Path.is_file, path.glob("*.json")))
        for file in inside:
            if not file.is_file():
                raise InputError(f"{file}: no such file: give SQuAD-style JSON files, or a folder of them")
            language = tag if named else language_of(file)
            if language in files:
                raise InputError(
                    f"{files[language]} and {file} are both in {language!r}: give one file for each "
                    "language, or say LANG=FILE"
                )
            files[language] = file
    if not files:
        raise InputError(
            f"{listed(map(str, names)) or 'no file'} holds no *.json: give SQuAD-style JSON files"
        )
    return list(files.items())


def language_of(path: Path) -> str:
    """Find the language in a file's name; raise InputError where it has none or several.

    It is the one language among its pieces between dots and hyphens (`zh-Hant`, `xquad.ar`,
    `dev-context-ar-question-ar`).
    """
    parts = [path.stem] if _is_language(path.stem) else path.stem.split(".")
    pieces = {piece for part in parts for piece in ([part] if _is_language(part) else part.split("-"))}
    tags = [*filter(_is_language, pieces)]
    if len(tags) != 1:
        holds = f"several ({listed(sorted(tags))})" if tags else "none"
        raise InputError(f"{path}: its name should hold one language but holds {holds}: write LANG={path}")
    return tags[0]


def _is_language(word: str) -> bool:
    return TAG.fullmatch(word) is not None and name_of(word) is not None


def read_squad(
    files: Sequence[tuple[str, Path]],
    source: str,
    languages: Sequence[str] | None = None,
    *,
    segment: bool = False,
) -> tuple[Rows, Facts]:
    """Read the rows of (language, file) pairs, with a note for each kind of oddity, and counts.

    With `segment`, contexts without sentence breaks are given some. `languages` are those that the notes
    speak of. Raises InputError, with file, paragraph and question, where a file is not what it must be.
    """
    facts: Facts = {language: Counter() for language, _ in files}
    paragraphs = [
        paragraph
        for code, (language, path) in enumerate(files)
        for paragraph in _paragraphs(path, code, language, facts[language], segment=segment)
    ]
    asked = [(row, question) for row, p in enumerate(paragraphs) for question in p.questions]
    if not asked:
        paths = listed((path for _, path in files), 3)
        raise InputError(f"{paths}: no question with an answer: give a file that has some")
    # Questions in several languages are parallel where their ids are equal, and so are what they are about:
    # files may list the same paragraphs in different orders.
    owner = np.array([row for row, _ in asked], dtype=np.int64)
    ids = [name for _, (name, _, _) in asked]
    labels = []
    for depth in (3, 2):  # paragraphs, articles
        number, _ = numbered(p.place[:depth] for p in paragraphs)
        labels.append(joined(number[owner], ids, size=int(number.max()) + 1)[number])
    cluster, article = labels
    sentences = [(p, row, at) for row, p in enumerate(paragraphs) for at in range(len(p.sentences))]
    questions = Questions(
        ids=ids,
        language=np.array([paragraphs[row].place[0] for row, _ in asked], dtype=np.int64),
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
    notes = []
    for name, (words, remark) in _ODDITIES.items():
        used = {tag: of for tag, of in facts.items() if of[name] and (languages is None or tag in languages)}
        if used:
            each = ", ".join(f"{tag} {of[name]}" for tag, of in used.items())
            total = sum(of[name] for of in used.values())
            notes.append(f"{source}: {words}: {total} [{each}]; {remark}")
    return Rows(tuple(facts), questions, candidates, tuple(notes)), facts


def _paragraphs(
    path: Path, code: int, language: str, facts: Counter[str], *, segment: bool
) -> list[_Paragraph]:
    """Read the paragraphs of one file."""
    content, seen, paragraphs = parsed(read_bytes(path), str(path)), set[str](), []
    note_file("pool", path)
    articles = content.get("data") if isinstance(content, dict) else None
    for a, article in enumerate(articles if _all_of(articles, dict) else [{}]):
        title, entries = article.get("title"), article.get("paragraphs")
        where = f"{path}, article {a + 1}" + (f" {title!r:.60}" if isinstance(title, str) and title else "")
        if not _all_of(entries, dict):
            raise InputError(
                f"{where}: found {entries!r:.60} where paragraphs are expected: it is no SQuAD-style file: "
                '{"data": [{"title", "paragraphs": [{"context", "qas": [...]}]}]}'
            )
        for p, entry in enumerate(entries):
            at = f"{where}, paragraph {p + 1}"
            context, qas = _text(entry.get("context"), "context", at), entry.get("qas")
            breaks, sentences = _sentences(entry, at, context, language, facts, segment=segment)
            if not _all_of(qas, dict):
                raise InputError(f"{at}: found {qas!r:.60} as 'qas': expected a list of questions")
            questions = []
            for question in qas:
                name = _text(question.get("id"), "id of a question", at)
                in_question, answers = f"{at}, question {name!r:.80}", question.get("answers")
                text = _text(question.get("question"), "question", in_question)
                if name in seen:
                    raise InputError(f"{in_question}: this id was used before in this language: change it")
                seen.add(name)
                if question.get("is_impossible") is True:
                    facts["impossible"] += 1
                    continue
                if not _all_of(answers, dict) or not answers:
                    raise InputError(f"{in_question} has no answers: give one, or mark it as is_impossible")
                places = {_sentence_of(answer, in_question, context, breaks, facts) for answer in answers}
                questions.append((name, text, places))
            paragraphs.append(_Paragraph((code, a, p), context, sentences, questions))
    return paragraphs


def _sentences(
    entry: Mapping[str, Any], where: str, context: str, language: str, facts: Counter[str], *, segment: bool
) -> tuple[Breaks, list[str]]:
    """Read or find the sentence breaks of a paragraph, and take the sentences."""
    offsets, sentences = entry.get("sentence_breaks"), entry.get("sentences")
    is_segmented = offsets is None and sentences is None and segment
    if offsets is None and not is_segmented:
        raise InputError(
            f"{where} has no 'sentence_breaks': add them, or leave 'sentences' out and make a pool by: "
            "xlingual data squad-to-pool"
        )
    if is_segmented:
        offsets = [*map(list, sentence_breaks(context, language))]
    last, breaks = 0, list[tuple[int, int]]()
    for number, pair in enumerate(offsets if isinstance(offsets, list) else [offsets], 1):
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(type(offset) is int for offset in pair)
        if not is_pair or not last <= pair[0] <= pair[1] <= len(context):
            raise InputError(
                f"{where}, sentence break {number}: {pair!r:.60} is no [start, end] between {last}, where "
                f"the break before it ends, and {len(context)}, where the context ends: sort the breaks, "
                "without overlaps, and count code points"
            )
        characters = sum(not character.isspace() for character in context[last : pair[0]])
        facts.update({"gaps": characters > 0, "gap characters": characters})
        last = pair[1]
        breaks.append((pair[0], last))
    characters = sum(not character.isspace() for character in context[last:])
    facts.update({"gaps": characters > 0, "gap characters": characters})
    slices = [context[start:end] for start, end in breaks]
    sentences = slices if sentences is None else sentences
    if not _all_of(sentences, str) or len(sentences) != len(breaks):
        raise InputError(
            f"{where}: 'sentences' should be {len(breaks)} texts, one for each sentence break: mend them"
        )
    facts.update(paragraphs=1, segmented=is_segmented)
    facts["differing"] += sum(text != part for text, part in zip(sentences, slices, strict=True))
    return breaks, sentences


def _sentence_of(
    answer: Mapping[str, Any], where: str, context: str, breaks: Breaks, facts: Counter[str]
) -> int:
    """Find the sentence in which an answer begins."""
    start, text = answer.get("answer_start"), answer.get("text")
    if type(start) is not int or not isinstance(text, str):
        raise InputError(f"{where}: an answer needs 'text' and a whole number as 'answer_start'")
    facts["misplaced"] += start < 0 or context[start : start + len(text)] != text
    for begin in (start, start + len(text) - len(text.lstrip())):
        for number, (first, end) in enumerate(breaks):
            if first <= begin < end:
                facts["crossing"] += start + len(text.rstrip()) > end
                return number
    raise InputError(
        f"{where}: no sentence holds the answer that begins at character {start}: mend answer_start or the "
        "sentence breaks"
    )


def _text(value: object, what: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: found {value!r:.60} as {what}: expected a text that is not empty")
    return value


def _all_of(value: Any, kind: type) -> TypeGuard[list[Any]]:  # noqa: ANN401
    return isinstance(value, list) and all(isinstance(entry, kind) for entry in value)


def sentence_breaks(context: str, language: str) -> list[tuple[int, int]]:
    """Find [start, end) of each sentence in code points, without whitespace at its ends, none overlapping.

    They are found by the rules of `sentencex` (Wikimedia). Every character but whitespace lies in a sentence.
    Raises InputError for Thai, of whose sentences rules find a fifth, and MissingExtraError without the extra
    `segment`.
    """
    if language.split("-")[0].lower() == "th":
        raise InputError(
            f"Thai ({language}) has no punctuation that ends sentences, so none are found by rules: give "
            "each paragraph 'sentence_breaks'"
        )
    try:
        from sentencex import segment
    except ImportError:
        raise MissingExtraError("finding sentences in a file without sentence_breaks", "segment") from None
    # The library (1.0) takes whitespace for single bytes in some languages and panics on others: it gets
    # ASCII ones, one for one, so that offsets stay.
    plain = _SPACE.sub(lambda space: "\n" if space.group() in "\u2028\u2029" else " ", context)
    try:
        sentences = segment(language, plain)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3's, which is no Exception
            raise
        raise InputError(
            f"sentencex fails on the text {context!r:.60} ({language}): give it sentence_breaks"
        ) from None
    ends, position = [], 0
    for sentence in sentences:
        place = plain.find(sentence, position)
        if place >= 0:  # should the library change a character, the sentence goes on
            position = place + len(sentence)
            ends.append(position)
    breaks, start = [], 0
    for end in (*ends, len(context)):
        part = context[start:end]
        if part.strip():
            breaks.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        start = max(start, end)
    return breaks
