"""Retrieval folders of BEIR and MTEB as pools: every document is a candidate.

corpus.jsonl  queries.jsonl  qrels/test.tsv              BEIR; also .gz, .parquet, or folders of shards
en/corpus.jsonl …            de/corpus.jsonl …           one folder for each language
de-corpus/test-*.parquet  de-queries/…  de-qrels/…       MTEB's subsets; eng-deu-corpus: of two languages
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from xlingual.data.languages import tag_of
from xlingual.data.pools.build import clusters_by_id_or_key, clusters_of_candidates, no_split
from xlingual.data.pools.rows import Candidates, EqualIds, Questions
from xlingual.data.rows import ENDINGS, Row, is_missing, name_of, numbered, read_rows, text_of
from xlingual.data.runs.qrels import Qrels
from xlingual.errors import InputError, listed, parameter
from xlingual.languages import name_of as language_name
from xlingual.results.provenance import note_file

Rows: TypeAlias = tuple[tuple[str, ...], Questions, Candidates, tuple[str, ...]]  # languages …, warnings
Key = tuple[str, str]  # language, id
Files = dict[str, list[Path]]  # by split, "" for none

LAYOUT = "corpus, queries and qrels as BEIR and MTEB write them (corpus.jsonl, queries.jsonl, qrels/*.tsv)"
_STEMS = (("corpus",), ("queries", "query"), ("qrels", "default", "data"))
_SHARD = re.compile(r"(?P<split>.*?)(?:-[0-9]+-of-[0-9]+)?")
_PART = re.compile(r"(.+)-(?:corpus|queries|query)")
_PAIR = re.compile(r"(?P<corpus>[a-z]{2,3}(?:_[A-Z][a-z]{3})?)-(?P<query>[a-z]{2,3}(?:_[A-Z][a-z]{3})?)")
_COLUMNS = ("_id", "id", "docid", "title", "text", "language", "lang", "metadata")
_LOST = {
    "unknown documents": "judgements of documents that are not in the corpus",
    "unknown queries": "judged queries that are not among the queries",
    "unjudged queries": "queries without a relevant document",
    "empty queries": "queries without text",
    "repeated ids": "further documents or queries of an id that stands twice, with another text",
    "other splits": "further judgements of queries that are in two splits",
}


@dataclass
class Judgements:
    """The queries to a corpus and their judgements: its texts by language and id, grades by query and id."""

    name: str
    documents: dict[Key, str]
    queries: dict[Key, str]
    grades: dict[str, dict[str, int]] = field(default_factory=dict)  # 0 or below: irrelevant
    split: dict[str, str] = field(default_factory=dict)  # of each judged query

    def take(self, path: Path, split: str, counts: Counter[str]) -> None:
        """Add a file's judgements; a query's are those of the first split with a relevant document."""
        qrels, own = Qrels.of(path), dict[str, dict[str, int]]()
        for q, c, grade in zip(
            *(side.tolist() for side in (qrels.query, qrels.candidate, qrels.grade)), strict=True
        ):
            own.setdefault(qrels.queries[q], {})[qrels.candidates[c]] = grade
        for query, grades in own.items():
            counts.update(f"grade {grade}" for grade in grades.values())
            right = any(grade > 0 for grade in grades.values())
            if self.split.setdefault(query, split) == split:
                self.grades.setdefault(query, {}).update(grades)
            elif right and not any(grade > 0 for grade in self.grades[query].values()):
                self.split[query], self.grades[query] = split, grades
            else:
                counts["other splits"] += sum(grade > 0 for grade in grades.values())


# --- the files of a folder


@dataclass(frozen=True)
class _Subset:
    name: str  # "" where the folder has one subset only
    corpus: Files
    queries: Files
    qrels: Files

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The languages of the corpus and of the queries, as the name says them; None where it says none."""
        pair = _PAIR.fullmatch(self.name)
        if pair and (len(pair["query"]) > 2 or language_name(pair["query"])):
            return tag_of(pair["corpus"], any_code=True), tag_of(pair["query"], any_code=True)
        tag = tag_of(self.name) if self.name else None
        return tag, tag


def is_retrieval_folder(folder: Path) -> bool:
    """Return whether a folder holds a corpus with queries, in one of the layouts."""
    try:
        return folder.is_dir() and bool(_subsets(folder))
    except OSError:  # of a folder in it that may not be read
        return False


