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
from typing import Any, get_args

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import tag_of
from xlingual.data.names import AMBIGUOUS, Names
from xlingual.data.pools.rows import (
    Candidates,
    EqualIds,
    Questions,
    Rows,
    clusters_by_id_or_key,
    clusters_of_candidates,
    no_split,
    taken,
)
from xlingual.data.rows import ENDINGS, is_missing, name_of, numbered, read_rows, text_of
from xlingual.data.runs.qrels import Qrels, QrelsLike
from xlingual.errors import InputError, listed, parameter
from xlingual.languages import name_of as language_name
from xlingual.results.provenance import note_file

Key = tuple[str, str]  # language, id
Files = dict[str, list[Path]]  # by split, "" for none

_STEMS = {"corpus": ("corpus",), "queries": ("queries", "query"), "qrels": ("qrels", "default", "data")}
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
class Subset:
    """A corpus and its queries: files, texts by language and id, and grades by query and document."""

    name: str  # "" where the folder has one subset only
    files: dict[str, Files] = field(default_factory=dict)
    documents: dict[Key, str] = field(default_factory=dict)
    queries: dict[Key, str] = field(default_factory=dict)
    grades: dict[str, dict[str, int]] = field(default_factory=dict)  # 0 or below: irrelevant
    split: dict[str, str] = field(default_factory=dict)  # of each judged query

    def take(self, path: Path, split: str, counts: Counter[str]) -> None:
        """Add a file's judgements; a query's are those of the first split with a relevant document."""
        qrels, by_query = Qrels.of(path), dict[str, dict[str, int]]()
        judged = zip(*(side.tolist() for side in (qrels.query, qrels.candidate, qrels.grade)), strict=True)
        for q, c, grade in judged:
            by_query.setdefault(qrels.queries[q], {})[qrels.candidates[c]] = grade
            counts[f"grade {grade}"] += 1
        for query, grades in by_query.items():
            is_answered = any(grade > 0 for grade in grades.values())
            if self.split.setdefault(query, split) == split:
                self.grades.setdefault(query, {}).update(grades)
            elif is_answered and not any(grade > 0 for grade in self.grades[query].values()):
                self.split[query], self.grades[query] = split, grades
            else:
                counts["other splits"] += sum(grade > 0 for grade in grades.values())


# --- the files of a folder


def is_retrieval_folder(folder: Path) -> bool:
    """Return whether a folder holds a corpus with queries, in one of the layouts."""
    try:
        return folder.is_dir() and bool(_subsets(folder))
    except OSError:  # of a folder in it that may not be read
        return False


def _subsets(folder: Path) -> list[Subset]:
    def subset(name: str, folder: Path, prefix: str) -> Subset:
        return Subset(name, {part: _files(folder, prefix, stems) for part, stems in _STEMS.items()})

    def is_whole(subset: Subset) -> bool:
        return bool(subset.files["corpus"] and (subset.files["queries"] or subset.files["qrels"]))

    if is_whole(alone := subset("", folder, "")):
        return [alone]
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    names = dict.fromkeys(match[1] for path in folders if (match := _PART.fullmatch(path.name)))
    subsets = [subset(name, folder, f"{name}-") for name in names]
    if not any(part.files["corpus"] for part in subsets):
        subsets = [subset(path.name, path, "") for path in folders]
    if not any(map(is_whole, subsets)):
        return []
    return [part for part in subsets if part.files["corpus"] or part.files["queries"]]


