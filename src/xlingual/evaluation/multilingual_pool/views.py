"""Views of language bias: what an entry says beside its number, see docs/explanation/language-bias.md.

A view is values by name: scores, which get intervals, in groups by language or pair of languages, and numbers
that explain scores, which have none. "ar->de" is asked in ar, answered in de.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.multilingual_pool.ranks import (
    Heads,
    PoolRanks,
    alone_precision,
    language_precision,
    own_and_other,
    precision_within,
    precision_without,
)
from xlingual.measures import NDCG, AlignmentMeasure, QueryMeasure, StrongAlignment, WeakAlignment
from xlingual.measures.alignment import nearest_in_language, right_order
from xlingual.measures.fairness import CUT, peer
from xlingual.measures.precision import AveragePrecision
from xlingual.ragged import sums
from xlingual.records import JudgedCounts
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

    def values(view: View) -> View:
        plain = {name: each.value if isinstance(each, Score) else each for name, each in view.items()}
        return {name: values(each) if isinstance(each, dict) else each for name, each in plain.items()}

    def intervals(view: View) -> View:
        nested = {name: intervals(each) for name, each in view.items() if isinstance(each, dict)}
        scores = {name: each.interval() for name, each in view.items() if isinstance(each, Score)}
        return scores | {name: each for name, each in nested.items() if each}

    return PoolViews(languages=list(languages), **values(view), ci=PoolIntervals(**intervals(view)))


def mean_score(values: Floats, cluster: Ints) -> Score | None:
    """Return the score of the mean of values in 0..1 [n]; NaN: not counted; None where none counts."""
    rows = np.flatnonzero(~np.isnan(values))
    return score(AP, values[rows], (cluster[rows],)) if len(rows) else None


def _scores(**scores: Score | None) -> Scores:
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


def of_precision(ranks: PoolRanks, chosen: Iterable[Sequence[str]]) -> View:
    """Return the views that belong to AP; `chosen` are subsets of the languages beside all but each.

    - one_target: AP of every answer when it alone is in the pool (LAReQA, Figure 4). A question with several
      answers in a language counts once, with their mean;
    - remove_one: see `remove_one`; monolingual_pool: see there;
    - subsets: mAP in the pool of some languages (Table 5). Questions in other languages, and without an
      answer in these, are left out;
    - weak and strong alignment: see `alignment`;
    - loss: the mean numbers of irrelevant candidates above each answer, by their language: the question's,
      the answer's, or a third one. One that ties counts half.
    """
    view = _with_summary("one_target", ranks, alone_precision(ranks)) | remove_one(ranks)
    view |= monolingual_pool(ranks, own_and_other(ranks, language_precision(ranks))[0]) | alignment(ranks)
    every = range(len(ranks.languages))
    codes = [[code for code in every if code != left_out] for left_out in every] if len(every) > 2 else []
    codes += [sorted({ranks.languages.index(tag) for tag in subset}) for subset in chosen]
    scores: dict[str, Score | None] = {}
    for subset in codes:
        values = ranks.by_question(precision_within(ranks, subset))
        values[~np.isin(ranks.question_language, subset)] = np.nan
        scores[",".join(ranks.languages[code] for code in subset)] = mean_score(values, ranks.cluster)
    view |= {"subsets": subsets} if (subsets := _scores(**scores)) else {}

    def halved(above: Ints, tied: Ints) -> Floats:
        return above + 0.5 * tied

    everything = halved(ranks.above - ranks.relevant_above(), ranks.tied - ranks.relevant_tied())
    question = halved(*ranks.irrelevant(ranks.asked_in))
    answer = np.where(ranks.same_language, 0.0, halved(*ranks.irrelevant(ranks.language)))
    kinds = {"question": question, "answer": answer, "third": everything - question - answer}
    pairs = {kind: by_pair(ranks, ranks.by_language(values)) for kind, values in kinds.items()}
    view["loss"] = {pair: {kind: pairs[kind][pair].value for kind in kinds} for pair in pairs["question"]}
    return view


def _with_summary(name: str, ranks: PoolRanks, table: Floats) -> View:
    """Average a table [n, G] by pair; own, other and gap over questions that have both kinds of answers."""
    sides = np.stack(own_and_other(ranks, table))
    sides[:, np.isnan(sides).any(axis=0)] = np.nan
    own, other = (mean_score(values, ranks.cluster) for values in sides)
    summary = _scores(own=own, other=other, gap=own and other and own.less(other))
    return {name: by_pair(ranks, table)} | ({f"{name}_summary": summary} if summary else {})


def remove_one(ranks: PoolRanks) -> View:
    """Return mAP after one answer has left the pool (LAReQA, Table 3), where either kind can leave.

    "same", where it is in the question's language (of several, each equally likely); "rand", in another
    language, the exact expectation over a random language and a random answer in it; and "relative_delta" =
    (rand − same)/rand, from the two means, where rand is not 0, as it may be of a search system that returns
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


