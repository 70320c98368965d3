"""Cautions about a study: raters, their agreement and attention, and ratings that are still missing."""

from __future__ import annotations

from xlingual.report import words
from xlingual.report.marking import marked, quoted
from xlingual.report.numbers import counted, in_words
from xlingual.report.study_views import amount
from xlingual.results.comparison import NO_DIFFERENCE
from xlingual.results.study import LEFT_OUT, OF_PLANNED, PairDifference, RaterAgreement, StudyAnalysis

FEW_RATERS = 5
CLOSE, FAIR = 0.8, 0.667  # Krippendorff's customary limits: for firm conclusions, and for tentative ones
MOST_NAMED = 3


def open_(pair: PairDifference) -> bool:
    """Tell whether a difference is not shown."""
    return pair.outcome == NO_DIFFERENCE


def raters(analysis: StudyAnalysis) -> str:
    """Return which queries and raters the intervals hold for."""
    if analysis.n_raters == 1:
        return (
            "All scores come from one rater. The intervals are for other queries with this rater; other "
            "people may rate differently. The 2.3 times in the Backretrieval paper rests on one volunteer "
            "and 20 queries, too."
        )
    if not analysis.raters_resampled:
        few = f" since fewer than {FEW_RATERS} say" if analysis.n_raters < FEW_RATERS else " as these say"
        return (
            f"The intervals are about these {analysis.n_raters} raters: they show how the numbers may vary "
            f"with other queries. Raters were not resampled,{few} too little about other people."
        )
    return "The intervals hold for other queries and other raters: both were resampled."


def agreement(analysis: StudyAnalysis) -> str:
    """Return how far raters agree, and its effect on the comparison."""
    found = analysis.agreement
    if analysis.n_raters < 2:
        return ""
    if found.alpha is None:
        return f"How far raters agree is not known{_why(found.note)}"
    return (
        f"{degree(found)} (Krippendorff's alpha {amount(found.alpha, found.ci)}; 1 is perfect agreement, 0 "
        "what luck gives). Disagreement makes a difference harder to detect. It favours no system, since "
        "raters did not know which system made which suggestion."
    )


def _why(note: str | None) -> str:
    """Return the end of a sentence: the note, or a full stop."""
    return f": {words.stop(quoted(note))}" if note else "."


def degree(found: RaterAgreement) -> str:
    """Return how closely raters agree, in words."""
    if found.alpha is None:
        return "Agreement is not known"
    if found.alpha <= 0 or (found.ci is not None and found.ci.low <= 0):
        return "Raters are not shown to agree more than by luck"
    if found.alpha >= CLOSE:
        return "Raters agree closely"
    return "Raters agree fairly well" if found.alpha >= FAIR else "Raters agree only in part"


def flagged(analysis: StudyAnalysis) -> str:
    """Return which raters look inattentive, and why."""
    inattentive = [
        f"{marked(row.rater)} ({quoted(row.flagged).rstrip('.')})" for row in analysis.raters if row.flagged
    ]
    if not inattentive:
        return ""
    verb = "looks" if len(inattentive) == 1 else "look"
    some = f"{counted(len(inattentive), 'rater')} of {len(analysis.raters)} {verb}"
    return f"{some} inattentive: {in_words(inattentive, MOST_NAMED)}. All raters are counted."


def unfinished(analysis: StudyAnalysis) -> str:
    """Return which planned ratings are missing."""
    missing = sum(row.n_missing for row in analysis.raters)
    parts = []
    if analysis.n_queries < analysis.n_planned:
        parts.append(f"{analysis.n_queries} of {counted(analysis.n_planned, 'query', 'queries')} are rated")
    if missing:
        is_ = "is" if missing == 1 else "are"
        parts.append(f"{counted(missing, 'rating')} that raters were asked for {is_} missing")
    else:
        parts += [one.partition(":")[0] for one in analysis.warnings if OF_PLANNED in one]
    left_out = [f" {quoted(one)}" for one in analysis.warnings if one.startswith(LEFT_OUT)]
    luck = "stopping at the first difference before the end finds too many differences by luck"
    found = f"{' and '.join(parts)}; {luck}.{''.join(left_out)}"
    return f"The study is not finished: {found}" if parts else ""
