"""The queries and targets of an evaluation as files, for a search engine to index and to search.

Of each language pair and seed they are those that `evaluate` draws with the same options. Texts are named
"language:id", as in runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.names import escaped
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.data.samples import dependent, resolve_pairs
from xlingual.errors import parameter
from xlingual.evaluation.pair_run import PairTask, make_tasks, usable_rows
from xlingual.evaluation.run import Options
from xlingual.evaluation.trec import QRELS, folder_of, texts_of, unfinished
from xlingual.files import make_folder, refuse_loss
from xlingual.ragged import members

QUERIES, TARGETS = "queries.jsonl", "targets.jsonl"
_FILES = (QUERIES, TARGETS, QRELS)


@dataclass(frozen=True)
class SampledFolder:
    """A folder of one search: n queries among m targets."""

    path: Path
    n_queries: int
    n_targets: int


def write_samples(
    manifest: Manifest, out: str | Path, options: Options, *, matching: bool = False, force: bool = False
) -> list[SampledFolder]:
    """Write the queries and targets of each language pair and seed; return the folders.

    A folder is named SOURCE-TARGET, of several seeds SOURCE-TARGET.seedN. With `matching` targets are the
    texts of the queries' items, as in cross-lingual retrieval, and there are qrels; without it they are of
    other items, as in Backretrieval. Folders that hold such files are refused, unless `force`: then these are
    replaced.
    """
    usable = None
    if options.skip_broken:
        pairs = resolve_pairs(options.pairs, manifest.languages)
        usable = usable_rows(manifest, list(dict.fromkeys(language for pair in pairs for language in pair)))
    tasks, _ = make_tasks(manifest, options, matching=matching, usable=usable)
    several, found = len({task.sample.seed for task in tasks}) > 1, []
    family = dependent(manifest)
    names = [folder_of(task.source, task.target, task.sample.seed, several) for task in tasks]
    with _written(out, names, force) as begun:
        for task, name in zip(tasks, names, strict=True):
            sample = task.sample
            queries = _texts(manifest, sample.source)
            for query, code in zip(queries, family[sample.source].tolist(), strict=True):
                query["cluster"] = f"family {code}"
            _write(
                begun / name,
                queries,
                _texts(manifest, sample.target),
                _matches(manifest, task) if matching else (),
            )
            found.append(SampledFolder(Path(out) / name, len(sample.source), len(sample.target)))
    return found


def write_pool_texts(pool: MultilingualPool, out: str | Path, *, force: bool = False) -> SampledFolder:
    """Write the questions of a pool as queries, its candidates as targets, and the grades of judged pairs.

    A folder that holds such files is refused, unless `force`: then these are replaced.
    """
    questions, candidates = (_of_pool(pool, part) for part in (pool.questions, pool.candidates))
    for question, cluster in zip(questions, pool.questions.cluster.tolist(), strict=True):
        question["cluster"] = str(cluster)
    pairs = zip(*(column.tolist() for column in pool.judged), strict=True)
    with _written(out, ("",), force) as begun:
        _write(begun, questions, candidates, pairs)
    return SampledFolder(Path(out), len(questions), len(candidates))


@contextmanager
def _written(out: str | Path, folders: Sequence[str], force: bool) -> Iterator[Path]:
    """Give a folder whose files are moved into `out` on success, where they replace those of such names."""
    present = [path for folder in folders for name in _FILES if (path := Path(out) / folder / name).exists()]
    if not force:
        refuse_loss(out, present, f"replace them with {parameter('force', True)}")
    with unfinished(out) as begun:
        yield begun
        for path in present:
            if not (begun / path.relative_to(out)).exists():
                path.unlink(missing_ok=True)  # qrels of an earlier sample


def _write(
    folder: Path,
    queries: Sequence[Mapping[str, str]],
    targets: Sequence[Mapping[str, str]],
    judged: Iterable[tuple[int, int, int]],
) -> None:
    """Write texts, and the grades of judged pairs, if there are any."""
    make_folder(folder)
    for name, texts in ((QUERIES, queries), (TARGETS, targets)):
        _write_lines(folder / name, (json.dumps(text, ensure_ascii=False) for text in texts))
    lines = [f"{queries[q]['id']} 0 {targets[t]['id']} {grade}" for q, t, grade in judged]
    if lines:
        _write_lines(folder / QRELS, lines)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _texts(manifest: Manifest, rows: Ints) -> list[dict[str, str]]:
    """Return the texts of some rows, with the other text fields that a manifest has."""
    names, texts = [member.name for member in texts_of(manifest, rows)], manifest.texts(rows)
    return [
        {"id": name, "lang": tag, "text": text}
        | {
            field: values[place]
            for field, values in texts.fields.items()
            if field not in ("id", "lang", "text")
        }
        for place, (name, tag, text) in enumerate(zip(names, texts.language, texts.text, strict=True))
    ]


def _matches(manifest: Manifest, task: PairTask) -> Iterator[tuple[int, int, int]]:
    sample = task.sample
    pairs = members(manifest.item[sample.target], manifest.item[sample.source])
    return zip(*(side.tolist() for side in pairs), np.ones(len(pairs[0]), dtype=int).tolist(), strict=True)


def _of_pool(pool: MultilingualPool, part: Questions | Candidates) -> list[dict[str, str]]:
    found = []
    for place, (code, own, text) in enumerate(zip(part.language.tolist(), part.ids, part.text, strict=True)):
        tag = pool.languages[code]
        context = part.context[place] if isinstance(part, Candidates) else ""
        more = {"context": context} if context else {}
        found.append({"id": f"{tag}:{escaped(own)}", "lang": tag, "text": text} | more)
    return found
