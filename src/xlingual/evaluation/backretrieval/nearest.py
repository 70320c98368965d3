"""Steps 1 and 2 of Backretrieval: for each source text the nearest target text, with all that tie for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.evaluation.lists import first_group, refuse_short
from xlingual.evaluation.neighbours import Neighbours, Scores, listed_neighbours, neighbours_of
from xlingual.evaluation.passes import Request, TextUnion, answered
from xlingual.evaluation.run import Tally, TextSides
from xlingual.evaluation.run_systems import SystemLists
from xlingual.ragged import groups, members
from xlingual.ranking import Banked, Progress, Ranker, Top
from xlingual.streams import stream

_LISTED = 200_000  # tied pairs listed for one sample at the most


@dataclass(frozen=True)
class Nearest:
    """The nearest targets of the queries of one sample; parallel arrays, ordered by query.

    `query` is a position in the sample's sources, `target` one in its targets, `share` sums to 1 for each
    query: targets that tie for nearest are averaged over.
    """

    query: Ints  # [e]
    target: Ints  # [e]
    share: Floats  # [e]
    n_tied: Ints  # [n] targets that tie for nearest; 0 where a search system returned none
    neighbours: Neighbours | None = None  # the first targets of each query, where they were asked for

    def single(self, values: Ints) -> Ints:
        """Select the value of each query's one entry, −1 where several texts tie for nearest, int64 [n]."""
        of_query = np.full(len(self.n_tied), -1, dtype=np.int64)
        of_query[self.query] = values
        return np.where(self.n_tied == 1, of_query, -1)


def cluster_ids(manifest: Manifest, number: int, sample: Sample, retrieved: Ints) -> tuple[Ints, Ints]:
    """Look up the cluster ids of the queries of task `number`, and those of the texts that they retrieved.

    `retrieved` [n] are positions among the targets. A query with several nearest texts (−1) is alone in the
    second: its id is negative.
    """
    alone, cluster = -1 - (number * len(manifest) + sample.source), manifest.cluster
    of_retrieved = np.where(retrieved >= 0, cluster[sample.target[np.maximum(retrieved, 0)]], alone)
    return cluster[sample.source], of_retrieved


def nearest_texts(
    vectors: TextSides | SystemLists,
    samples: Sequence[Sample],
    *,
    ranker: Ranker,
    tally: Tally,
    repair: Banked | None = None,
    progress: Progress | None = None,
    first: int = 1,
) -> list[Nearest]:
    """Find the nearest targets for each sample of one language pair, from as few products as possible.

    In the first sample, the `first` nearest targets of each query are kept too, if these are more than one.
    """
    firsts = [first, *[1] * (len(samples) - 1)]
    if isinstance(vectors, SystemLists):
        return [_listed(vectors, sample, k) for sample, k in zip(samples, firsts, strict=True)]
    asked = [(sample, partial(_request, k=k)) for sample, k in zip(samples, firsts, strict=True)]
    return answered(vectors, asked, ranker=ranker, repair=repair, progress=progress, tally=tally)


def tie_cap(n_queries: int) -> int:
    """Compute how many ties may be listed for each query, so that a sample lists some 200,000."""
    return int(np.clip(_LISTED // max(n_queries, 1), 16, 1000))


def _request(union: TextUnion, sample: Sample, k: int) -> Request:
    """Ask for the nearest targets of one sample, and for the `k` first ones, if more than one."""
    (source, target), n = union.codes(sample), len(sample.source)
    k, cap = min(k, len(target)), tie_cap(n)
    watcher = Top(
        k,
        union.similarity.shape,
        weights=union.weights(target),
        queries=distinct_values(source),
        cap=cap,
        seed=sample.seed,
    )

    def result() -> Nearest:
        """Go back from distinct vectors to the sample's texts."""
        top = watcher.result()
        best = np.flatnonzero(top.above == 0)
        query, line = members(top.query[best], source)
        line = best[line]
        n_tied = np.zeros(n, dtype=np.int64)
        n_tied[query] = top.tied[line]
        # a target vector that more texts share is listed by some of them, drawn: the first would be biased
        drawn = stream(sample.seed, "tied targets").permutation(len(target))
        order = drawn[np.argsort(target[drawn], kind="stable")]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - np.repeat(*groups(target[order]))
        listed = np.flatnonzero(place < cap)
        owner, member = members(target[listed], top.candidate[line])
        weight = top.weight[line].astype(np.float64)
        share = weight / np.bincount(query, weight, n)[query] / np.bincount(owner, minlength=len(line))
        scores = Scores(union.similarity, union.offsets)
        neighbours = neighbours_of(top, scores, source, target, k) if k > 1 else None
        return Nearest(query[owner], listed[member], share[owner], n_tied, neighbours)

    return watcher, result


def _listed(system: SystemLists, sample: Sample, k: int) -> Nearest:
    """Take the first target of each query's list, with all that tie for it; a query may have none.

    Where a list ends before the first target of the sample, each target may be it, and some are drawn.
    Raises InputError where that is so of many queries.
    """
    lists = system.of(sample)
    refuse_short(lists, system.who(sample))
    query, target = first_group(lists)
    n_tied = np.bincount(query, minlength=len(lists)).astype(np.int64)
    share = 1.0 / n_tied[query]
    unknown = np.flatnonzero(~lists.ended & (lists.lengths == 0))
    if len(unknown):
        cap = min(tie_cap(len(lists)), lists.n_candidates)
        drawn = stream(sample.seed, "tied targets").permutation(lists.n_candidates)[:cap]
        n_tied[unknown] = lists.n_candidates
        query = np.concatenate([query, np.repeat(unknown, cap)])
        target = np.concatenate([target, np.tile(drawn, len(unknown))])
        share = np.concatenate([share, np.full(cap * len(unknown), 1.0 / cap)])
        order = np.argsort(query, kind="stable")
        query, target, share = query[order], target[order], share[order]
    return Nearest(query, target, share, n_tied, listed_neighbours(lists, k) if k > 1 else None)
