"""Cautions about a study: raters, their agreement and attention, and ratings that are still missing."""

from __future__ import annotations

from xlingual.report import words
from xlingual.report.marking import marked, quoted
from xlingual.report.numbers import counted, in_words, p_value, percent
from xlingual.report.study_views import amount, by_pair
from xlingual.results.comparison import NO_DIFFERENCE
from xlingual.results.study import (
    LEFT_OUT,
    OF_PLANNED,
    InterimLook,
    PairDifference,
    RaterAgreement,
    StudyAnalysis,
)

FEW_RATERS = 5
CLOSE, FAIR = 0.8, 0.667  # Krippendorff's customary limits: for firm conclusions, and for tentative ones
MOST_NAMED = 3


def open_(pair: PairDifference) -> bool:
    """Tell whether a difference is not shown."""
    return pair.outcome == NO_DIFFERENCE


def held_back(analysis: StudyAnalysis, pair: PairDifference) -> bool:
    """Tell whether a difference would be shown, had the study not been looked at before."""
    return bool(analysis.looks) and open_(pair) and pair.p_adjusted <= 1 - analysis.level


def outcome(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return the outcome of a pair, which at a look before the end may not count yet."""
    return "not shown at this look" if held_back(analysis, pair) else pair.outcome


def early(analysis: StudyAnalysis) -> bool:
    """Tell whether looks are still to come."""
    last = _last_look(analysis)
    return bool(analysis.looks) and (last is None or last.fraction < 1)


def _last_look(analysis: StudyAnalysis) -> InterimLook | None:
    """Return the look that is taken now."""
    return max((one for one in analysis.looks if one.reached), key=lambda one: one.number, default=None)


def look(analysis: StudyAnalysis) -> str:
    """Return what the current look allows."""
    last = _last_look(analysis)
    if last is None:
        none = "No planned look is reached yet, so no difference can be called found."
        return none if analysis.looks else ""
    one, ended = len(analysis.pairs) == 1, last.fraction >= 1
    passes = next((each for each in analysis.looks if each.stop and each.reached), None)
    if passes is not None and not all(map(open_, analysis.pairs)):
        where = "here" if passes.number == last.number else f"at look {passes.number}"
        found = (
            f"{'the' if one else 'a'} difference passes {where}{'' if ended else ', so the study may stop'}"
        )
    else:
        none = "the difference does not pass" if one else "no difference passes"
        found = f"{none}: {'none is shown' if ended else 'go on as planned'}"
    return (
        f"This is look {last.number}, at {percent(last.fraction)} of the planned ratings. It tests at "
        f"{p_value(last.level)}, so that all looks together find a difference where none is in at most "
        f"{100 * (1 - analysis.level):g} % of studies; {found}."
    )


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
    luck = (
        "; stopping at the first difference before the end finds too many differences by luck; planned "
        "looks correct for this"
    )
    found = f"{' and '.join(parts)}{'' if analysis.looks else luck}.{''.join(left_out)}"
    return f"The study is not finished: {found}" if parts else ""


def needed(analysis: StudyAnalysis) -> str:
    """Return how many more ratings would show the observed difference, where it is not shown yet."""
    rows = [(row, pair) for row, pair in by_pair(analysis, analysis.needed) if open_(pair)]
    if not rows:
        return ""
    row, pair = rows[0]
    more = " The table below has the other pairs." if len(rows) > 1 else ""
    large = "difference as large as the one seen"
    if len(analysis.pairs) > 1:
        large += f" between {marked(pair.first)} and {marked(pair.second)}"
    options = []
    if row.queries is not None:
        options.append(f"from about {counted(row.queries, 'query', 'queries')} with as many raters")
    if row.raters is not None:
        options.append(f"from about {counted(row.raters, 'rater')} on the same queries")
    if not options:
        return f"No number of ratings can be named that would show a {large}{_why(row.note)}{more}"
    found = f"would be found with a probability of {percent(row.power)} {' or '.join(options)}."
    return f"A {large} {found}{more}"
