"""The files of a retrieval folder as BEIR and MTEB write it: corpus, queries, and judgements by split.

corpus.jsonl  queries.jsonl  qrels/test.tsv              BEIR; also .gz, .parquet, or folders of shards
en/corpus.jsonl …            de/corpus.jsonl …           one folder for each language
de-corpus/test-*.parquet  de-queries/…  de-qrels/…       MTEB's subsets; eng-deu-corpus: of two languages
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from xlingual.data.reading.records import ENDINGS
from xlingual.data.tags import tag_of
from xlingual.errors import InputError, listed
from xlingual.languages import name_of

LAYOUT = "corpus, queries and qrels as BEIR and MTEB write them (corpus.jsonl, queries.jsonl, qrels/*.tsv)"
_CORPUS, _QUERIES, _QRELS = ("corpus",), ("queries", "query"), ("qrels", "default", "data")
_SHARD = re.compile(r"(?P<split>.*?)(?:-[0-9]+-of-[0-9]+)?")
_PART = re.compile(r"(.+)-(?:corpus|queries|query)")
_PAIR = re.compile(r"(?P<corpus>[a-z]{2,3}(?:_[A-Z][a-z]{3})?)-(?P<query>[a-z]{2,3}(?:_[A-Z][a-z]{3})?)")


@dataclass(frozen=True)
class Subset:
    """A corpus, the queries to it and their judgements; each with its files by split ("" for none)."""

    name: str  # "" where the folder has one subset only
    corpus: dict[str, list[Path]]
    queries: dict[str, list[Path]]
    qrels: dict[str, list[Path]]

    @property
    def only_corpus(self) -> bool:
        """Whether there are neither queries nor judgements."""
        return bool(self.corpus) and not self.queries and not self.qrels

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The languages of the corpus and of the queries, as the name says them; None where it says none.

        A name of two is the corpus' language and the queries', as in MTEB.
        """
        pair = _PAIR.fullmatch(self.name)
        if pair and (len(pair["query"]) > 2 or name_of(pair["query"])):
            return tag_of(pair["corpus"], any_code=True), tag_of(pair["query"], any_code=True)
        tag = tag_of(self.name) if self.name else None
        return tag, tag


def is_retrieval_folder(folder: Path) -> bool:
    """Return whether a folder holds a corpus with queries, in one of the layouts."""
    try:
        return folder.is_dir() and bool(_subsets(folder))
    except OSError:  # of a folder in it that may not be read
        return False


def subsets_of(folder: Path, *, judged: bool = True) -> list[Subset]:
    """Return the subsets of a folder, by name; one that is a corpus alone has candidates only.

    Raises InputError where one lacks another part; without `judged` the judgements may be elsewhere.
    """
    found = _subsets(folder)
    for subset in found:
        parts = ("corpus", "queries", *(("qrels",) if judged else ()))
        missing = [name for name in parts if not getattr(subset, name)]
        if missing and not subset.only_corpus:
            where = f"{folder}{f', {subset.name}' if subset.name else ''}"
            has = next(f"{'a ' if name == 'corpus' else ''}{name}" for name in parts if name not in missing)
            raise InputError(
                f"{where} has {has} but no {' and no '.join(missing)}: expected {LAYOUT}, or Parquet in "
                "folders of these names"
            )
    return found


def splits_of(subsets: Iterable[Subset]) -> list[str]:
    """Return the names of the splits that have judgements, `test` first."""
    names = dict.fromkeys(name for subset in subsets for name in subset.qrels if name)
    return sorted(names, key=lambda name: name != "test")


def of_split(files: dict[str, list[Path]], split: str | None) -> list[Path]:
    """Return the files of a split where there are some, else all."""
    if split is not None and split in files:
        return files[split]
    return [path for paths in files.values() for path in paths]


def _subsets(folder: Path) -> list[Subset]:
    whole = _subset("", folder, "")
    if whole.corpus and (whole.queries or whole.qrels):
        return [whole]
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    named = [match for path in folders if (match := _PART.fullmatch(path.name))]
    found = [_subset(prefix, folder, f"{prefix}-") for prefix in dict.fromkeys(match[1] for match in named)]
    if not any(subset.corpus for subset in found):
        found = [_subset(path.name, path, "") for path in folders]
    whole_ones = [subset for subset in found if subset.corpus and (subset.queries or subset.qrels)]
    return [subset for subset in found if subset.corpus or subset.queries] if whole_ones else []


def _subset(name: str, folder: Path, prefix: str) -> Subset:
    return Subset(name, *(_files(folder, prefix, stems) for stems in (_CORPUS, _QUERIES, _QRELS)))


def _files(folder: Path, prefix: str, stems: tuple[str, ...]) -> dict[str, list[Path]]:
    """Return the files of the first of some names that there is, by split."""
    for stem in stems:
        alone = [path for ending in ENDINGS if (path := folder / f"{prefix}{stem}{ending}").is_file()]
        if len(alone) > 1:
            raise InputError(f"{folder} holds {listed(path.name for path in alone)}: keep one of them")
        if alone:
            return {"": alone}
        within = folder / f"{prefix}{stem}"
        found: dict[str, list[Path]] = {}
        for path in sorted(within.iterdir()) if within.is_dir() else ():
            ending = next((one for one in sorted(ENDINGS, key=len) if path.name.endswith(one)), None)
            if ending is not None and path.is_file():
                match = _SHARD.fullmatch(path.name.removesuffix(ending))
                found.setdefault(match["split"] if match else "", []).append(path)
        if found:
            return found
    return {}
