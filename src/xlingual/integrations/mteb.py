"""A multilingual pool or a manifest as a retrieval task of MTEB, in memory.

mteb.evaluate(model, mteb_task(pool), cache=None)

With a pool, MTEB's map_at_1000, hit_rate_at_10 and ndcg_at_10 are AP@1000, Success@10 and nDCG@10 here, by
the pool's grades; with a manifest, hit_rate_at_10 of the subset en-de is Success@10 (or R@10) of
cross-lingual retrieval. Where candidates tie they differ: MTEB takes them in some order, by scores in
float32, and the numbers here are expectations over all orders. MTEB knows the first 1000 candidates only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import language_code
from xlingual.data.manifest import Manifest, ManifestLike, manifest_of
from xlingual.data.pools.pool import MultilingualPool, is_pool
from xlingual.errors import InputError
from xlingual.evaluation.pair_run import make_tasks
from xlingual.evaluation.run import Options
from xlingual.integrations.exports import metric_name
from xlingual.records import Texts

SPLIT = "test"
_MEASURES = {  # of trec_eval → ours, which have names of MTEB
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "recall": "R",
    "P": "P",
    "success": "Success",
}


def mteb_task(
    data: MultilingualPool | ManifestLike,
    name: str | None = None,
    *,
    candidate_text: str = "sentence",
    pairs: str | Sequence[str] | None = None,
    **sampling: Any,  # noqa: ANN401  (as of crosslingual_retrieval)
) -> Any:  # noqa: ANN401  (a task of MTEB)
    """Return a task of MTEB (`AbsTaskRetrieval`).

    A pool is one subset, "default": its questions are the queries, its candidates the corpus. A manifest, or
    data as `Manifest.of` takes them, has a subset for each language pair: texts of the source language look
    for the texts of their own items in the target language, as in `crosslingual_retrieval`, whose
    `sample`, `seed`, `texts_per_item` and `queries` choose them. `name` is that of
    the task and of its file, so without a slash; `candidate_text` is that of `multilingual_pool`.
    """
    if name is not None and (not name.strip() or set(name) & set("/\\")):
        fitting = re.sub(r"\s*[/\\]+\s*", "-", name).strip("- ") or "Shop"
        raise InputError(f"MTEB names files by the task, which {name!r} does not fit: write {fitting!r}")
    if isinstance(data, str | Path) and is_pool(data):
        data = MultilingualPool.read(data)
    if isinstance(data, MultilingualPool):
        if pairs is not None or sampling:
            raise InputError("language pairs and samples are for manifests: a pool is one task as a whole")
        languages: Any = [language_code(tag) for tag in data.languages]
        subsets = {"default": _of_pool(data, candidate_text)}
        kind, main = "Pool", "map_at_1000"
    else:
        data = manifest_of(data, sampling)
        tasks, _ = make_tasks(data, Options(pairs=pairs, **sampling), matching=True)
        languages = {
            f"{task.source}-{task.target}": [language_code(task.source), language_code(task.target)]
            for task in tasks
        }
        subsets = {
            f"{task.source}-{task.target}": _of_rows(data, task.sample.source, task.sample.target)
            for task in tasks
        }
        kind, main = "CrosslingualRetrieval", "hit_rate_at_10"
    return _task(name or f"{kind}-{data.digest[:8]}", data, languages, subsets, main)


def _of_pool(pool: MultilingualPool, candidate_text: str) -> dict[str, Any]:
    question, candidate = pool.relevant
    texts = pool.question_texts(), pool.candidate_texts(candidate_text)
    return _split(*texts, question, candidate, pool.grades)


def _of_rows(manifest: Manifest, source: Ints, target: Ints) -> dict[str, Any]:
    """Return texts of a language pair: those of one item match."""
    order = np.argsort(manifest.item[target], kind="stable")
    items = manifest.item[target][order]
    first = np.searchsorted(items, manifest.item[source], "left")
    counts = np.searchsorted(items, manifest.item[source], "right") - first
    query = np.repeat(np.arange(len(source)), counts)
    within = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    return _split(
        manifest.texts(source), manifest.texts(target), query, order[np.repeat(first, counts) + within]
    )


def _split(
    queries: Texts, candidates: Texts, query: Ints, candidate: Ints, grades: Ints | None = None
) -> dict[str, Any]:
    """Return what MTEB calls a split; `query` and `candidate` are the relevant pairs, grades 1 by default."""
    names = [_names(part, prefix) for part, prefix in ((queries, "q"), (candidates, "c"))]
    relevant: dict[str, dict[str, int]] = {name: {} for name in names[0]}
    grades = np.ones(len(query), dtype=np.int64) if grades is None else grades
    for one, other, grade in zip(query.tolist(), candidate.tolist(), grades.tolist(), strict=True):
        relevant[names[0][one]][names[1][other]] = grade
    return {
        "queries": {"id": names[0], "text": list(queries.text)},
        "corpus": {"id": names[1], "text": list(candidates.text)},
        "relevant_docs": relevant,
        "top_ranked": None,
    }


def _names(texts: Texts, prefix: str) -> list[str]:
    """Return ids that no query shares with a candidate: MTEB may leave such pairs out."""
    return [f"{prefix}:{tag}:{name}" for tag, name in zip(texts.language, texts.ids, strict=True)]


def _task(
    name: str,
    data: MultilingualPool | Manifest,
    languages: list[str] | dict[str, list[str]],
    subsets: Mapping[str, dict[str, Any]],
    main: str,
) -> Any:  # noqa: ANN401
    try:
        from datasets import Dataset
        from mteb.abstasks.retrieval import AbsTaskRetrieval
        from mteb.abstasks.task_metadata import TaskMetadata
    except ImportError as error:
        raise InputError("a task of MTEB needs the package mteb: pip install 'mteb>=2'") from error

    class OwnTask(AbsTaskRetrieval):  # type: ignore[misc]  # the library is untyped here
        metadata = TaskMetadata(
            name=name,
            description=f"{name}, from {Path(str(data.source)).name} (xlingual)",
            reference=None,
            dataset={"path": str(data.source), "revision": data.digest},
            type="Retrieval",
            category="t2t",
            modalities=["text"],
            eval_splits=[SPLIT],
            eval_langs=languages,
            main_score=main,
        )

        def task_specific_scores(
            self,
            scores: Mapping[str, Mapping[str, float]],
            *given: Any,  # noqa: ANN401
            **more: Any,  # noqa: ANN401
        ) -> dict[str, float]:
            """Return the means of the scores of queries, which MTEB has rounded to 5 digits."""
            found: dict[str, float] = {}
            for theirs in next(iter(scores.values())):
                kind, _, k = theirs.rpartition("_")
                if kind in _MEASURES:
                    own = [of_query[theirs] for of_query in scores.values()]
                    found[metric_name(f"{_MEASURES[kind]}@{k}")] = float(np.mean(own))
            return found

        def load_data(self, *given: Any, **more: Any) -> None:  # noqa: ANN401
            """Take the data that is there."""
            self.dataset = {
                subset: {
                    SPLIT: split
                    | {side: Dataset.from_dict(split[side]) for side in ("queries", "corpus")}
                    | {"relevant_docs": {query: dict(own) for query, own in split["relevant_docs"].items()}}
                }
                for subset, split in subsets.items()
            }
            self.data_loaded = True

    return OwnTask()