def monolingual_pool(ranks: PoolRanks, values: Floats) -> View:
    """Return the mean by language of values among candidates of the question's language [n] (Table 4).

    And its mean over languages. Questions without an answer in their own language are left out.
    """
    languages = by_question_language(ranks, values)
    if not languages:
        return {}
    counts = {language: len(each.parts[0].residuals) for language, each in languages.items()}
    return {
        "monolingual_pool": languages,
        "monolingual_pool_average": Score.mean(list(languages.values())),
        "monolingual_pool_questions": counts,
    }


def monolingual_ndcg(ranks: PoolRanks, measure: NDCG) -> Floats:
    """Return each question's nDCG among the candidates of its language [n]; NaN without an answer there."""
    rows, pool = np.flatnonzero(ranks.same_language), ranks.sizes[ranks.question_language]
    question, language, missed = ranks.question[rows], ranks.language[rows], ranks.missed[rows]
    above = np.where(missed, pool[question], ranks.above_by[rows, language])
    tied = np.where(missed, 1, ranks.tied_by[rows, language])
    return measure.per_query(JudgedCounts(question, above, tied, ranks.grade[rows], pool, pool))


def alignment(ranks: PoolRanks) -> View:
    """Return weak and strong alignment by pair of languages, and their means over questions.

    "ar->de" of weak alignment: P@1 for questions in ar among the candidates in de alone; of strong alignment:
    the share of pairs of an answer in de and an irrelevant candidate in ar in the right order. The means are
    over questions with an answer in another language, by the measures of `ALIGNMENT`; "weak_own" is P@1 in
    the question's own language. Values are often all at a bound: their intervals allow for few clusters.
    """
    by_question, by_chance = _aligned(ranks), _aligned(ranks.equal())
    means = _scores(**{name: mean_score(values, ranks.cluster) for name, values in by_question.items()})
    views = {
        "weak_alignment": by_pair(ranks, _nearest(ranks)),
        "strong_alignment": by_pair(ranks, ranks.by_language(right_order(ranks.alignment))),
        "alignment": means,
    }
    padded = {
        view: {name: replace(each, padded=True) for name, each in scores.items()}
        for view, scores in views.items()
        if scores or view == "alignment"
    }
    return padded | {"alignment_chance": {name: float(np.nanmean(by_chance[name])) for name in means}}


def _aligned(ranks: PoolRanks) -> dict[str, Floats]:
    """Compute the numbers of the summary for each question [n], NaN where it has none."""
    in_own = _nearest(ranks)[np.arange(ranks.n), ranks.question_language]
    values = {name: measure.per_query(ranks.alignment) for name, measure in ALIGNMENT.items()}
    return {"weak": values.pop("weak"), "weak_own": in_own, **values}


def _nearest(ranks: PoolRanks) -> Floats:
    """Compute P@1 of each question among the candidates of each language [n, G]; NaN without an answer."""
    shape = ranks.n, len(ranks.languages)
    cell = ranks.question * shape[1] + ranks.language
    hits = sums(cell, nearest_in_language(ranks.alignment), shape[0] * shape[1])
    hits[np.bincount(cell, minlength=len(hits)) == 0] = np.nan
    return hits.reshape(shape)


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
    among = np.where(ranks.missed, 0.0, np.clip((k - ranks.above) / ranks.tied, 0.0, 1.0))
    return {**_with_summary("found", ranks, ranks.by_language(among)), "found_at": k}
