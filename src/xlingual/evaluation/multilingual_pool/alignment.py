"""Weak and strong alignment over a multilingual pool (LAReQA, section 1), from the counts of the one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError
from xlingual.evaluation.multilingual_pool.relevant_ranks import RelevantRanks
from xlingual.evaluation.multilingual_pool.views import Scores, View, by_pair, compact, mean_score
from xlingual.measures import AlignmentMeasure, StrongAlignment, WeakAlignment
from xlingual.measures.alignment import nearest_in_language, right_order
from xlingual.ragged import sums
from xlingual.records import AlignmentCounts

SUMMARY: Mapping[str, AlignmentMeasure] = {
    "weak": WeakAlignment(),
    "strong": StrongAlignment(),
    "strict_own": StrongAlignment("strict-own"),
    "strict": StrongAlignment("strict"),
}
OWN = "weak_own"  # the same as "weak", in the question's own language


def alignment_counts(ranks: RelevantRanks) -> AlignmentCounts:
    """Return where every relevant candidate stands in its language, and among the irrelevant ones."""
    s = ranks
    own_wrong_above, own_wrong_tied = s.irrelevant_of(s.asked_in)
    in_own = np.bincount(s.question[s.own], minlength=s.counts.n_questions)
    return AlignmentCounts(
        query=s.question,
        foreign=~s.own,
        language=s.answer_language,
        above=s.above_of(s.answer_language),
        tied=s.tied_of(s.answer_language),
        wrong_above=s.above - s.relevant_above(),
        wrong_tied=s.tied - s.relevant_tied(),
        own_wrong_above=own_wrong_above,
        own_wrong_tied=own_wrong_tied,
        own_wrong=s.counts.sizes[s.counts.question_language] - in_own,
    )


def all_equal(ranks: RelevantRanks, found: AlignmentCounts) -> AlignmentCounts:
    """Return the counts of an encoder to which all candidates are equal."""
    sizes = ranks.counts.sizes
    none = np.zeros_like(found.above)
    wrong = int(sizes.sum()) - (ranks.last - ranks.first)
    return replace(
        found,
        above=none,
        tied=sizes[found.language],
        wrong_above=none,
        wrong_tied=wrong,
        own_wrong_above=none,
        own_wrong_tied=found.own_wrong[found.query],
    )


def alignment(ranks: RelevantRanks) -> View:
    """Return weak and strong alignment by pair of languages, and their means over questions.

    "ar->de" of weak alignment: P@1 for questions in ar among the candidates in de alone; of strong alignment:
    the share of pairs of an answer in de and an irrelevant candidate in ar in the right order. "ar->ar" is
    the same within ar. The means are over questions with an answer in another language, by the measures of
    `SUMMARY`; "weak_own" is P@1 in the question's own language.
    """
    counts, found = ranks.counts, alignment_counts(ranks)
    by_question, by_chance = (_by_question(ranks, given) for given in (found, all_equal(ranks, found)))
    known = compact({name: mean_score(values, counts.cluster) for name, values in by_question.items()})
    pairs = {
        "weak_alignment": by_pair(counts, _nearest(ranks, found)),
        "strong_alignment": by_pair(counts, ranks.by_answer_language(right_order(found))),
    }
    shown: Scores = {**{name: scores for name, scores in pairs.items() if scores}, "alignment": known}
    return View.of(shown, alignment_chance={name: float(np.nanmean(by_chance[name])) for name in known})


def _by_question(ranks: RelevantRanks, found: AlignmentCounts) -> dict[str, Floats]:
    """Return the numbers of the summary for each question [n], NaN where it has none."""
    rows = np.arange(ranks.counts.n_questions)
    own = _nearest(ranks, found)[rows, ranks.counts.question_language]
    values = {name: measure.per_query(found) for name, measure in SUMMARY.items()}
    return {"weak": values.pop("weak"), OWN: own, **values}


def _nearest(ranks: RelevantRanks, found: AlignmentCounts) -> Floats:
    """Return P@1 of each question among the candidates of each language [n, G]; NaN without an answer."""
    n, G = ranks.counts.n_questions, len(ranks.counts.languages)
    cell = found.query * G + found.language
    hits = sums(cell, nearest_in_language(found), n * G)
    hits[np.bincount(cell, minlength=n * G) == 0] = np.nan
    return hits.reshape(n, G)


def check_alignment(pool: MultilingualPool, measure: AlignmentMeasure) -> None:
    """Raise InputError where no question of the pool has a value of the measure."""
    question, candidate = pool.relevant
    asked_in, language = pool.questions.language, pool.candidates.language
    own = asked_in[question] == language[candidate]
    if measure == StrongAlignment("strict"):
        return
    foreign = np.bincount(question[~own], minlength=len(asked_in)) > 0
    if not foreign.any():
        raise InputError(
            f"{pool.source}: no question has an answer in another language than its own, so there is no "
            f"{measure.name}: leave it out, or choose more languages"
        )
    wrong = np.bincount(language, minlength=len(pool.languages))[asked_in]
    wrong = wrong - np.bincount(question[own], minlength=len(asked_in))
    if isinstance(measure, StrongAlignment) and not (foreign & (wrong > 0)).any():
        raise InputError(
            f"{pool.source}: no question has an irrelevant candidate in its own language, so there is no "
            f"{measure.name}: use WeakAlignment or AP"
        )
