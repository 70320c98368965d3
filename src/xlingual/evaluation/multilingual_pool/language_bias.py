"""Views of language bias that follow from the counts of one pass: see docs/reference/multilingual-pool.md.

A view takes `RelevantRanks` (the counts, with the relevant candidates of each question in order) and returns
its values with their intervals. All belong to average precision under the policy "agnostic".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.multilingual_pool.alignment import alignment
from xlingual.evaluation.multilingual_pool.one_pass import PoolCounts
from xlingual.evaluation.multilingual_pool.relevant_ranks import (
    Flags,
    RelevantRanks,
    own_and_other,
    precision_at,
    reciprocal_rank,
)
from xlingual.evaluation.multilingual_pool.views import (
    Scores,
    View,
    by_pair,
    by_question_language,
    compact,
    intervals,
    mean_score,
    values,
)
from xlingual.stats import ResidualPart

LANGUAGE_BIAS = ("one_target", "remove_one", "monolingual_pool", "alignment", "subsets", "loss")


def agnostic_views(
    ranks: RelevantRanks,
    wanted: Collection[str] = LANGUAGE_BIAS,
    chosen_subsets: Iterable[Sequence[str]] = (),
) -> list[View]:
    """Return those of the views `LANGUAGE_BIAS` that are wanted, in their order."""
    make: dict[str, Callable[[RelevantRanks], View]] = {
        "one_target": one_target,
        "remove_one": remove_one,
        "monolingual_pool": monolingual_pool,
        "alignment": alignment,
        "subsets": lambda given: subsets(given, chosen_subsets),
        "loss": loss,
    }
    return [make[name](ranks) for name in LANGUAGE_BIAS if name in wanted]


def one_target(ranks: RelevantRanks) -> View:
    """Return every answer's AP (= 1/rank) when only it is in the pool (LAReQA, Figure 4).

    With G irrelevant candidates above and n tied (the answer included) that is (H(G + n) − H(G))/n. "ar->de":
    the mean over questions asked in ar; a question with several answers in de counts once, with their mean,
    each alone. The summary is over questions that have answers in their own and in another language: the mean
    of the own language's value, that of the mean over the other languages, and the gap.
    """
    counts = ranks.counts
    table = single_answer_precision(ranks)
    known = own_other_gap(counts, table)
    shown: Scores = {"one_target": by_pair(counts, table)}
    return View.of({**shown, "one_target_summary": known} if known else shown)


def own_other_gap(counts: PoolCounts, table: Floats) -> dict[str, Score]:
    """Return the means of a table [n, G] over own and other languages, and their difference.

    Over the questions that have both.
    """
    own, other = (mean_score(values, counts.cluster) for values in same_and_other(counts, table))
    return compact({"own": own, "other": other, "gap": own and other and own.less(other)})


def single_answer_precision(ranks: RelevantRanks) -> Floats:
    """Return the AP of a single answer in the pool by question and answer language [n, G]; NaN for none."""
    above = ranks.above - ranks.relevant_above()
    tied = ranks.tied - ranks.relevant_tied() + 1
    return ranks.by_answer_language(ranks.without_missed(reciprocal_rank(above, tied)))


def same_and_other(counts: PoolCounts, table: Floats) -> Floats:
    """Return, of a table [n, G], the own language's value and the mean of the others' [2, n].

    NaN where the question lacks an answer in its own language, or in any other.
    """
    found = np.stack(own_and_other(counts, table))
    found[:, np.isnan(found).any(axis=0)] = np.nan
    return found


def remove_one(ranks: RelevantRanks) -> View:
    """Return mAP after one relevant candidate has left the pool (LAReQA, Table 3): see `removals`."""
    scores, n_questions = removals(ranks)
    if not scores:
        return View()
    shown = {**values(scores), "n_questions": n_questions}
    return View({"remove_one": shown}, {"remove_one": intervals(scores)})


def removals(ranks: RelevantRanks) -> tuple[dict[str, Score], int]:
    """Return what removing one relevant candidate leaves of mAP, over questions where both kinds can leave.

    "same", where it is in the question's language (of several, each equally likely); "rand", in another
    language, the exact expectation over a random language and a random answer in it; and "relative_delta" =
    (rand − same)/rand, from the two means, where rand is not 0, as it may be of a search system that finds
    nothing. 0: free of same-language bias. And the number of such questions; without any there are no scores.
    """
    counts, precision = ranks.counts, average_precision_without(ranks)
    same, rand = own_and_other(counts, ranks.by_answer_language(precision))
    rows = np.flatnonzero(~np.isnan(same + rand))
    same, rand, cluster = same[rows], rand[rows], counts.cluster[rows]
    without_same, without_rand = mean_score(same, cluster), mean_score(rand, cluster)
    if without_same is None or without_rand is None:
        return {}, 0
    found = {"same": without_same, "rand": without_rand}
    delta = {"relative_delta": _relative_delta(same, rand, cluster)} if rand.any() else {}
    return found | delta, len(rows)


def average_precision_without(ranks: RelevantRanks) -> Floats:
    """Return the question's average precision once the line's candidate has left the pool, float64 [p].

    What stands above the candidate stays as it was; its tie group has one place and one relevant candidate
    less; below, one candidate and one relevant candidate fewer are above. NaN where it is the only one.
    """
    s = ranks
    above, tied, relevant_above, relevant_tied = s.above, s.tied, s.relevant_above(), s.relevant_tied()
    as_it_was = s.without_missed(precision_at(above, tied, relevant_above, relevant_tied))
    # a line that has no relevant candidate above or beside it is never read from the next two
    below = precision_at(np.maximum(above - 1, 0), tied, np.maximum(relevant_above - 1, 0), relevant_tied)
    beside = precision_at(above, np.maximum(tied - 1, 1), relevant_above, np.maximum(relevant_tied - 1, 1))
    below, beside = s.without_missed(below), s.without_missed(beside)
    up_to, _ = _running(s, as_it_was)
    total = up_to[s.start] + (relevant_tied - 1) * beside
    up_to, all_of_it = _running(s, below)
    under = np.flatnonzero(s.stop < s.last)
    total[under] += all_of_it[under] - up_to[s.stop[under]]
    left = s.last - s.first - 1
    return np.asarray(np.divide(total, left, out=np.full(len(total), np.nan), where=left > 0))


def _running(s: RelevantRanks, values: Floats) -> tuple[Floats, Floats]:
    """Return for each line the sum of the values of its question before it, and of all of them.

    The running sum falls back to zero at each question, so that it never grows large and loses digits.
    """
    heads = np.flatnonzero(s.first == np.arange(len(values)))
    totals = np.add.reduceat(values, heads)
    steps = np.zeros(len(values))
    steps[1:] = values[:-1]
    steps[heads[1:]] -= totals[:-1]
    return np.cumsum(steps), np.repeat(totals, np.diff(heads, append=len(values)))


def _relative_delta(same: Floats, rand: Floats, cluster: Ints) -> Score:
    """Return the score of 1 − mean(same)/mean(rand), with residuals linearised in both means."""
    s, r = float(same.mean()), float(rand.mean())
    residuals = ((rand - r) * s / r - (same - s)) / (r * len(same))
    # where nothing varies the span says how far it could be: δ is at most 1, but below 0 it has no bound
    return Score((r - s) / r, (ResidualPart(residuals, (cluster,)),), None, span=max(1.0, s / r))


def monolingual_pool(ranks: RelevantRanks) -> View:
    """Return mAP by language with the candidates and answers of that language only (LAReQA, Table 4).

    And its mean over languages. Questions that have no answer in their own language are left out;
    "monolingual_pool_questions" counts the others.
    """
    return monolingual_view(ranks, monolingual_average_precision(ranks))


def monolingual_view(ranks: RelevantRanks, of_questions: Floats) -> View:
    """Return the view of values in the pools of single languages [n]; NaN: not counted."""
    found = by_question_language(ranks.counts, of_questions)
    if not found:
        return View()
    counted = {language: len(one.parts[0].residuals) for language, one in found.items()}
    shown: Scores = {"monolingual_pool": found, "monolingual_pool_average": Score.mean(list(found.values()))}
    return View.of(shown, monolingual_pool_questions=counted)


def monolingual_average_precision(ranks: RelevantRanks) -> Floats:
    """Return each question's average precision in its language's pool [n]; NaN without an answer there."""
    own = ranks.own
    rows = np.flatnonzero(own)
    language = ranks.answer_language[rows]
    precision = precision_at(
        ranks.above_of(language, rows),
        ranks.tied_of(language, rows),
        ranks.relevant_above(own, rows),
        ranks.relevant_tied(own, rows),
    )
    return ranks.per_question(ranks.without_missed(precision, rows), rows)


def single_language_precision(ranks: RelevantRanks) -> Floats:
    """Return each question's average precision among the candidates of each single language [n, G].

    Each language's candidates are a pool of their own, with the answers in it; NaN for no answer there. Of
    the question's own language it is `monolingual_average_precision`; with one answer in another language it
    is the reciprocal rank of a search from one language into another.
    """
    s = ranks
    precision = np.zeros(len(s.line))
    for code in range(len(s.counts.languages)):
        chosen = s.answer_language == code
        rows = np.flatnonzero(chosen)
        precision[rows] = precision_at(
            s.above_of(code, rows),
            s.tied_of(code, rows),
            s.relevant_above(chosen, rows),
            s.relevant_tied(chosen, rows),
        )
    return s.by_answer_language(s.without_missed(precision))


def subsets(ranks: RelevantRanks, chosen: Iterable[Sequence[str]] = ()) -> View:
    """Return mAP in the pool of some languages (LAReQA, Table 5), by their names joined with commas.

    For all but each language, where there are at least three, and for the chosen subsets. Questions without
    an answer in these languages are left out; a subset without questions is absent. Raises InputError for
    a language that is not in the pool and for an empty subset.
    """
    counts = ranks.counts
    codes = [_codes(counts.languages, subset) for subset in chosen]
    everything = range(len(counts.languages))
    if len(everything) >= 3:
        codes = [tuple(c for c in everything if c != left_out) for left_out in everything] + codes
    found = {
        ",".join(counts.languages[code] for code in subset): mean_score(
            subset_average_precision(ranks, subset), counts.cluster
        )
        for subset in dict.fromkeys(codes)
    }
    known = compact(found)
    return View.of({"subsets": known}) if known else View()


def subset_average_precision(ranks: RelevantRanks, subset: Sequence[int]) -> Floats:
    """Return each question's average precision in the pool of some languages (codes) [n].

    NaN for questions in other languages, and for those without an answer in these.
    """
    s = ranks
    inside = np.zeros(len(s.counts.languages), dtype=bool)
    inside[list(subset)] = True
    kept = inside[s.answer_language] & inside[s.asked_in]
    rows = np.flatnonzero(kept)
    above, tied = _in_subset(s, inside, rows)
    precision = precision_at(above, tied, s.relevant_above(kept, rows), s.relevant_tied(kept, rows))
    return s.per_question(s.without_missed(precision, rows), rows)


def _in_subset(s: RelevantRanks, inside: Flags, rows: Ints) -> tuple[Ints, Ints]:
    """Return how many candidates of the languages `inside`, bool [G], are above the lines, and tie."""
    few_outside = 2 * np.count_nonzero(~inside) < len(inside)  # then it is cheaper to subtract the others
    counted = np.flatnonzero(~inside if few_outside else inside).tolist()
    above = sum((s.above_of(language, rows) for language in counted), np.zeros_like(rows))
    tied = sum((s.tied_of(language, rows) for language in counted), np.zeros_like(rows))
    return (s.above[rows] - above, s.tied[rows] - tied) if few_outside else (above, tied)


def _codes(languages: Sequence[str], subset: Sequence[str]) -> tuple[int, ...]:
    """Return the codes of a subset's languages in the order of the pool."""
    unknown = [language for language in subset if language not in languages]
    if unknown or not subset:
        what = f"has {unknown[0]!r}, which the pool has not" if unknown else "is empty"
        raise InputError(
            f"subset of languages {','.join(subset)!r} {what}: choose from {', '.join(languages)}"
        )
    return tuple(sorted({languages.index(language) for language in subset}))


