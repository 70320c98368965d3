"""Judged queries and documents of one or several subsets (languages) as the rows of a pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, TypeAlias, get_args

import numpy as np

from xlingual.data.pools.clusters import clusters_by_id_or_key, clusters_of_candidates
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.reading.values import numbered
from xlingual.errors import InputError, listed, parameter

Key = tuple[str, str]  # language, id
EqualIds: TypeAlias = Literal["same", "different"]  # what questions of equal ids in several languages are


@dataclass
class Judgements:
    """One subset: its texts by language and id, the grades above 0, and what was judged irrelevant."""

    name: str
    documents: dict[Key, str]
    queries: dict[Key, str]
    grades: dict[str, dict[str, int]] = field(default_factory=dict)  # query → document → grade
    split: dict[str, str] = field(default_factory=dict)  # of each query with a relevant document
    # query → document → split
    irrelevant: dict[str, dict[str, str]] = field(default_factory=dict)


def rows_of(
    source: str,
    read: Sequence[Judgements],
    counts: Counter[str],
    splits: bool,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
) -> tuple[tuple[str, ...], Questions, Candidates, tuple[str, ...]]:
    """Return the languages, questions, candidates and warnings of subsets, which are one pool together."""
    parallel, sentence = _parallel(source, read, equal_ids)
    questions, documents, keys, grades, wrong = _joined(read, parallel, counts)
    if not questions:
        raise InputError(
            f"{source}: no judgement above 0 is of a query and a document that are there ("
            f"{_lost(counts)}): see whether the ids of the qrels are those of the files"
        )
    code, languages = numbered(tag for tag, _ in documents)
    languages += [tag for tag in dict.fromkeys(tag for tag, _ in questions) if tag not in languages]
    ids, names = [name for _, name in questions], [key for _, key, _ in questions.values()]
    asked = Questions(
        ids=ids,
        language=np.array([languages.index(tag) for tag, _ in questions], dtype=np.int64),
        text=[text for text, _, _ in questions.values()],
        key=names,
        cluster=clusters_by_id_or_key(ids, names),
        split=[part for _, _, part in questions.values()] if splits else None,
    )
    held = [tuple(keys.get(place, ())) for place in documents]
    context = [""] * len(held)
    candidates = Candidates(
        ids=[name for _, name in documents],
        language=code,
        text=list(documents.values()),
        context=context,
        keys=held,
        cluster=clusters_of_candidates(asked, held, context, code),
        grades=[tuple(grades[place]) if place in grades else () for place in documents],
        irrelevant=[tuple(wrong.get(place, ())) for place in documents] if wrong else None,
    )
    notes = [*_notes(source, asked, candidates, counts, split), *([sentence] if sentence else [])]
    return tuple(languages), asked, candidates, tuple(notes)


def unjudged_rows(
    source: str, read: Sequence[Judgements], equal_ids: EqualIds | None = None
) -> tuple[tuple[str, ...], Questions, Candidates]:
    """Return the languages, questions and candidates of subsets whose judgements are to come.

    Each question has a key of its own. Raises InputError where an id has two texts in a language.
    """
    documents, queries = [one.documents for one in read], [one.queries for one in read]
    for what, parts in (("document", documents), ("query", queries)):
        if _two_texts(parts):
            raise InputError(
                f"{source}: an id of a {what} has two texts in one language, so judgements by ids are not "
                "clear: make the ids of the folders different"
            )
    texts, asked = (
        {key: text for part in parts for key, text in part.items()} for parts in (documents, queries)
    )
    asked = {key: text for key, text in asked.items() if text}
    if not texts or not asked:
        raise InputError(f"{source}: has no {'queries' if texts else 'documents'}")
    code, languages = numbered(tag for tag, _ in texts)
    languages += [tag for tag in dict.fromkeys(tag for tag, _ in asked) if tag not in languages]
    ids, keys = [name for _, name in asked], [f"{tag}:{name}" for tag, name in asked]
    names = keys if equal_ids == "different" else ids
    questions = Questions(
        ids=ids,
        language=np.array([languages.index(tag) for tag, _ in asked], dtype=np.int64),
        text=list(asked.values()),
        key=keys,
        cluster=clusters_by_id_or_key(names, keys),
    )
    none: list[tuple[str, ...]] = [()] * len(texts)
    context = [""] * len(texts)
    cluster = clusters_of_candidates(questions, none, context, code)
    candidates = Candidates([name for _, name in texts], code, list(texts.values()), context, none, cluster)
    return tuple(languages), questions, candidates


def _parallel(source: str, read: Sequence[Judgements], equal_ids: EqualIds | None = None) -> tuple[bool, str]:
    """Return whether equal ids of subsets are one question in several languages, and a sentence on it.

    Where `equal_ids` does not say it, they are where most of them have the same documents' ids judged, and no
    id has two texts in a language.
    """
    if equal_ids not in (None, *get_args(EqualIds)):
        raise InputError(f"equal ids: expected {' or '.join(get_args(EqualIds))}, found {equal_ids!r}")
    shared = agreed = 0
    first: dict[str, frozenset[str]] = {}
    for subset in read:
        for query, own in subset.grades.items():
            if query in first:
                shared += 1
                agreed += first[query] == own.keys()
            first.setdefault(query, frozenset(own))
    if not shared:
        return True, ""
    documents, queries = [one.documents for one in read], [one.queries for one in read]
    if equal_ids is not None:
        if equal_ids == "same" and _two_texts(queries):
            raise InputError(
                f"{source}: equal ids cannot be the same question, for a query's id has two texts in one "
                f"language: leave out {parameter('equal_ids', 'same')}"
            )
        return equal_ids == "same", ""
    clash = _two_texts(documents) or _two_texts(queries)
    if clash or 2 * agreed <= shared:
        why = (
            "an id has two texts"
            if clash
            else f"only {agreed:,} of {shared:,} have the same judged documents"
        )
        return False, (
            f"{source}: questions of different languages with equal ids count as different ones ({why}): "
            "their ids and keys begin with the language (if they are translations: "
            f"{parameter('equal_ids', 'same')})"
        )
    return True, (
        f"{source}: questions with equal ids count as one question in several languages, and its documents "
        f"in all of them are relevant ({agreed:,} of {shared:,} have the same judged documents): if they are "
        "not translations, such as rows that are numbered in each language, say "
        f"{parameter('equal_ids', 'different')}"
    )


def _two_texts(parts: Sequence[dict[Key, str]]) -> bool:
    """Return whether an id has two texts in one language."""
    texts: dict[Key, str] = {}
    places = chain.from_iterable(part.items() for part in parts)
    return any(texts.setdefault(place, text) != text for place, text in places)


def _joined(
    read: Sequence[Judgements], parallel: bool, counts: Counter[str]
) -> tuple[
    dict[Key, tuple[str, str, str]], dict[Key, str], dict[Key, list[str]], dict[Key, list[int]],
    dict[Key, dict[str, None]],
]:  # fmt: skip
    """Return the questions (text, key, split), the documents, and the keys and grades that documents hold.

    The last are the keys of what each document was judged irrelevant to, in any of the subsets, and relevant
    in none.
    """
    questions: dict[Key, tuple[str, str, str]] = {}
    documents: dict[Key, str] = {}
    keys: dict[Key, list[str]] = {}
    grades: dict[Key, list[int]] = {}
    wrong: dict[Key, dict[str, None]] = {}
    for subset in read:
        of_subset = f"{subset.name}:" if subset.name else ""
        before = "" if parallel else of_subset
        places: dict[str, list[Key]] = {}
        for (tag, name), text in subset.documents.items():
            place = (tag, name) if documents.get((tag, name), text) == text else (tag, f"{of_subset}{name}")
            documents[place] = text
            places.setdefault(name, []).append(place)
        answered = set()
        for query, own in subset.grades.items():
            held = [(place, grade) for name, grade in own.items() for place in places.get(name, ())]
            counts["unknown documents"] += sum(name not in places for name in own)
            for place, grade in held:
                if f"{before}{query}" not in keys.setdefault(place, []):
                    keys[place].append(f"{before}{query}")
                    grades.setdefault(place, []).append(grade)
            answered |= {query} if held else set()
        for query, judged in subset.irrelevant.items():
            for name in (one for one, split in judged.items() if subset.split.get(query) == split):
                for place in places.get(name, ()):
                    wrong.setdefault(place, {})[f"{before}{query}"] = None
        asked = set()
        for (tag, name), text in subset.queries.items():
            asked.add(name)
            if name not in answered or not text:
                counts["queries without a relevant document" if text else "empty queries"] += 1
                continue
            questions[tag, f"{before}{name}"] = (text, f"{before}{name}", subset.split[name])
        counts["unknown queries"] += len(subset.grades.keys() - asked)
    asked_for = {key for _, key, _ in questions.values()}
    wrong = {
        place: {key: None for key in own if key in asked_for and key not in keys.get(place, ())}
        for place, own in wrong.items()
    }
    return questions, documents, keys, grades, {place: own for place, own in wrong.items() if own}


def _notes(
    source: str, questions: Questions, candidates: Candidates, counts: Counter[str], split: str | None
) -> Iterator[str]:
    grades = {int(name.removeprefix("grade ")): count for name, count in counts.items() if "grade " in name}
    if any(grade > 1 for grade in grades):
        found = listed((f"{grade} ({grades[grade]:,})" for grade in sorted(grades)), 12)
        yield (
            f"{source}: judgements have the grades {found}: every grade above 0 counts as relevant; the "
            "grades are kept with the pool"
        )
    if lost := _lost(counts):
        yield f"{source}: left out are {lost}"
    parts = Counter(questions.split or ())
    if split is None and len(parts) > 1:
        named = listed((f"{name} {count:,}" for name, count in parts.items()), 6)
        yield f"{source}: questions of several splits are taken together ({named}): --split NAME takes one"


def _lost(counts: Counter[str]) -> str:
    """Return a clause on what the files have that the pool has not."""
    what = {
        "unknown documents": "judgements of documents that are not in the corpus",
        "unknown queries": "judged queries that are not among the queries",
        "queries without a relevant document": "queries without a relevant document",
        "empty queries": "queries without text",
        "repeated ids": "further documents or queries of an id that stands twice, with another text",
        "queries in several splits": "further judgements of queries that are in two splits",
    }
    found = [f"{words} ({counts[name]:,})" for name, words in what.items() if counts[name]]
    return listed(found)