def _subsets(folder: Path) -> list[_Subset]:
    whole = _subset("", folder, "")
    if whole.corpus and (whole.queries or whole.qrels):
        return [whole]
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    named = [match[1] for path in folders if (match := _PART.fullmatch(path.name))]
    subsets = [_subset(prefix, folder, f"{prefix}-") for prefix in dict.fromkeys(named)]
    if not any(subset.corpus for subset in subsets):
        subsets = [_subset(path.name, path, "") for path in folders]
    if not any(subset.corpus and (subset.queries or subset.qrels) for subset in subsets):
        return []
    return [subset for subset in subsets if subset.corpus or subset.queries]


def _subset(name: str, folder: Path, prefix: str) -> _Subset:
    return _Subset(name, *(_files(folder, prefix, stems) for stems in _STEMS))


def _files(folder: Path, prefix: str, stems: tuple[str, ...]) -> Files:
    """Return the files of the first of some names that there is, by split."""
    for stem in stems:
        single = [path for ending in ENDINGS if (path := folder / f"{prefix}{stem}{ending}").is_file()]
        if len(single) > 1:
            raise InputError(f"{folder} holds {listed(path.name for path in single)}: keep one of them")
        if single:
            return {"": single}
        within, shards = folder / f"{prefix}{stem}", Files()
        for path in sorted(within.iterdir()) if within.is_dir() else ():
            ending = next((known for known in sorted(ENDINGS, key=len) if path.name.endswith(known)), None)
            if ending is not None and path.is_file():
                match = _SHARD.fullmatch(path.name.removesuffix(ending))
                shards.setdefault(match["split"] if match else "", []).append(path)
        if shards:
            return shards
    return {}


# --- reading a folder


def read_retrieval_folder(
    folder: Path,
    language: str | None = None,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
    *,
    judged: bool = True,
    unanswered: bool = False,
) -> Rows:
    """Return the languages, questions, candidates and warnings of a folder.

    `language` is that of texts where nothing else says it; `equal_ids` says whether questions with equal ids
    in several languages are the same one. Without `judged` its judgements are not read.
    """
    subsets, counts, source = _subsets(folder), Counter[str](), str(folder)
    for subset in subsets:
        parts = ("corpus", "queries", "qrels")[: 3 if judged else 2]
        missing = [name for name in parts if not getattr(subset, name)]
        if missing and (subset.queries or subset.qrels):
            where = f"{folder}{f', {subset.name}' if subset.name else ''}"
            has = next(f"{'a ' if name == 'corpus' else ''}{name}" for name in parts if name not in missing)
            raise InputError(
                f"{where} has {has} but no {' and no '.join(missing)}: expected {LAYOUT}, or Parquet in "
                "folders of these names"
            )
    splits = sorted(
        {name for subset in subsets for name in subset.qrels if name}, key=lambda own: own != "test"
    )
    if judged and split is not None and splits and split not in splits:
        raise no_split(source, split, splits)
    read, notes = [], []
    for subset in subsets:
        named = subset.languages
        if subset.name and named[0] is None:
            raise InputError(
                f"{folder}: {subset.name!r} is no language: name the folders by their languages (en, "
                f"de-corpus), or give the folder of one data set, such as {folder / subset.name}"
            )
        documents, queries = (
            _texts(
                files.get(split or "") or [path for own in files.values() for path in own],
                tag or language,
                source,
                counts,
            )
            for files, tag in zip((subset.corpus, subset.queries), named, strict=True)
        )
        own = Judgements(subset.name, documents, queries)
        for name, files in subset.qrels.items() if judged else ():
            for path in files if split in (None, name) or not name else ():
                own.take(path, name, counts)
        read.append(own)
        if judged and not subset.queries and not subset.qrels:
            notes.append(
                f"{folder}, {subset.name} has a corpus but neither queries nor qrels: its documents "
                f"({len(own.documents):,}) are candidates that answer no question; if some do, add queries "
                "and qrels"
            )
    if not judged:
        return unjudged_rows(source, read, equal_ids)
    more = {"splits": bool(splits), "split": split, "equal_ids": equal_ids, "unanswered": unanswered}
    known, questions, candidates, further = rows_of(source, read, counts, **more)  # type: ignore[arg-type]
    return known, questions, candidates, (*further, *notes)


