"""Corpora of questions as multilingual pools: XQuAD, MLQA and MIRACL."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from xlingual.data.corpora.files import CorpusFolder, parts_of
from xlingual.data.pools.build import build_pool
from xlingual.data.pools.retrieval_folder import Judgements, rows_of
from xlingual.data.pools.rows import PoolRows
from xlingual.data.pools.squad import pool_of_squad
from xlingual.data.rows import read_lines, read_rows
from xlingual.errors import InputError


def xquad(folder: CorpusFolder) -> PoolRows:
    """Return the pool of XQuAD; sentences are found by rules."""
    named = ((parts_of(path, r"xquad\.(?P<lang>\w+)\.json"), path) for path in folder.needed("xquad.*.json"))
    return _squad(folder, [(folder.language(parts["lang"], path), path) for parts, path in named if parts])


def mlqa(folder: CorpusFolder) -> PoolRows:
    """Return the pool of MLQA's questions about paragraphs in their own language, of one split."""
    pattern = r"(?P<split>\w+)-context-(?P<lang>\w+)-question-(?P=lang)\.json"
    found = [(parts_of(path, pattern), path) for path in folder.needed("*-context-*-question-*.json")]
    own = [(parts["lang"], path) for parts, path in found if parts and parts["split"] == folder.split]
    if not own:
        raise folder.wrong(f"no file of the split {folder.split!r}")
    return _squad(folder, [(folder.language(tag, path), path) for tag, path in own])


def _squad(folder: CorpusFolder, files: list[tuple[str, Path]]) -> PoolRows:
    wanted = [(tag, path) for tag, path in files if folder.wants(tag)]
    return pool_of_squad(wanted, str(folder.path), segment=True)[0]


def miracl(folder: CorpusFolder) -> PoolRows:
    """Return the pool of MIRACL: the passages of each wanted language, and the queries of one split."""
    counts, read = Counter[str](), []
    for path in folder.needed("topics.miracl-*.tsv"):
        parts = parts_of(path, r"topics\.(?P<version>miracl-v[\d.]+)-(?P<lang>[a-z]+)-(?P<split>[\w-]+)\.tsv")
        if not parts or parts["split"] != folder.split:
            continue
        tag = folder.language(parts["lang"], path)
        if folder.wants(tag):
            read.append(_miracl(folder, path, parts["lang"], tag, counts))
    if not read:
        raise folder.wrong(f"no topics of the split {folder.split!r} in the wanted languages")
    source = str(folder.path)
    known, questions, candidates, notes = rows_of(source, read, counts, splits=True, equal_ids="different")
    return build_pool(source, known, questions, candidates, notes=notes)


def _miracl(folder: CorpusFolder, topics: Path, word: str, tag: str, counts: Counter[str]) -> Judgements:
    queries = {}
    for number, line in read_lines(topics):
        name, mark, text = line.partition("\t")
        if not mark:
            raise InputError(f"{topics}, line {number}: no tab: expected an id, a tab and a query")
        queries[tag, name] = text.strip()
    name = topics.name.replace("topics.", "qrels.", 1)
    judged = folder.files(name)
    passages = [path for path in folder.files("docs-*") if path.parent.name.endswith(f"-{word}")]
    if not judged or not passages:
        raise folder.wrong(f"{name} is missing" if not judged else f"no miracl-corpus-*-{word}/docs-*")
    documents = {}
    for path in passages:
        for where, record in read_rows(path, ("docid", "title", "text")):
            if not isinstance(record.get("docid"), str):
                raise InputError(f"{where}: no 'docid': it is no passage of MIRACL")
            parts = (record.get("title") or "", record.get("text") or "")
            documents[tag, record["docid"]] = " ".join(filter(None, parts))
    found = Judgements(tag, documents, queries)
    for path in judged:
        found.take(path, folder.split or "", counts)
    return found
