"""Views of language bias: what an entry says beside its number, see docs/explanation/language-bias.md.

A view takes `PoolRanks` and returns values by name: scores, which get intervals, in groups by language or
pair of languages, and numbers that explain scores, which have none. "ar->de" is asked in ar, answered in de.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.lists import cut_of
from xlingual.evaluation.multilingual_pool.passes import Heads
from xlingual.evaluation.multilingual_pool.ranks import (
    PoolRanks,
    alone_precision,
    language_precision,
    own_and_other,
    precision_within,
    precision_without,
)
from xlingual.measures import (
    NDCG,
    AlignmentMeasure,
    PoolMeasure,
    QueryMeasure,
    StrongAlignment,
    WeakAlignment,
)
from xlingual.measures.alignment import nearest_in_language, right_order
from xlingual.measures.fairness import CUT, peer
from xlingual.measures.precision import AveragePrecision
from xlingual.ragged import sums
from xlingual.records import AlignmentCounts, JudgedCounts
from xlingual.results.views import PoolIntervals, PoolViews
from xlingual.stats import ResidualPart

AP = AveragePrecision()
ALIGNMENT: Mapping[str, AlignmentMeasure] = {
    "weak": WeakAlignment(),
    "strong": StrongAlignment(),
    "strict_own": StrongAlignment("strict-own"),
    "strict": StrongAlignment("strict"),
}
View: TypeAlias = dict[str, Any]  # by name: a score, what has no interval, or a group of these
Scores: TypeAlias = dict[str, Score]


def record(languages: Iterable[str], view: View) -> PoolViews:
    """Return `views` of an entry: the values, and "ci" with the intervals of scores."""
    return PoolViews(languages=list(languages), **_values(view), ci=PoolIntervals(**_intervals(view)))


def _values(view: View) -> View:
    values = {name: value.value if isinstance(value, Score) else value for name, value in view.items()}
    return {name: _values(value) if isinstance(value, dict) else value for name, value in values.items()}


def _intervals(view: View) -> View:
    nested = {name: _intervals(value) for name, value in view.items() if isinstance(value, dict)}
    intervals = {name: value.interval() for name, value in view.items() if isinstance(value, Score)}
    return intervals | {name: value for name, value in nested.items() if value}


def mean_score(values: Floats, cluster: Ints) -> Score | None:
    """Return the score of the mean of values in 0..1 [n]; NaN: not counted; None where none counts."""
    rows = np.flatnonzero(~np.isnan(values))
    return score(AP, values[rows], (cluster[rows],)) if len(rows) else None


def _scores(**scores: Score | None) -> Scores:
    """Return the scores that there are."""
    return {name: each for name, each in scores.items() if each is not None}


def by_question_language(ranks: PoolRanks, values: Floats, measure: QueryMeasure = AP) -> Scores:
    """Return the score of values [n] over the questions of each language, where there are any."""
    scores = {}
    for code, language in enumerate(ranks.languages):
        rows = np.flatnonzero((ranks.question_language == code) & ~np.isnan(values))
        if len(rows):
            scores[language] = score(measure, values[rows], (ranks.cluster[rows],))
    return scores


def by_pair(ranks: PoolRanks, table: Floats) -> Scores:
    """Return the means of a table [n, G] by answer language, over the questions of each language."""
    columns = [by_question_language(ranks, column) for column in table.T]
    return {
        f"{asked}->{answer}": column[asked]
        for asked in ranks.languages
        for answer, column in zip(ranks.languages, columns, strict=True)
        if asked in column
    }


def measured(ranks: PoolRanks, measure: QueryMeasure, values: Floats) -> View:
    """Return a measure's values [n] by question language, and their mean, which weighs languages alike.

    Beside it stands the interval that takes the questions of an article, not of a paragraph, as dependent.
    """
    languages = by_question_language(ranks, values, measure)
    view: View = {"by_question_language": languages, "macro": Score.mean(list(languages.values()))}
    if ranks.article is not None:
        rows = np.flatnonzero(~np.isnan(values))
        view["ci_by_article"] = {"value": score(measure, values[rows], (ranks.article[rows],)).interval()}
    return view


def one_target(ranks: PoolRanks) -> View:
    """Return every answer's AP when it alone is in the pool (LAReQA, Figure 4), by pair of languages.

    A question with several answers in de counts once, with their mean, each alone. The summary is over
    questions that have answers in their own and in another language: the mean of the own language's value,
    that of the mean over the other languages, and the gap.
    """
    return _with_summary("one_target", ranks, alone_precision(ranks))


def _with_summary(name: str, ranks: PoolRanks, table: Floats) -> View:
    """Return the means of a table [n, G] by pair, and over questions that have both kinds."""
    sides = np.stack(own_and_other(ranks, table))
    sides[:, np.isnan(sides).any(axis=0)] = np.nan
    own, other = (mean_score(values, ranks.cluster) for values in sides)
    summary = _scores(own=own, other=other, gap=own and other and own.less(other))
    return {name: by_pair(ranks, table)} | ({f"{name}_summary": summary} if summary else {})


def remove_one(ranks: PoolRanks) -> View:
    """Return mAP after one answer has left the pool (LAReQA, Table 3), where either kind can leave.

    "same", where it is in the question's language (of several, each equally likely); "rand", in another
    language, the exact expectation over a random language and a random answer in it; and "relative_delta" =
    (rand − same)/rand, from the two means, where rand is not 0, as it may be of a search system that finds
    nothing. 0: free of same-language bias.
    """
    same, rand = own_and_other(ranks, ranks.by_language(precision_without(ranks)))
    rows = np.flatnonzero(~np.isnan(same + rand))
    if not len(rows):
        return {}
    same, rand, cluster = same[rows], rand[rows], ranks.cluster[rows]
    scores = _scores(same=mean_score(same, cluster), rand=mean_score(rand, cluster))
    if rand.any():
        s, r = float(same.mean()), float(rand.mean())
        residuals = ((rand - r) * s / r - (same - s)) / (r * len(same))  # linearised in both means
        # where nothing varies the span says how far it could be: at most 1, but below 0 it has no bound
        part = ResidualPart(residuals, (cluster,))
        scores["relative_delta"] = Score((r - s) / r, (part,), None, span=max(1.0, s / r))
    return {"remove_one": {**scores, "n_questions": len(rows)}}


def monolingual_pool(ranks: PoolRanks, values: Floats | None = None) -> View:
    """Return mAP by language with the candidates and answers of that language only (LAReQA, Table 4).

    And its mean over languages. Questions without an answer in their own language are left out. `values` [n]
    are of another measure.
    """
    if values is None:
        values = own_and_other(ranks, language_precision(ranks))[0]
    languages = by_question_language(ranks, values)
    if not languages:
        return {}
    return {
        "monolingual_pool": languages,
        "monolingual_pool_average": Score.mean(list(languages.values())),
        "monolingual_pool_questions": {
            language: len(each.parts[0].residuals) for language, each in languages.items()
        },
    }


def alignment(ranks: PoolRanks) -> View:
    """Return weak and strong alignment by pair of languages, and their means over questions.

    "ar->de" of weak alignment: P@1 for questions in ar among the candidates in de alone; of strong alignment:
    the share of pairs of an answer in de and an irrelevant candidate in ar in the right order. The means are
    over questions with an answer in another language, by the measures of `ALIGNMENT`; "weak_own" is P@1 in
    the question's own language.
    """
    counts = ranks.alignment()
    by_question, by_chance = (_aligned(ranks, each) for each in (counts, ranks.alignment(equal=True)))
    scores = _scores(**{name: mean_score(values, ranks.cluster) for name, values in by_question.items()})
    weak, strong = (
        by_pair(ranks, _nearest(ranks, counts)),
        by_pair(ranks, ranks.by_language(right_order(counts))),
    )
    pairs = {"weak_alignment": weak, "strong_alignment": strong}
    return {
        **{name: _padded(each) for name, each in pairs.items() if each},
        "alignment": _padded(scores),
        "alignment_chance": {name: float(np.nanmean(by_chance[name])) for name in scores},
    }


def _padded(scores: Scores) -> Scores:
    """Return scores of values that are often all at a bound, whose intervals allow for few clusters."""
    return {name: replace(each, padded=True) for name, each in scores.items()}


def _aligned(ranks: PoolRanks, counts: AlignmentCounts) -> dict[str, Floats]:
    """Return the numbers of the summary for each question [n], NaN where it has none."""
    own = _nearest(ranks, counts)[np.arange(ranks.n), ranks.question_language]
    values = {name: measure.per_query(counts) for name, measure in ALIGNMENT.items()}
    return {"weak": values.pop("weak"), "weak_own": own, **values}


def _nearest(ranks: PoolRanks, counts: AlignmentCounts) -> Floats:
    """Return P@1 of each question among the candidates of each language [n, G]; NaN without an answer."""
    shape = ranks.n, len(ranks.languages)
    cell = counts.query * shape[1] + counts.language
    hits = sums(cell, nearest_in_language(counts), shape[0] * shape[1])
    hits[np.bincount(cell, minlength=len(hits)) == 0] = np.nan
    return hits.reshape(shape)


def subsets(ranks: PoolRanks, chosen: Iterable[Sequence[str]]) -> View:
    """Return mAP in the pool of some languages (LAReQA, Table 5), by their names joined with commas.

    For all but each language, where there are at least three, and for the chosen subsets. Questions in other
    languages, and without an answer in these, are left out.
    """
    every = range(len(ranks.languages))
    codes = [[code for code in every if code != left_out] for left_out in every] if len(every) > 2 else []
    codes += [sorted({ranks.languages.index(tag) for tag in subset}) for subset in chosen]
    scores: dict[str, Score | None] = {}
    for subset in codes:
        values = ranks.by_question(precision_within(ranks, subset))
        values[~np.isin(ranks.question_language, subset)] = np.nan
        scores[",".join(ranks.languages[code] for code in subset)] = mean_score(values, ranks.cluster)
    return {"subsets": known} if (known := _scores(**scores)) else {}


def loss(ranks: PoolRanks) -> View:
    """Return the mean numbers of irrelevant candidates above each answer: where the loss comes from.

    By pair of languages, {"question": of the question's language, "answer": of the answer's, "third": of all
    others}; in "ar->ar" those of ar are under "question". A candidate that ties counts half. A question with
    several answers in a language counts once, with their mean.
    """

    def halved(above: Ints, tied: Ints) -> Floats:
        return above + 0.5 * tied

    everything = halved(ranks.above - ranks.relevant_above(), ranks.tied - ranks.relevant_tied())
    question = halved(*ranks.irrelevant(ranks.asked_in))
    answer = np.where(ranks.own, 0.0, halved(*ranks.irrelevant(ranks.language)))
    kinds = {"question": question, "answer": answer, "third": everything - question - answer}
    pairs = {kind: by_pair(ranks, ranks.by_language(values)) for kind, values in kinds.items()}
    return {"loss": {pair: {kind: pairs[kind][pair].value for kind in kinds} for pair in pairs["question"]}}


def language_shares(ranks: PoolRanks, heads: Heads) -> View:
    """Return the shares of languages among each question's first 100 candidates (fewer in a small pool).

    And as ratios to the shares in the pool, which are known without error. Languages without candidates have
    no share.
    """
    table = heads.shares / heads.top
    table[:, ranks.sizes == 0] = np.nan
    shares, ratios = by_pair(ranks, table), {}
    of_pool = dict(zip(ranks.languages, (ranks.sizes / ranks.sizes.sum()).tolist(), strict=True))
    for pair, share in shares.items():
        size = of_pool[pair.partition("->")[2]]
        parts = tuple(replace(part, residuals=part.residuals / size) for part in share.parts)
        ratios[pair] = Score(share.value / size, parts, (0.0, 1 / size))
    return {"top": heads.top, "language_share_top100": shares, "language_share_ratio_top100": ratios}


def fairness(ranks: PoolRanks, heads: Heads) -> View:
    """Return PEER@20: do the languages stand equally high among irrelevant and among relevant candidates."""
    first, targets = heads.first, ranks.targets()
    irrelevant = first.wrong(ranks.question, ranks.candidate) > 0
    question, candidate, above, tied = (
        np.concatenate([answers, listed[irrelevant]])
        for answers, listed in (
            (ranks.question, first.query),
            (ranks.candidate, first.candidate),
            (targets.above, first.above),
            (targets.tied, first.tied),
        )
    )
    relevant = np.arange(len(question)) < len(ranks.question)
    language = ranks.candidate_language[candidate]
    fair = peer(question, above + (tied + 1) / 2, language, relevant, n_queries=ranks.n)
    tested = {"other_tested": fair.other_tested, "relevant_tested": fair.relevant_tested}
    return {"fairness": {f"PEER@{CUT}": {**fair.means, **tested}}}


def found_among(ranks: PoolRanks, k: int) -> View:
    """Return the share of the answers that are among the first k: R@k by pair, and its own-language gap."""
    among = ranks.without_missed(np.clip((k - ranks.above) / ranks.tied, 0.0, 1.0))
    return {**_with_summary("found", ranks, ranks.by_language(among)), "found_at": k}


def monolingual_ndcg(ranks: PoolRanks, measure: NDCG) -> Floats:
    """Return each question's nDCG in its language's pool [n]; NaN without an answer there."""
    rows, pool = np.flatnonzero(ranks.own), ranks.sizes[ranks.question_language]
    question, language = ranks.question[rows], ranks.language[rows]
    above, tied = ranks.above_by[rows, language], ranks.tied_by[rows, language]
    above, tied = ranks.missed_last(rows, above, tied, pool[question])
    return measure.per_query(JudgedCounts(question, above, tied, ranks.grade[rows], pool, pool))


def prefer_own(ranks: PoolRanks, heads: Heads) -> View:
    """Return how many candidates rank above the best own-language answer, and what ranks first, by kind.

    "own_wrong" is irrelevant and in the question's language, "other_wrong" irrelevant and in another,
    "right_meaning_wrong_language" an answer in another language. Questions without an answer in their own
    language are left out. "first" are shares that sum to 1; where a search system found nothing it is
    "wrong_untold". The numbers are means over questions and have no intervals: they explain the score.
    """
    own = np.flatnonzero(ranks.own)
    best = own[np.flatnonzero(np.diff(ranks.question[own], prepend=-1))]
    asked_in, first = ranks.asked_in[best], ranks.span[0][best]
    # a candidate that ties with r of these answers is above all of them with probability 1/(r + 1)
    own_tied = ranks.relevant_tied(ranks.own)[best]
    chance = 1.0 / (own_tied + 1)
    in_own = ranks.above_by[best, asked_in] + (ranks.tied_by[best, asked_in] - own_tied) * chance
    meant = ranks.relevant_above(~ranks.own)[best] + ranks.relevant_tied(~ranks.own)[best] * chance
    everything = ranks.above[best] + (ranks.tied[best] - own_tied) * chance
    errors = {"own_wrong": in_own, "other_wrong": everything - in_own - meant}
    errors["right_meaning_wrong_language"] = meant
    right, meaning = (
        np.where(ranks.above[first] == 0, ranks.relevant_tied(chosen)[first] / ranks.tied[first], 0.0)
        for chosen in (ranks.own, ~ranks.own)
    )
    share = heads.shares[ranks.question[best], asked_in]  # of the first place, in the question's language
    none = np.isnan(share)
    own_wrong = np.maximum(np.where(none, 0.0, share - right), 0.0)
    other_wrong = np.where(none, 0.0, 1.0 - right - meaning - own_wrong)
    kinds = {"right": right, "right_meaning_wrong_language": meaning}
    kinds |= {"own_wrong": own_wrong, "other_wrong": other_wrong}
    if none.any():
        kinds["wrong_untold"] = none * 1.0
    return {
        "errors": _means(errors),
        "errors_by_question_language": {
            language: _means({kind: values[asked_in == code] for kind, values in errors.items()})
            for code, language in enumerate(ranks.languages)
            if (asked_in == code).any()
        },
        "first": _means(kinds),
    }


def _means(kinds: Mapping[str, Floats]) -> dict[str, float]:
    return {kind: float(values.mean()) for kind, values in kinds.items()}


FROM_RANKS: Mapping[str, Callable[[PoolRanks], View]] = {
    "one-target": one_target,
    "remove-one": remove_one,
    "monolingual-pool": monolingual_pool,
    "alignment": alignment,
    "loss": loss,
}


def views_of_measure(measure: PoolMeasure, size: int) -> set[str]:
    """Return the names of the views that belong to a measure other than AP, in a pool of that size."""
    cut = cut_of(measure, size)
    names = {"found"} if cut is not None and cut < size else set()
    return names | ({"monolingual-pool"} if isinstance(measure, NDCG) else set())


def chosen_views(
    measure: PoolMeasure,
    ranks: PoolRanks,
    heads: Heads | None,
    chosen: Collection[str],
    languages: Iterable[Sequence[str]],
) -> View:
    """Return the chosen views that belong to a measure, with `languages` of subsets.

    `heads` are there for the measure with which views of the first candidates stand.
    """
    view, size = View(), len(ranks.candidate_language)
    if measure == AP:
        for name in FROM_RANKS:
            view |= FROM_RANKS[name](ranks) if name in chosen else {}
        view |= subsets(ranks, languages) if "subsets" in chosen else {}
    if heads is not None:
        view |= language_shares(ranks, heads) if "shares" in chosen else {}
        view |= fairness(ranks, heads) if "fairness" in chosen else {}
    belonging, cut = views_of_measure(measure, size) & set(chosen), cut_of(measure, size)
    if "found" in belonging and cut is not None:
        view |= found_among(ranks, cut)
    if "monolingual-pool" in belonging and isinstance(measure, NDCG):
        view |= monolingual_pool(ranks, monolingual_ndcg(ranks, measure))
    return view