def _texts(files: Sequence[Path], language: str | None, source: str, counts: Counter[str]) -> dict[Key, str]:
    """Return the documents or queries of some files; a title stands before its text."""
    texts: dict[Key, str] = {}
    for path in files:
        note_file("pool", path)
        for where, row in read_rows(path, _COLUMNS):
            column = next((name for name in ("_id", "id", "docid") if not is_missing(row.get(name))), "_id")
            name = name_of(row, column, where)
            text = " ".join(filter(None, (text_of(row, part, where) for part in ("title", "text")))).strip()
            tag = _language(row, where) or language
            if tag is None:
                own = tag_of(Path(source).name) or "en"
                raise InputError(
                    f"{source} does not say the language of its texts: give each row a 'language', or make "
                    "one folder for each language (en/, de/) and give the folder above. Where all are in one "
                    f"language, say it: --languages {own}, in Python MultilingualPool.read({source!r}, "
                    f"[{own!r}]); evaluate multilingual-pool needs two, and xlingual data translate-pool "
                    "makes them"
                )
            counts["repeated ids"] += texts.setdefault((tag, name), text) != text
    return texts


def _language(row: Row, where: str) -> str | None:
    more = row.get("metadata")
    for own in (row, more if isinstance(more, dict) else {}):
        word = next((own[name] for name in ("language", "lang") if not is_missing(own.get(name))), None)
        if word is not None:
            tag = tag_of(str(word), any_code=True)
            if tag is None:
                raise InputError(
                    f"{where}: {word!r:.60} is no language: write a tag such as 'en' or 'zh-Hant'"
                )
            return tag
    return None


# --- from judgements to rows


def rows_of(
    source: str,
    read: Sequence[Judgements],
    counts: Counter[str],
    *,
    splits: bool,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
    unanswered: bool = False,
) -> Rows:
    """Return the languages, questions, candidates and warnings of subsets, which are one pool together."""
    parallel, notes = _parallel(source, read, equal_ids)
    documents: dict[Key, str] = {}
    asked: dict[Key, tuple[str, str, str]] = {}  # text, key, split
    held: dict[Key, dict[str, int]] = {}  # key → grade
    for subset in read:
        of_subset = f"{subset.name}:" if subset.name else ""
        before = "" if parallel else of_subset
        places: dict[str, list[Key]] = {}
        for (tag, name), text in subset.documents.items():
            place = (tag, name) if documents.get((tag, name), text) == text else (tag, f"{of_subset}{name}")
            documents[place] = text
            places.setdefault(name, []).append(place)
        answered = set()
        for query, grades in subset.grades.items():
            counts["unknown documents"] += sum(
                name not in places and grade > 0 for name, grade in grades.items()
            )
            if any(name in places and (grade > 0 or unanswered) for name, grade in grades.items()):
                answered.add(query)
            for place, grade in (
                (place, grade) for name, grade in grades.items() for place in places.get(name, ())
            ):
                own = held.setdefault(place, {})
                if own.get(f"{before}{query}", 0) <= 0:  # relevant in one subset is relevant
                    own[f"{before}{query}"] = grade
        for (tag, name), text in subset.queries.items():
            if name not in answered or not text:
                counts["unjudged queries" if text else "empty queries"] += 1
            else:
                asked[tag, f"{before}{name}"] = (text, f"{before}{name}", subset.split[name])
        right = {query for query, own in subset.grades.items() if any(grade > 0 for grade in own.values())}
        counts["unknown queries"] += len(right - {name for _, name in subset.queries})
    lost = listed(f"{words} ({counts[name]:,})" for name, words in _LOST.items() if counts[name])
    if not asked:
        raise InputError(
            f"{source}: no judgement above 0 is of a query and a document that are there ({lost}): see "
            "whether the ids of the qrels are those of the files"
        )
    keys = {key for _, key, _ in asked.values()}
    judged = [
        {key: grade for key, grade in held.get(place, {}).items() if key in keys} for place in documents
    ]
    known, questions, candidates, _ = _rows(
        documents,
        {place: text for place, (text, _, _) in asked.items()},
        [key for _, key, _ in asked.values()],
        [name for _, name in asked],
        judged,
    )
    if splits:
        questions = replace(questions, split=[part for _, _, part in asked.values()])
    known_grades = [int(name.removeprefix("grade ")) for name in counts if name.startswith("grade ")]
    if max(known_grades, default=0) > 1:
        each = listed((f"{grade} ({counts[f'grade {grade}']:,})" for grade in sorted(known_grades)), 12)
        notes.append(
            f"{source}: judgements have the grades {each}: every grade above 0 counts as relevant; the "
            "grades are kept with the pool"
        )
    if lost:
        notes.append(f"{source}: left out are {lost}")
    parts = Counter(questions.split or ())
    if split is None and len(parts) > 1:
        named = listed((f"{name} {count:,}" for name, count in parts.items()), 6)
        notes.append(
            f"{source}: questions of several splits are taken together ({named}): --split NAME takes one"
        )
    return known, questions, candidates, tuple(notes)


