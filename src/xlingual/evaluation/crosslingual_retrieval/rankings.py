"""The lists of cross-lingual retrieval: the targets of each source text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xlingual.data.samples import Sample
from xlingual.evaluation.listed import SystemLists
from xlingual.evaluation.pair_run import PairRun
from xlingual.evaluation.passes import TextUnion
from xlingual.evaluation.rankings import Ranking, texts_of
from xlingual.evaluation.run import TextSides
from xlingual.ragged import members
from xlingual.ranking import Banked, Offsets


def rankings(run: PairRun, encoder: str) -> Iterator[Ranking]:
    """Yield the lists of an encoder for each task."""
    manifest = run.manifest
    found = run.found_again(encoder)
    for task in run.tasks:
        source, target = task.sample.source, task.sample.target
        ranking = Ranking(
            *(encoder, task.source, task.target, task.sample.seed),
            queries=texts_of(manifest, source),
            candidates=texts_of(manifest, target),
            relevant=members(manifest.item[target], manifest.item[source]),
        )
        if isinstance(found, SystemLists):
            yield replace(ranking, given=found.of(task.sample))
            continue
        yield replace(
            ranking,
            query_vectors=found.queries.unit(source),
            candidate_vectors=found.candidates.unit(target),
            offsets=_offsets(run, found, task.sample, run.repair(encoder, [task.source])),
        )


def _offsets(run: PairRun, vectors: TextSides, sample: Sample, repair: Banked | None) -> Offsets | None:
    """Return the offsets of a sample's targets by the correction of hubs, if there is one."""
    if repair is None:
        return None
    union = TextUnion(vectors, [sample])
    found = repair.offsets(union.similarity, run.options.ranker)
    return found.take(union.codes(sample)[1])