def _files(folder: Path, prefix: str, stems: Sequence[str]) -> Files:
    """Return the files of the first of some names that there is, by split."""
    for stem in stems:
        single = [path for ending in ENDINGS if (path := folder / f"{prefix}{stem}{ending}").is_file()]
        if len(single) > 1:
            raise InputError(f"{folder} holds {listed(path.name for path in single)}: keep one of them")
        if single:
            return {"": single}
        within, shards = folder / f"{prefix}{stem}", Files()
        for path in sorted(within.iterdir()) if within.is_dir() else ():
            ending = next((end for end in sorted(ENDINGS, key=len) if path.name.endswith(end)), None)
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

    `language` is that of texts where nothing else says it. Without `judged` its judgements are not read.
    """
    if equal_ids not in (None, *get_args(EqualIds)):
        raise InputError(f"equal ids: expected {' or '.join(get_args(EqualIds))}, found {equal_ids!r}")
    subsets, counts, source, notes = _subsets(folder), Counter[str](), str(folder), list[str]()
    splits = {name for subset in subsets for name in subset.files["qrels"] if name and judged}
    if splits and split is not None and split not in splits:
        raise no_split(source, split, sorted(splits, key=lambda name: name != "test"))
    for subset in subsets:
        files = subset.files
        lacks = [part for part in ("corpus", "queries", "qrels")[: 3 if judged else 2] if not files[part]]
        if lacks and (files["queries"] or files["qrels"]):
            has = listed(part for part in files if part not in lacks)
            raise InputError(
                f"{folder}{f', {subset.name}' if subset.name else ''} has {has} but no "
                f"{' and no '.join(lacks)}: expected corpus.jsonl, queries.jsonl and qrels/*.tsv"
            )
        for part, tag in zip(("corpus", "queries"), _languages(folder, subset.name), strict=True):
            texts = subset.documents if part == "corpus" else subset.queries
            paths = files[part].get(split or "") or [path for own in files[part].values() for path in own]
            for path in paths:
                _read_texts(texts, path, tag or language, source, counts)
        for name, paths in files["qrels"].items() if judged else ():
            for path in paths if split in (None, name) or not name else ():
                subset.take(path, name, counts)
        if lacks:
            notes.append(
                f"{folder}, {subset.name} has a corpus but neither queries nor qrels: its documents "
                f"({len(subset.documents):,}) are candidates that answer no question; if some do, add "
                "queries and qrels"
            )
    if not judged:
        return _unjudged_rows(source, subsets, equal_ids)
    rows = rows_of(source, subsets, counts, equal_ids, unanswered=unanswered)
    if splits:
        parts = Counter(rows.questions.split or ())
        if split is None and len(parts) > 1:
            named = listed((f"{name} {count:,}" for name, count in parts.items()), 6)
            notes.insert(
                0,
                f"{source}: questions of several splits are taken together ({named}): --split NAME takes one",
            )
    else:
        rows = rows._replace(questions=replace(rows.questions, split=None))
    return rows._replace(notes=(*rows.notes, *notes))


def _languages(folder: Path, name: str) -> tuple[str | None, str | None]:
    """Return the languages of the corpus and of the queries, as a subset's name says them."""
    if not name:
        return None, None
    pair = _PAIR.fullmatch(name)
    if pair and (len(pair["query"]) > 2 or language_name(pair["query"])):
        tags = tag_of(pair["corpus"], any_code=True), tag_of(pair["query"], any_code=True)
    else:
        tags = tag_of(name), tag_of(name)
    if tags[0] is None:
        raise InputError(
            f"{folder}: {name!r} is no language: name the folders by their languages (en, de-corpus), or "
            f"give the folder of one data set, such as {folder / name}"
        )
    return tags


def _read_texts(
    texts: dict[Key, str], path: Path, language: str | None, source: str, counts: Counter[str]
) -> None:
    """Add the documents or queries of a file; a title stands before its text."""
    note_file("pool", path)
    for where, row in read_rows(path, _COLUMNS):
        column = next((name for name in ("_id", "id", "docid") if not is_missing(row.get(name))), "_id")
        name = name_of(row, column, where)
        text = " ".join(filter(None, (text_of(row, part, where) for part in ("title", "text")))).strip()
        more, tag = row.get("metadata"), language
        named = [
            own.get(word) for own in (row, more) if isinstance(own, dict) for word in ("language", "lang")
        ]
        if word := next((word for word in named if not is_missing(word)), None):
            tag = tag_of(str(word), any_code=True)
        if tag is None and word:
            raise InputError(f"{where}: {word!r:.60} is no language: write a tag such as 'en' or 'zh-Hant'")
        if tag is None:
            example = tag_of(Path(source).name) or "en"
            raise InputError(
                f"{source} does not say the language of its texts: give each row a 'language', or make one "
                "folder for each language (en/, de/) and give the folder above. Where all are in one "
                f"language, say it: --languages {example}, in Python languages=[{example!r}]; evaluate "
                "multilingual-pool needs two"
            )
        counts["repeated ids"] += texts.setdefault((tag, name), text) != text