def unjudged_rows(source: str, read: Sequence[Judgements], equal_ids: EqualIds | None = None) -> Rows:
    """Return the languages, questions and candidates of subsets whose judgements are to come.

    Each question has a key of its own. Raises InputError where an id has two texts in a language.
    """
    sides = [[one.documents for one in read], [one.queries for one in read]]
    for what, parts in zip(("document", "query"), sides, strict=True):
        if _two_texts(parts):
            raise InputError(
                f"{source}: an id of a {what} has two texts in one language, so judgements by ids are not "
                "clear: make the ids of the folders different"
            )
    documents, asked = ({place: text for part in parts for place, text in part.items()} for parts in sides)
    asked = {place: text for place, text in asked.items() if text}
    if not documents or not asked:
        raise InputError(f"{source}: has no {'queries' if documents else 'documents'}")
    keys = [f"{tag}:{name}" for tag, name in asked]
    parallel = keys if equal_ids == "different" else [name for _, name in asked]
    return _rows(documents, asked, keys, parallel, [{} for _ in documents])


def _rows(
    documents: dict[Key, str],
    asked: dict[Key, str],
    keys: list[str],
    parallel: list[str],
    judged: Sequence[dict[str, int]],
) -> Rows:
    """Return texts as questions and candidates; `judged` are the keys of each document, with grades."""
    code, languages = numbered(tag for tag, _ in documents)
    languages += [tag for tag in dict.fromkeys(tag for tag, _ in asked) if tag not in languages]
    questions = Questions(
        ids=[name for _, name in asked],
        language=np.array([languages.index(tag) for tag, _ in asked], dtype=np.int64),
        text=list(asked.values()),
        key=keys,
        cluster=clusters_by_id_or_key(parallel, keys),
    )
    columns, context = judged_columns(judged), [""] * len(documents)
    candidates = Candidates(
        ids=[name for _, name in documents],
        language=code,
        text=list(documents.values()),
        context=context,
        cluster=clusters_of_candidates(questions, columns["keys"], context, code),
        **columns,
    )
    return tuple(languages), questions, candidates, ()


def judged_columns(judged: Sequence[dict[str, int]]) -> dict[str, Any]:
    """Return keys, grades and irrelevant keys of candidates, by the grades that each has for keys."""
    right = [{key: grade for key, grade in own.items() if grade > 0} for own in judged]
    wrong = [tuple(key for key, grade in own.items() if grade <= 0) for own in judged]
    grades = [tuple(own.values()) for own in right]
    return {"keys": [*map(tuple, right)], "grades": grades, "irrelevant": wrong if any(wrong) else None}


def _parallel(source: str, read: Sequence[Judgements], equal_ids: EqualIds | None) -> tuple[bool, list[str]]:
    """Return whether equal ids of subsets are one question in several languages, and a sentence on it.

    Where `equal_ids` does not say it, they are where most of them have the same documents' ids judged, and no
    id has two texts in a language.
    """
    if equal_ids not in (None, *get_args(EqualIds)):
        raise InputError(f"equal ids: expected {' or '.join(get_args(EqualIds))}, found {equal_ids!r}")
    shared = agreed = 0
    first: dict[str, set[str]] = {}
    for subset in read:
        for query, own in subset.grades.items():
            right = {name for name, grade in own.items() if grade > 0}
            if right and query in first:
                shared += 1
                agreed += first[query] == right
            if right:
                first.setdefault(query, right)
    if not shared:
        return True, []
    two = _two_texts([one.queries for one in read])
    if equal_ids is not None:
        if equal_ids == "same" and two:
            raise InputError(
                f"{source}: equal ids cannot be the same question, for a query's id has two texts in one "
                f"language: leave out {parameter('equal_ids', 'same')}"
            )
        return equal_ids == "same", []
    two = two or _two_texts([one.documents for one in read])
    of = f"{agreed:,} of {shared:,} have the same judged documents"
    if two or 2 * agreed <= shared:
        return False, [
            f"{source}: questions of different languages with equal ids count as different ones "
            f"({'an id has two texts' if two else f'only {of}'}): their ids and keys begin with the language "
            f"(if they are translations: {parameter('equal_ids', 'same')})"
        ]
    return True, [
        f"{source}: questions with equal ids count as one question in several languages, and its documents "
        f"in all of them are relevant ({of}): if they are not translations, such as rows that are numbered "
        f"in each language, say {parameter('equal_ids', 'different')}"
    ]


def _two_texts(parts: Sequence[dict[Key, str]]) -> bool:
    """Return whether an id has two texts in one language."""
    texts: dict[Key, str] = {}
    return any(texts.setdefault(place, text) != text for part in parts for place, text in part.items())