def loss(ranks: RelevantRanks) -> View:
    """Return the mean numbers of irrelevant candidates above each answer: where the loss comes from.

    "ar->de": questions asked in ar, answers in de; {"question": of ar, "answer": of de, "third": of all other
    languages}; in "ar->ar" those of ar are under "question" and "answer" is 0. A candidate that ties counts
    half. A question with several answers in de counts once, with their mean. There are no intervals: these
    numbers explain the scores, which have some.
    """
    s = ranks
    all_of_it = (s.above - s.relevant_above()) + 0.5 * (s.tied - s.relevant_tied())
    of_question = _irrelevant(s, s.asked_in)
    of_answer = np.where(s.own, 0.0, _irrelevant(s, s.answer_language))
    kinds = {
        "question": s.by_answer_language(of_question),
        "answer": s.by_answer_language(of_answer),
        "third": s.by_answer_language(all_of_it - of_question - of_answer),
    }
    languages, asked_in = s.counts.languages, s.counts.question_language
    pairs: dict[str, dict[str, float]] = {}
    for q, asked in enumerate(languages):
        rows = np.flatnonzero(asked_in == q)
        for a, answer in enumerate(languages):
            counted = rows[np.isfinite(kinds["third"][rows, a])]
            if len(counted):
                means = {kind: float(table[counted, a].mean()) for kind, table in kinds.items()}
                pairs[f"{asked}->{answer}"] = means
    return View({"loss": pairs})


def _irrelevant(s: RelevantRanks, language: Ints) -> Floats:
    """Return how many irrelevant candidates of the line's `language` [p] are above; half of those tied."""
    above, tied = s.irrelevant_of(language)
    return above + 0.5 * tied