# --- from judgements to rows


def rows_of(
    source: str,
    subsets: Sequence[Subset],
    counts: Counter[str],
    equal_ids: EqualIds | None = None,
    *,
    unanswered: bool = False,
) -> Rows:
    """Return the languages, questions, candidates and warnings of subsets, which are one pool together."""
    parallel, notes = _parallel(source, subsets, equal_ids)
    documents: dict[Key, str] = {}
    asked: dict[Key, str] = {}
    splits: dict[Key, str] = {}
    held: dict[Key, dict[str, int]] = {}  # document → key → grade
    for subset in subsets:
        prefix = f"{subset.name}:" if subset.name else ""  # where ids of two subsets mean two things
        before = "" if parallel else prefix
        places: dict[str, list[Key]] = {}
        for (tag, name), text in subset.documents.items():
            is_same = documents.get((tag, name), text) == text
            place = tag, name if is_same else f"{prefix}{name}"
            documents[place] = text
            places.setdefault(name, []).append(place)
        answered = set[str]()
        for query, grades in subset.grades.items():
            for name, grade in grades.items():
                if name in places and (grade > 0 or unanswered):
                    answered.add(query)
                counts["unknown documents"] += name not in places and grade > 0
                for place in places.get(name, ()):
                    keys = held.setdefault(place, {})
                    if keys.get(f"{before}{query}", 0) <= 0:  # relevant in one subset is relevant
                        keys[f"{before}{query}"] = grade
        for (tag, name), text in subset.queries.items():
            if name not in answered or not text:
                counts["unjudged queries" if text else "empty queries"] += 1
            else:
                asked[tag, f"{before}{name}"] = text
                splits[tag, f"{before}{name}"] = subset.split[name]
        relevant = {query for query, own in subset.grades.items() if any(grade > 0 for grade in own.values())}
        counts["unknown queries"] += len(relevant - {name for _, name in subset.queries})
    lost = listed(f"{words} ({counts[name]:,})" for name, words in _LOST.items() if counts[name])
    if not asked:
        raise InputError(
            f"{source}: no judgement above 0 is of a query and a document that are there ({lost}): see "
            "whether the ids of the qrels are those of the files"
        )
    names = [name for _, name in asked]
    sought = {*names}
    judged = [{k: g for k, g in held.get(place, {}).items() if k in sought} for place in documents]
    levels = sorted(int(name.removeprefix("grade ")) for name in counts if name.startswith("grade "))
    if max(levels, default=0) > 1:
        each = listed((f"{level} ({counts[f'grade {level}']:,})" for level in levels), 12)
        notes.append(
            f"{source}: judgements have the grades {each}: every grade above 0 counts as relevant; the "
            "grades are kept with the pool"
        )
    if lost:
        notes.append(f"{source}: left out are {lost}")
    rows = _rows(documents, asked, names, names, judged)
    questions = replace(rows.questions, split=[splits[place] for place in asked])
    return rows._replace(questions=questions, notes=tuple(notes))


def _unjudged_rows(source: str, subsets: Sequence[Subset], equal_ids: EqualIds | None) -> Rows:
    """Return subsets whose judgements are to come: each question has a key of its own."""
    for texts in ([subset.documents for subset in subsets], [subset.queries for subset in subsets]):
        if _have_two_texts(texts):
            raise InputError(
                f"{source}: an id has two texts in one language, so judgements by ids are not clear: make "
                "the ids of the folders different"
            )
    documents = {place: text for subset in subsets for place, text in subset.documents.items()}
    asked = {place: text for subset in subsets for place, text in subset.queries.items() if text}
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
    columns, context = _judged_columns(judged), [""] * len(documents)
    candidates = Candidates(
        ids=[name for _, name in documents],
        language=code,
        text=list(documents.values()),
        context=context,
        cluster=clusters_of_candidates(questions, columns["keys"], context, code),
        **columns,
    )
    return Rows(tuple(languages), questions, candidates)


