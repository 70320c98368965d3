"""Everything a validation needs of one encoder's texts: nearest targets and ranks of matches, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.embed import TextVectors
from xlingual.evaluation.backretrieval.nearest import Nearest, NearestRequest, nearest_texts
from xlingual.evaluation.crosslingual_retrieval.matches import match_requests, rank_matches
from xlingual.evaluation.passes import TextUnion, one_pass
from xlingual.ranking import CPU, Progress, Ranker, Reduction
from xlingual.records import RankCounts


@dataclass(frozen=True)
class TextSteps:
    """What one encoder's texts say in each sample of one language pair."""

    nearest: list[Nearest]  # on the non-matching samples
    matches: list[RankCounts]  # on the matching ones: the best match of each source


def text_steps(
    manifest: Manifest,
    vectors: TextVectors,
    non_matching: Sequence[Sample],
    matching: Sequence[Sample],
    *,
    ranker: Ranker = CPU,
    progress: Progress | None = None,
) -> TextSteps:
    """Return nearest targets and ranks of matches of one language pair.

    All samples share one product of the union of their texts where that is cheaper than a product for each.
    """
    samples = [*non_matching, *matching]
    if not one_pass([(sample.source, sample.target) for sample in samples]):
        return TextSteps(
            nearest_texts(vectors, non_matching, ranker=ranker, progress=progress),
            [found.best() for found in rank_matches(manifest, vectors, matching, ranker=ranker)],
        )
    union = TextUnion(vectors, samples)
    nearest = [NearestRequest(union, sample) for sample in non_matching]
    matches = match_requests(union, matching, manifest)
    reductions: list[Reduction] = [request.top for request in nearest]
    reductions += [request.counts for request in matches]
    ranker.scan(union.similarity, reductions, progress=progress)
    return TextSteps(
        [request.result() for request in nearest], [request.result().best() for request in matches]
    )
