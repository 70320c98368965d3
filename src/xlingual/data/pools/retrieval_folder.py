"""Retrieval folders of BEIR and MTEB as pools: every document is a candidate.

corpus.jsonl  queries.jsonl  qrels/test.tsv              BEIR; also .gz, .parquet, or folders of shards
en/corpus.jsonl …            de/corpus.jsonl …           one folder for each language
de-corpus/test-*.parquet  de-queries/…  de-qrels/…       MTEB's subsets; eng-deu-corpus: of two languages

Queries of one id in several subsets are one question, in several languages, where documents of the same ids
are relevant to them in each. Else they are different ones, and so are texts of one id and language that
differ: the name of the subset then stands before the id ("te:17").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from xlingual.data.languages import tag_of
from xlingual.data.names import AMBIGUOUS, Names
from xlingual.data.pools.rows import (
    Candidates,
    Questions,
    Rows,
    clusters_of_candidates,
    joined,
    judged,
    no_split,
    taken,
)
from xlingual.data.rows import ENDINGS, is_missing, name_of, numbered, read_rows, text_of
from xlingual.data.runs import Qrels, QrelsLike
from xlingual.errors import InputError, listed
from xlingual.languages import name_of as language_name
from xlingual.results.provenance import note_file

Key = tuple[str, str]  # language, id

_PARTS = {"corpus": "corpus", "queries": "queries", "query": "queries"} | dict.fromkeys(
    ("qrels", "default", "data"), "qrels"
)
_HOLDER = re.compile(rf"(?:.+-)?(?:{'|'.join(_PARTS)})")
_FILE = re.compile(
    rf"(?:(?P<name>[^/]+)[/-])?(?P<part>{'|'.join(_PARTS)})(?:/(?P<split>[^/]*?)(?:-[0-9]+-of-[0-9]+)?)?"
    rf"(?:{'|'.join(map(re.escape, ENDINGS))})"
)
_PAIR = re.compile(r"(?P<corpus>[a-z]{2,3}(?:_[A-Z][a-z]{3})?)-(?P<query>[a-z]{2,3}(?:_[A-Z][a-z]{3})?)")


@dataclass
class _Subset:
    """A corpus and its queries: files, texts by language and id, and grades by query and document."""

    name: str = ""  # "" where the folder has one subset only
    files: dict[str, dict[str, list[Path]]] = field(default_factory=dict)  # by part and split ("" for none)
    documents: dict[Key, str] = field(default_factory=dict)
    queries: dict[Key, str] = field(default_factory=dict)
    grades: dict[str, dict[str, int]] = field(default_factory=dict)  # 0 or below: irrelevant
    split: dict[str, str] = field(default_factory=dict)  # of each judged query


def is_retrieval_folder(folder: Path) -> bool:
    """Whether a folder holds a corpus with queries, in one of the layouts."""
    try:
        return folder.is_dir() and bool(_subsets(folder))
    except OSError:  # of a folder in it that may not be read
        return False


def _subsets(folder: Path) -> list[_Subset]:
    """Find the files of each subset; none where no corpus has queries or judgements."""
    subsets: dict[str, _Subset] = {}
    for path in _paths(folder):
        if match := _FILE.fullmatch(path.relative_to(folder).as_posix()):
            subset = subsets.setdefault(match["name"] or "", _Subset(match["name"] or ""))
            by_split = subset.files.setdefault(_PARTS[match["part"]], {})
            paths = by_split.setdefault(match["split"] or "", [])
            paths.append(path)
            if match["split"] is None and len(paths) > 1:
                raise InputError(f"{folder} holds {listed(file.name for file in paths)}: keep one of them")
    whole = [s for s in subsets.values() if "corpus" in s.files and len(s.files) > 1]
    if not whole:
        return []
    single = [subset for subset in whole if not subset.name]
    return single or [s for s in subsets.values() if s.name and {"corpus", "queries"} & s.files.keys()]


def _paths(folder: Path) -> Iterator[Path]:
    """List the files of a folder, of its folders, and of those in these that hold shards."""
    for path in sorted(folder.iterdir()):
        for inner in sorted(path.iterdir()) if path.is_dir() else [path]:
            if inner.is_dir() and _HOLDER.fullmatch(inner.name) and not _HOLDER.fullmatch(path.name):
                yield from sorted(filter(Path.is_file, inner.iterdir()))
            elif inner.is_file():
                yield inner


def read_retrieval_folder(
    folder: Path,
    language: str | None = None,
    split: str | None = None,
    *,
    with_qrels: bool = True,
    unanswered: bool = False,
) -> Rows:
    """Read the languages, questions, candidates and warnings of a folder.

    `language` is that of texts where nothing else says it. Without `with_qrels` its judgements are not read,
    and each question has a key of its own. A question without a relevant document (with `unanswered`, a
    judged one) is left out.
    """
    subsets = _subsets(folder)
    parts = ("corpus", "queries", "qrels") if with_qrels else ("corpus", "queries")
    splits = {name for subset in subsets for name in subset.files.get("qrels", ()) if name and with_qrels}
    if splits and split is not None and split not in splits:
        raise no_split(str(folder), split, sorted(splits, key=lambda name: name != "test"))
    for subset in subsets:
        lacks = [part for part in parts if part not in subset.files]
        if lacks and {"queries", "qrels"} & subset.files.keys():  # a corpus alone has candidates
            raise InputError(
                f"{folder}{f', {subset.name}' if subset.name else ''} has {listed(subset.files)} but no "
                f"{' and no '.join(lacks)}: expected corpus.jsonl, queries.jsonl and qrels/*.tsv"
            )
        for part, tag in zip(parts, _languages(folder, subset.name), strict=False):
            by_split = subset.files.get(part, {})
            for path in by_split.get(split or "") or [path for paths in by_split.values() for path in paths]:
                texts = subset.documents if part == "corpus" else subset.queries
                _read_texts(texts, path, tag or language, folder)
        for name, paths in subset.files.get("qrels", {}).items() if with_qrels else ():
            for qrels in map(Qrels.of, paths if split in (None, name) or not name else ()):
                for q, c, grade in zip(*map(np.ndarray.tolist, qrels.judgements), strict=True):
                    subset.split.setdefault(qrels.queries[q], name)
                    subset.grades.setdefault(qrels.queries[q], {})[qrels.candidates[c]] = grade
    rows = _rows(str(folder), subsets, with_qrels=with_qrels, unanswered=unanswered)
    if not splits:
        return rows._replace(questions=replace(rows.questions, split=None))
    counts = Counter(rows.questions.split)
    if split is None and len(counts) > 1:
        named = listed((f"{name} {count:,}" for name, count in counts.items()), 6)
        note = f"{folder}: questions of several splits are taken together ({named}): --split NAME takes one"
        rows = rows._replace(notes=(note, *rows.notes))
    return rows


def _languages(folder: Path, name: str) -> tuple[str | None, str | None]:
    """Find the languages of the corpus and of the queries in a subset's name."""
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