def _judged_columns(judged: Sequence[dict[str, int]]) -> dict[str, Any]:
    """Return keys, grades and irrelevant keys of candidates, by the grades that each has for keys."""
    relevant = [{key: grade for key, grade in own.items() if grade > 0} for own in judged]
    irrelevant = [tuple(key for key, grade in own.items() if grade <= 0) for own in judged]
    return {
        "keys": [*map(tuple, relevant)],
        "grades": [tuple(own.values()) for own in relevant],
        "irrelevant": irrelevant if any(irrelevant) else None,
    }


def _parallel(source: str, subsets: Sequence[Subset], equal_ids: EqualIds | None) -> tuple[bool, list[str]]:
    """Return whether equal ids of subsets are one question in several languages, and a sentence on it.

    Else they are where most have the same documents' ids judged, and no id has two texts in a language.
    """
    shared = agreed = 0
    first: dict[str, set[str]] = {}
    for subset in subsets:
        for query, grades in subset.grades.items():
            if relevant := {name for name, grade in grades.items() if grade > 0}:
                if query in first:
                    shared, agreed = shared + 1, agreed + (first[query] == relevant)
                first.setdefault(query, relevant)
    if not shared:
        return True, []
    two = _have_two_texts([subset.queries for subset in subsets])
    if equal_ids == "same" and two:
        raise InputError(
            f"{source}: equal ids cannot be the same question, for a query's id has two texts in one "
            f"language: leave out {parameter('equal_ids', 'same')}"
        )
    if equal_ids is not None:
        return equal_ids == "same", []
    two = two or _have_two_texts([subset.documents for subset in subsets])
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


def _have_two_texts(parts: Sequence[dict[Key, str]]) -> bool:
    """Return whether an id has two texts in one language."""
    texts: dict[Key, str] = {}
    return any(texts.setdefault(place, text) != text for part in parts for place, text in part.items())


def judged_by(source: str, rows: Rows, judgements: QrelsLike, *, unanswered: bool = False) -> Rows:
    """Return the rows judged anew, with what is left out in a sentence.

    They name texts by ids, or as language:id. A question without a relevant candidate (with `unanswered`, a
    judged one) is left out.
    """
    languages, questions, candidates, notes = rows
    qrels, places = Qrels.of(judgements), list[Ints]()
    for what, part, names in (
        ("queries", questions, qrels.queries),
        ("candidates", candidates, qrels.candidates),
    ):
        found = Names([languages[code] for code in part.language.tolist()], part.ids).rows(names)
        if (found == AMBIGUOUS).any():
            first = names[int(np.argmax(found == AMBIGUOUS))]
            raise InputError(
                f"{qrels.source}: {first!r} is the id of {what} in several languages: write language:id"
            )
        places.append(found)
    query, candidate, grade = places[0][qrels.query], places[1][qrels.candidate], qrels.grade
    order = np.lexsort((query, candidate))
    order = order[(query[order] >= 0) & (candidate[order] >= 0)]
    query, candidate, grade = query[order], candidate[order], grade[order]
    if not (grade > 0).any():
        raise InputError(
            f"{qrels.source}: no judgement above 0 is of a query and a candidate of {source}: name both by "
            "their ids, or as language:id"
        )
    answered = np.unique(query if unanswered else query[grade > 0])
    tags = [languages[code] for code in questions.language.tolist()]
    keys = [f"{tag}:{name}" for tag, name in zip(tags, questions.ids, strict=True)]
    held: list[dict[str, int]] = [{} for _ in range(len(candidates))]
    stays = np.isin(query, answered)
    for q, c, g in zip(*(side[stays].tolist() for side in (query, candidate, grade)), strict=True):
        held[c][keys[q]] = g
    counts = {
        "queries of the judgements that are not in the data": int((places[0] < 0).sum()),
        "candidates of the judgements that are not in the data": int((places[1] < 0).sum()),
        "queries without a relevant candidate": len(questions) - len(answered),
    }
    if lost := listed(f"{what} ({count:,})" for what, count in counts.items() if count):
        notes = (*notes, f"{qrels.source}: left out are {lost}")
    questions = taken(replace(questions, key=keys), answered)
    return Rows(languages, questions, replace(candidates, **_judged_columns(held)), notes)
