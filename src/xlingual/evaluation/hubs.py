"""Hubs of any ranking: candidates that very many queries have among their first, and the errors they make.

A task gives the first places of its queries (`Places`), which of these are right, and what is dependent; the
numbers, the alarm and the table of the largest hubs are the same for all tasks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.arrow import table_of
from xlingual.data.images import cut
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.numbers import Subject
from xlingual.measures.hub_alarm import LEAST, ByChance, bins_of, is_alarm
from xlingual.measures.hubness import Hubness, Places, hubness_of, skewness_error
from xlingual.ragged import members, sums
from xlingual.ranking import TopK
from xlingual.results import Interval
from xlingual.results.views import HubBin, HubCounts
from xlingual.stats.intervals import LEVEL, t_quantile

if TYPE_CHECKING:
    import pyarrow as pa

HUBS_OF = 10  # first places that are looked at, where a task lists as many
MOST_HUBS = 10  # in the table, of each encoder and subject
_MOST_NAMED = 1000  # candidates that tie: more of them are not named one by one
_LINES = 2_000_000  # of all queries that tie; then fewer are named
_SAME = 9  # decimals to which occurrences must agree to be the same


@dataclass(frozen=True)
class Languages:
    """The languages of queries [n] and candidates [m], where there are several."""

    tags: Sequence[str]
    query: Ints
    candidate: Ints


@dataclass(frozen=True)
class Hubs:
    """The hubs of one ranking: `counts` for the results, the rest for the table of the largest."""

    places: Places
    hubness: Hubness
    errors: Floats  # [m] wrong first places of each candidate, expected over ties
    counts: HubCounts
    languages: Languages | None

    def rows(self) -> list[dict[str, Any]]:
        """Return the largest hubs, the most frequent first: `candidate` is a number, to be replaced."""
        largest = self.hubness.hubs[:MOST_HUBS]
        by_language: list[str | None] = [None] * len(largest)  # JSON: how often queries of each find it
        if self.languages is not None:
            tags = self.languages.tags
            table = self.places.by_group(self.languages.query, len(tags), largest)
            counts = [
                {tags[code]: round(float(row[code]), 6) for code in np.argsort(-row) if row[code] > 0}
                for row in table
            ]
            by_language = [json.dumps(of_tags) for of_tags in counts]
        return [
            {
                "candidate": candidate,
                "count": float(self.hubness.occurrences[candidate]),
                "expected": self.hubness.expected,
                "errors": float(self.errors[candidate]),
                "found_by": counted,
            }
            for candidate, counted in zip(largest.tolist(), by_language, strict=True)
        ]


def hubs_of(places: Places, wrong: Floats, cluster: Ints, *, languages: Languages | None = None) -> Hubs:
    """Return the hubs of a ranking, with the numbers that results keep.

    Args:
        places: the first places of n queries among m candidates.
        wrong: whether each line is a wrong first place where it is the first, or the chance of it, [e].
        cluster: cluster ids of the queries [n], for the interval of the skewness.
        languages: of queries and candidates, where there are several on one side.

    """
    m = places.n_candidates
    code = np.zeros(m, dtype=np.int64) if languages is None else languages.candidate
    hubness = hubness_of(places, code, 1 if languages is None else max(len(languages.tags), 1))
    errors = sums(places.candidate, places.first * wrong, m)
    chance = ByChance(places.n_queries, m, places.k)
    share = None  # of the errors that the candidates found most often make
    if errors.sum() > 0:
        often = np.round(hubness.occurrences, _SAME)
        limit = np.partition(often, -chance.n_largest)[-chance.n_largest]
        above, level = often > limit, often == limit  # of several for the last place each counts in part
        part = (chance.n_largest - above.sum()) / level.sum()
        share = float((errors[above].sum() + part * errors[level].sum()) / errors.sum())
    ci, (error, n_clusters) = None, skewness_error(places, cluster)
    if np.isfinite(error):
        reach = t_quantile(LEVEL, n_clusters - 1) * error
        ends = hubness.skewness - reach, hubness.skewness + reach
        ci = Interval(*ends, LEVEL, "jackknife over clusters of queries")
    least, counted = bins_of(hubness.occurrences)
    bins = zip(least.tolist(), counted.tolist(), chance.among(least).tolist(), strict=True)
    across: dict[str, Any] = {} if languages is None else _across(places, hubness, languages)
    counts = HubCounts(
        k=places.k,
        skewness=hubness.skewness,
        never=hubness.never,
        largest=hubness.largest,
        expected=hubness.expected,
        threshold=hubness.threshold,
        n=len(hubness.hubs),
        alarm=is_alarm(hubness.skewness, chance.skewness_bound, share),
        skewness_ci=ci,
        skewness_by_chance=chance.skewness,
        skewness_bound=chance.skewness_bound,
        never_by_chance=chance.never,
        n_largest=chance.n_largest,
        errors=share,
        errors_by_chance=chance.held_by_largest,
        errors_bound=LEAST,
        n_errors=float(errors.sum()),
        **across,
        distribution=[HubBin(*each) for each in bins],
    )
    return Hubs(places, hubness, errors, counts, languages)


def _across(places: Places, hubness: Hubness, languages: Languages) -> dict[str, Any]:
    """Return which languages hubs are of, and of which languages the queries are that find them."""
    tags, G = languages.tags, len(languages.tags)
    n_queries = np.bincount(languages.query, minlength=G)
    n_candidates = np.bincount(languages.candidate, minlength=G)
    table = places.by_group(languages.query, G, hubness.hubs)
    held, language = table.sum(), languages.candidate[hubness.hubs]
    other = by_chance = None
    if held > 0:
        other = float(1 - table[np.arange(len(language)), language].sum() / held)
        by_chance = float(1 - (table.sum(axis=1) * n_queries[language]).sum() / held / places.n_queries)
    all_places = n_queries * min(places.k, places.n_candidates)
    return {
        "by_language": {tags[c]: float(hubness.by_language[c]) for c in range(G) if n_candidates[c]},
        "by_query_language": {
            tags[c]: float(table[:, c].sum() / all_places[c]) for c in range(G) if n_queries[c]
        },
        "other_language": other,
        "other_language_by_chance": by_chance,
    }


def hubs_of_pair(
    manifest: Manifest,
    sample: Sample,
    places: Places,
    wrong: Floats,
    picture: Callable[[int], bytes | None],
    relevant: Ints | None = None,
) -> NamedHubs:
    """Return the hubs among the targets of a sample; their pictures are shown where hubs are an alarm."""
    hubs = hubs_of(places, wrong, manifest.cluster[sample.source])

    def describe(candidate: int) -> dict[str, Any]:
        row = int(sample.target[candidate])
        tag, slot = manifest.languages[manifest.language[row]], int(manifest.image[row])
        text = {"id": manifest.ids[row], "language": tag, "text": cut(manifest.text[row])}
        return {**text, "picture": picture(slot) if hubs.counts.alarm else None}

    return NamedHubs(hubs, describe, relevant)


def places_of(top: TopK, query_code: Ints, candidate_code: Ints, k: int) -> Places:
    """Return the first places of queries and candidates, from those of their distinct vectors.

    `query_code` [n] and `candidate_code` [m] are the vectors that queries and candidates have.
    """
    n, m = len(query_code), len(candidate_code)
    most = int(np.clip(_LINES // n, 16, _MOST_NAMED))
    lines = np.flatnonzero((top.tied <= most) & (top.above < k))
    query, line = members(top.query[lines], query_code)
    line = lines[line]
    owner, candidate = members(candidate_code, top.candidate[line])
    line = line[owner]
    return Places(k, n, m, query[owner], candidate, top.above[line], top.tied[line])


def listed_places(lists: Lists, k: int) -> Places:
    """Return the first places of the lists of a search system."""
    above, tied = lists.places
    kept = above < k
    query, candidate = lists.query[kept], lists.candidate[kept]
    return Places(k, len(lists), lists.n_candidates, query, candidate, above[kept], tied[kept], lists.ended)


@dataclass(frozen=True)
class NamedHubs:
    """Hubs whose candidates have names.

    `describe` gives id, language, text and picture of a candidate; `relevant` [r] are the candidates of the
    pairs that belong together, where there are any.
    """

    hubs: Hubs
    describe: Callable[[int], Mapping[str, Any]]
    relevant: Ints | None = None


@dataclass
class HubTable:
    """Collects the largest hubs of encoders, with their texts where these are kept."""

    task: str
    keep: bool
    _rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, encoder: str, subject: Subject, named: NamedHubs) -> None:
        """Add the hubs of one ranking."""
        if not self.keep:
            return
        labels = {"task": self.task, "encoder": encoder, "source": subject.source, "target": subject.target}
        right = None
        if named.relevant is not None:
            right = np.bincount(named.relevant, minlength=named.hubs.places.n_candidates)
        for row in named.hubs.rows():
            candidate = row.pop("candidate")
            answers = {} if right is None else {"relevant_to": int(right[candidate])}
            self._rows.append({**labels, "seed": subject.seed, **named.describe(candidate), **row, **answers})

    def table(self) -> dict[str, pa.Table]:
        """Return the table by its name; nothing where there are no hubs."""
        import pyarrow as pa

        if not self._rows:
            return {}
        text, whole, number = pa.string(), pa.int64(), pa.float64()
        schema = pa.schema(
            [(name, text) for name in ("task", "encoder", "source", "target")]
            + [("seed", whole), ("id", text), ("language", text), ("text", text), ("picture", pa.binary())]
            + [("count", number), ("expected", number), ("errors", number), ("found_by", text)]
            + [("relevant_to", whole)]
        )
        return {"hubs": table_of(self._rows, schema)}
