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
from xlingual.ranking import Adjustment, HubRepair


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
            adjustment=_adjustment(run, found, task.sample, run.repair(encoder, [task.source])),
        )


def _adjustment(
    run: PairRun, vectors: TextSides, sample: Sample, repair: HubRepair | None
) -> Adjustment | None:
    """Return the adjustment of a sample's sources and targets by the repair of hubs, if there is one."""
    if repair is None:
        return None
    union = TextUnion(vectors, [sample])
    (found,) = union.adjustments([sample], repair, run.options.ranker, None)
    assert found is not None
    source, target = union.codes(sample)
    return found.take(source, target)
