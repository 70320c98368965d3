"""Policy "prefer-own": only answers in the question's language are right, in the pool of all languages."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.multilingual_pool.relevant_ranks import RelevantRanks
from xlingual.evaluation.multilingual_pool.views import View
from xlingual.records import TargetCounts

KINDS = ("own_wrong", "other_wrong", "right_meaning_wrong_language")


def own_language_targets(ranks: RelevantRanks) -> tuple[Ints, TargetCounts]:
    """Return the questions that have an answer in their own language [k], and where those answers stand."""
    s = ranks
    rows = np.flatnonzero(s.own)
    questions, query = np.unique(s.question[rows], return_inverse=True)
    size = int(s.counts.sizes.sum())
    above, tied = s.counts.missed_last(s.above[rows], s.tied[rows], size, s.line[rows])
    return questions, TargetCounts(query.astype(np.int64), above, tied, np.full(len(questions), size))


def prefer_own(ranks: RelevantRanks, nearest_own: Floats | None = None) -> View:
    """Return how many candidates rank above the best own-language answer, and what ranks first, by kind.

    The numbers are means over questions.

    Kinds: "own_wrong" is irrelevant and in the question's language, "other_wrong" irrelevant and in another,
    "right_meaning_wrong_language" a relevant candidate in another language. Questions without an answer in
    their own language are left out. "first" are shares that sum to 1; where the counts do not
    show the language of the first candidate, or there is none, its share is "wrong_untold". These numbers
    explain the score, which has an interval.

    `nearest_own` [n]: the share of each question's first place (of its tied nearest candidates) that is in
    its own language, NaN where a search system found nothing; without it, what ranks first is taken from the
    counts where it follows from them.
    """
    s = ranks
    own = np.flatnonzero(s.own)
    if not len(own):
        return View()
    best = own[np.flatnonzero(np.diff(s.question[own], prepend=-1))]
    errors = _above_best(s, best)
    asked_in = s.asked_in[best]
    by_language = {
        language: {kind: float(values[asked_in == code].mean()) for kind, values in errors.items()}
        for code, language in enumerate(s.counts.languages)
        if (asked_in == code).any()
    }
    first = _first_place(s, s.first[best], nearest_own)
    shown = {"errors": _means(errors), "errors_by_question_language": by_language, "first": _means(first)}
    return View(shown)


def _above_best(s: RelevantRanks, best: Ints) -> dict[str, Floats]:
    """Return how many candidates of each kind are expected above the best own-language answer [k].

    A candidate that ties with r of these answers is above all of them with probability 1/(r + 1).
    """
    own, language = s.own, s.asked_in[best]
    own_tied = s.relevant_tied(own, best)
    chance = 1.0 / (own_tied + 1)
    own_wrong = s.above_of(language, best) + (s.tied_of(language, best) - own_tied) * chance
    right_meaning = s.relevant_above(~own, best) + s.relevant_tied(~own, best) * chance
    everything = s.above[best] + (s.tied[best] - own_tied) * chance
    return dict(zip(KINDS, (own_wrong, everything - own_wrong - right_meaning, right_meaning), strict=True))


def _first_place(s: RelevantRanks, top: Ints, nearest_own: Floats | None) -> dict[str, Floats]:
    """Return the chance of each kind to stand first [k]; `top`: each question's best relevant candidate."""
    own, language, reached = s.own, s.asked_in[top], s.above[top] == 0
    right = np.where(reached, s.relevant_tied(own, top) / s.tied[top], 0.0)
    right_meaning = np.where(reached, s.relevant_tied(~own, top) / s.tied[top], 0.0)
    found = {"right": right, "right_meaning_wrong_language": right_meaning}
    if nearest_own is not None:
        share = nearest_own[s.question[top]]
        none = np.isnan(share)
        own_wrong = np.maximum(np.where(none, 0.0, share - right), 0.0)
        other_wrong = np.where(none, 0.0, 1.0 - right - right_meaning - own_wrong)
        found |= {"own_wrong": own_wrong, "other_wrong": other_wrong}
        return found | {"wrong_untold": none * 1.0} if none.any() else found
    own_above = s.above_of(language, top)
    share = np.where(reached, s.tied_of(language, top) / s.tied[top], np.nan)  # of the first place
    share[~reached & (own_above == 0)] = 0.0
    share[~reached & (own_above == s.above[top])] = 1.0
    known = ~np.isnan(share)
    own_wrong = np.where(known, share - right, 0.0)
    other_wrong = np.where(known, 1.0 - share - right_meaning, 0.0)
    return found | {"own_wrong": own_wrong, "other_wrong": other_wrong, "wrong_untold": (~known) * 1.0}


def _means(kinds: dict[str, Floats]) -> dict[str, float]:
    return {kind: float(values.mean()) for kind, values in kinds.items()}