def _read_texts(texts: dict[Key, str], path: Path, language: str | None, folder: Path) -> None:
    """Add the documents or queries of a file, a title before its text."""
    note_file("pool", path)
    for where, row in read_rows(path, ("_id", "id", "title", "text", "language", "lang")):
        name = name_of(row, "id" if is_missing(row.get("_id")) else "_id", where)
        text = " ".join(filter(None, (text_of(row, part, where) for part in ("title", "text")))).strip()
        word = next((row[n] for n in ("language", "lang") if not is_missing(row.get(n))), None)
        tag = language if word is None else tag_of(str(word), any_code=True)
        if tag is None and word:
            raise InputError(f"{where}: {word!r:.60} is no language: write a tag such as 'en' or 'zh-Hant'")
        if tag is None:
            raise InputError(
                f"{folder} does not say the language of its texts: give each row a 'language', or make one "
                "folder for each language (en/, de/) and give the folder above. Where all are in one "
                "language, say it: --languages en, in Python languages=['en']"
            )
        if texts.setdefault((tag, name), text) != text:
            raise InputError(f"{where}: the id {name!r:.80} stands twice, with another text: keep one")


def _rows(source: str, subsets: Sequence[_Subset], *, with_qrels: bool, unanswered: bool) -> Rows:
    """Join subsets to questions and candidates of one pool."""
    documents, places = _named(subsets, "documents")
    answers: dict[str, set[frozenset[str]]] = {}  # of each query: the sets of documents relevant to it
    lost = Counter[str]()
    for subset, named in zip(subsets, places, strict=True):
        for query, grades in subset.grades.items():
            right = [name for name, grade in grades.items() if grade > 0]
            unknown = [name for name in right if name not in named]
            lost["judgements of documents that are not in the corpus"] += len(unknown)
            if len(unknown) < len(right):
                relevant = frozenset(name for n in right for _, name in named.get(n, ()))
                answers.setdefault(query, set()).add(relevant)
    asked, names = _named(subsets, "queries", {query for query, sets in answers.items() if len(sets) > 1})
    row_of = {place: row for row, place in enumerate(documents)}
    key_of, splits, judgements = dict[Key, str](), list[str](), list[tuple[int, str, int]]()
    for subset, of_documents, of_queries in zip(subsets, places, names, strict=True):
        unknown = [query for query in subset.grades if query not in of_queries]
        lost["judged queries that are not among the queries"] += len(unknown)
        for query, queries in of_queries.items():
            grades = {n: g for n, g in subset.grades.get(query, {}).items() if n in of_documents}
            if with_qrels and not any(grade > 0 or unanswered for grade in grades.values()):
                lost["queries without a relevant document"] += len(queries)
                continue
            for place in queries:
                if not asked[place]:
                    lost["queries without text"] += 1
                elif place not in key_of:
                    key_of[place] = place[1] if with_qrels else ":".join(place)
                    splits.append(subset.split.get(query, ""))
            key = queries[0][1]
            judgements += [(row_of[p], key, g) for n, g in grades.items() for p in of_documents[n]]
    words = listed(f"{words} ({count:,})" for words, count in lost.items() if count)
    if not key_of or not documents:
        raise InputError(
            f"{source}: no judgement above 0 is of a query and a document that are there ({words}): see "
            "whether the ids of the qrels are those of the files"
        )
    code, languages = numbered(tag for tag, _ in [*documents, *key_of])
    keys, ids, m = list(key_of.values()), [name for _, name in key_of], len(documents)
    number, _ = numbered(keys)
    cluster = joined(number, ids)[number]
    questions = Questions(ids, code[m:], [asked[p] for p in key_of], keys, cluster, split=splits)
    context, keyless = [""] * m, list[tuple[str, ...]]([()] * m)
    candidates = Candidates(
        [name for _, name in documents], code[:m], list(documents.values()), context, keyless, code[:m]
    )
    sought = {*keys}
    candidates = judged(candidates, (triple for triple in judgements if triple[1] in sought))
    cluster = clusters_of_candidates(questions, candidates.keys, context, code[:m])
    notes = (f"{source}: left out are {words}",) if words else ()
    return Rows(tuple(languages), questions, replace(candidates, cluster=cluster), notes)


