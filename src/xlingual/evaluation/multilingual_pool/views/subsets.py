"""Subsets of languages (LAReQA, Table 5): the pool of some of its languages, without another pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.errors import InputError
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.multilingual_pool.views.means import compact, mean_score
from xlingual.evaluation.multilingual_pool.views.precision import precision_at
from xlingual.evaluation.multilingual_pool.views.standings import Flags, Standings
from xlingual.evaluation.multilingual_pool.views.written import intervals, values
from xlingual.records import Floats, Ints


@dataclass(frozen=True)
class Subsets:
    """mAP with questions and candidates of some languages, by their names joined with commas.

    Questions without an answer in these languages are left out; a subset of which none is left is absent.
    """

    scores: dict[str, Score]

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        return {"subsets": values(self.scores)} if self.scores else {}

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested alike."""
        return {"subsets": intervals(self.scores)} if self.scores else {}


def subsets(standings: Standings, chosen: Iterable[Sequence[str]] = ()) -> Subsets:
    """Return mAP for all but each language, where there are at least three, and for the chosen subsets.

    Raises InputError for a language that is not in the pool and for an empty subset.
    """
    counts = standings.counts
    codes = [_codes(counts.languages, subset) for subset in chosen]
    everything = range(len(counts.languages))
    if len(everything) >= 3:
        codes = [tuple(c for c in everything if c != left_out) for left_out in everything] + codes
    found = {
        ",".join(counts.languages[code] for code in subset): mean_score(
            subset_average_precision(standings, subset), counts.cluster
        )
        for subset in dict.fromkeys(codes)
    }
    return Subsets(compact(found))


def subset_average_precision(standings: Standings, subset: Sequence[int]) -> Floats:
    """Return each question's average precision in the pool of some languages (codes) [n].

    NaN for questions in other languages, and for those without an answer in these.
    """
    s = standings
    inside = np.zeros(len(s.counts.languages), dtype=bool)
    inside[list(subset)] = True
    kept = inside[s.answer_language] & inside[s.asked_in]
    rows = np.flatnonzero(kept)
    above, tied = _in_subset(s, inside, rows)
    precision = precision_at(above, tied, s.relevant_above(kept, rows), s.relevant_tied(kept, rows))
    return s.per_question(precision, rows)


def _in_subset(s: Standings, inside: Flags, rows: Ints) -> tuple[Ints, Ints]:
    """Return how many candidates of the languages `inside`, bool [G], are above the lines, and tie."""
    outside = np.flatnonzero(~inside)
    if 2 * len(outside) < len(inside):  # take away what is fewer
        above, tied = s.above[rows], s.tied[rows]
        for language in outside.tolist():
            above, tied = above - s.above_of(language, rows), tied - s.tied_of(language, rows)
        return above, tied
    above, tied = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    for language in np.flatnonzero(inside).tolist():
        above, tied = above + s.above_of(language, rows), tied + s.tied_of(language, rows)
    return above, tied


def _codes(languages: Sequence[str], subset: Sequence[str]) -> tuple[int, ...]:
    """Return the codes of a subset's languages in the order of the pool."""
    unknown = [language for language in subset if language not in languages]
    if unknown or not subset:
        what = f"has {unknown[0]!r}, which the pool has not" if unknown else "is empty"
        raise InputError(
            f"subset of languages {','.join(subset)!r} {what}: choose from {', '.join(languages)}"
        )
    return tuple(sorted({languages.index(language) for language in subset}))
