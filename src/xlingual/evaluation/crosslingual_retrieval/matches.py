"""Where the matches of queries stand among their targets, for all samples of a language pair in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.errors import parameter, warn
from xlingual.evaluation.hubs import listed_places, places_of
from xlingual.evaluation.listed import SystemLists, check_reach
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.neighbours import Neighbours, Scores, listed_neighbours, neighbours_of
from xlingual.evaluation.passes import TextUnion, corrected, one_pass, two_passes
from xlingual.evaluation.run import Tally, TextSides
from xlingual.measures import RankMeasure
from xlingual.measures.hubness import Places
from xlingual.ragged import distinct_of, members
from xlingual.ranking import Banked, Counts, Offsets, Progress, Ranker, Top, Watcher, rank
from xlingual.records import TargetCounts


def matches_and_places(
    manifest: Manifest,
    vectors: TextSides | SystemLists,
    samples: Sequence[Sample],
    *,
    ranker: Ranker,
    tally: Tally,
    repair: Banked | None = None,
    progress: Progress | None = None,
    measures: Sequence[RankMeasure] = (),
    first: int = 0,
    neighbours: bool = False,
) -> tuple[list[TargetCounts], First | None]:
    """Return where every matching target of each source stands, for each sample of one language pair.

    Also returned is who stands on the `first` places in the first sample; None for 0 places. With
    `neighbours` they are listed for each query, with their scores. A `repair` of hubs takes one more pass.
    Lists of a search system must reach as far as `measures` look.
    """
    if isinstance(vectors, SystemLists):
        found = [vectors.of(sample) for sample in samples]
        matches = [
            listed_matches(manifest, vectors, sample, lists, measures)
            for sample, lists in zip(samples, found, strict=True)
        ]
        return matches, _first_listed(found[0], first, neighbours) if first else None
    if not one_pass([(sample.source, sample.target) for sample in samples]):
        each = [
            matches_and_places(
                manifest,
                vectors,
                [sample],
                ranker=ranker,
                tally=tally,
                repair=repair,
                progress=progress,
                first=0 if place else first,
                neighbours=neighbours,
            )
            for place, sample in enumerate(samples)
        ]
        return [own for matches, _ in each for own in matches], each[0][1]
    union = TextUnion(vectors, samples)
    before, progress = two_passes(progress, repair)
    offsets = union.offsets(repair, ranker, before)
    requests = match_requests(union, samples, manifest, offsets)
    look = FirstRequest(union, samples[0], first, offsets, neighbours) if first else None
    watchers: list[Watcher] = [request.counts for request in requests]
    watchers += [look.top] if look else []
    rank(corrected(union.similarity, offsets), watchers, ranker, progress=progress)
    tally.add(union.similarity)
    return [request.result() for request in requests], look.result() if look else None


@dataclass(frozen=True)
class First:
    """Who stands on the first places of a sample; `neighbours` lists them query by query, with scores."""

    places: Places
    neighbours: Neighbours | None = None


def _first_listed(lists: Lists, k: int, neighbours: bool) -> First:
    k = min(k, lists.n_candidates)
    return First(listed_places(lists, k), listed_neighbours(lists, k) if neighbours else None)


class FirstRequest:
    """The request for the first places of one sample, in a pass over a union; by its offsets, if any."""

    def __init__(
        self, union: TextUnion, sample: Sample, k: int, offsets: Offsets | None, neighbours: bool
    ) -> None:
        self._source, self._target = union.codes(sample)
        self._scores = Scores(union.similarity, offsets) if neighbours else None
        self._k = min(k, len(self._target))
        weights = np.bincount(self._target, minlength=len(union.targets.vectors)).astype(np.int64)
        queries = distinct_values(self._source)
        self.top = Top(self._k, union.similarity.shape, weights=weights, queries=queries, seed=sample.seed)

    def result(self) -> First:
        """Return who stands on the first places, after the pass."""
        found = self.top.result()
        places = places_of(found, self._source, self._target, self._k)
        if self._scores is None:
            return First(places)
        return First(places, neighbours_of(found, self._scores, self._source, self._target, self._k))


def listed_matches(
    manifest: Manifest, found: SystemLists, sample: Sample, lists: Lists, measures: Sequence[RankMeasure]
) -> TargetCounts:
    """Return where every matching target of each source stands in the lists of a system."""
    query, match = members(manifest.item[sample.target], manifest.item[sample.source])
    if len(lists.query) and not (lists.lines(query, match) >= 0).any():
        warn(
            f"system {found.who(sample)}: no list holds a right answer: was it sampled without "
            f"{parameter('matching', True)}?"
        )
    check_reach(lists, measures, found.who(sample))
    return lists.targets(query, match)


class MatchRequest:
    """The request for the matches of one sample, in a pass over a union.

    `query` and `match` are positions in its sources and targets, parallel arrays. Scores are cosines
    less `offsets`.
    """

    def __init__(
        self, union: TextUnion, sample: Sample, manifest: Manifest, offsets: Offsets | None = None
    ) -> None:
        self._sample, self._offsets = sample, offsets
        self.query, self.match = members(manifest.item[sample.target], manifest.item[sample.source])
        source, self._target = union.codes(sample)
        self._width = len(union.targets.vectors)
        self.pairs = source[self.query] * self._width + self._target[self.match]  # of distinct vectors

    def decide(self, keys: Ints) -> None:
        """Take the exact keys of the pairs' cosines; from here on `counts` can be filled."""
        weights = np.bincount(self._target, minlength=self._width)
        pairs = np.divmod(self.pairs, self._width)
        keys = keys if self._offsets is None else self._offsets.keys(keys, pairs[1])
        self.counts = Counts(*pairs, keys, weights=weights)

    def result(self) -> TargetCounts:
        """Return where every match of each source stands, after the pass."""
        n, pool = len(self._sample.source), len(self._sample.target)
        return TargetCounts(self.query, self.counts.above, self.counts.tied, np.full(n, pool))


def match_requests(
    union: TextUnion,
    samples: Sequence[Sample],
    manifest: Manifest,
    offsets: Offsets | None = None,
) -> list[MatchRequest]:
    """Return the requests of some samples; a pair of several is scored once."""
    requests = [MatchRequest(union, sample, manifest, offsets) for sample in samples]
    pairs, places = distinct_of([request.pairs for request in requests])
    keys = union.similarity.keys(*np.divmod(pairs, len(union.targets.vectors)))
    for request, place in zip(requests, places, strict=True):
        request.decide(keys[place])
    return requests