def _named(
    subsets: Sequence[_Subset], side: str, apart: Collection[str] = ()
) -> tuple[dict[Key, str], list[dict[str, list[Key]]]]:
    """Name the texts of subsets: by their ids, or "subset:id" for those `apart` and for a second text.

    Also the places (language, name) of each id in each subset.
    """
    texts, places = dict[Key, str](), []
    for subset in subsets:
        named: dict[str, list[Key]] = {}
        for (tag, name), text in getattr(subset, side).items():
            is_same = name not in apart and texts.get((tag, name), text) == text
            place = tag, name if is_same or not subset.name else f"{subset.name}:{name}"
            texts[place] = text
            named.setdefault(name, []).append(place)
        places.append(named)
    return texts, places


def judged_by(source: str, rows: Rows, judgements: QrelsLike, *, unanswered: bool = False) -> Rows:
    """Judge the rows anew, with a sentence on what is left out.

    Judgements name texts by ids, or as language:id. A question without a relevant candidate (with
    `unanswered`, a judged one) is left out.
    """
    languages, questions, candidates, notes = rows
    qrels, places = Qrels.of(judgements), []
    sides = ("queries", questions, qrels.queries), ("candidates", candidates, qrels.candidates)
    for what, side, names in sides:
        place = Names([languages[code] for code in side.language.tolist()], side.ids).rows(names)
        if (place == AMBIGUOUS).any():
            first = names[int(np.argmax(place == AMBIGUOUS))]
            raise InputError(
                f"{qrels.source}: {first!r} is the id of {what} in several languages: write language:id"
            )
        places.append(place)
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
    keys = [f"{languages[code]}:{name}" for code, name in zip(questions.language, questions.ids, strict=True)]
    stays = np.isin(query, answered)
    triples = zip(*(side[stays].tolist() for side in (candidate, query, grade)), strict=True)
    candidates = judged(candidates, ((row, keys[q], g) for row, q, g in triples))
    counts = {
        "queries of the judgements that are not in the data": int((places[0] < 0).sum()),
        "candidates of the judgements that are not in the data": int((places[1] < 0).sum()),
        "queries without a relevant candidate": len(questions) - len(answered),
    }
    if lost := listed(f"{what} ({count:,})" for what, count in counts.items() if count):
        notes = (*notes, f"{qrels.source}: left out are {lost}")
    return Rows(languages, taken(replace(questions, key=keys), answered), candidates, notes)
