"""The verdict of a blind study: what raters found, then cautions."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report import study_views as views
from xlingual.report.findings import study_cautions as cautions
from xlingual.report.findings.study_cautions import open_
from xlingual.report.marking import marked, quoted
from xlingual.report.numbers import counted, in_words, p_sentence, percent
from xlingual.report.study_views import amount, best_label, ordered_pairs, ranked
from xlingual.results.study import PairDifference, StudyAnalysis, WithBkr

MOST_PAIRS = 6  # named in one sentence
MOST_WITH_BKR = 3
_NOT_EQUAL = (
    " That does not mean that they are equal: the interval shows how large a difference is still possible."
)


def findings(analysis: StudyAnalysis) -> list[str]:
    """Return the sentences of the verdict, the most important first, with the names in them marked."""
    pairs = ordered_pairs(analysis)
    if len(analysis.systems) == 2 and len(pairs) == 1:
        lead, rest = _lead(analysis, pairs[0]), [_scores(analysis, pairs[0]), _wins(pairs[0])]
    else:
        lead, rest = _order(analysis), _shown_to_differ(pairs)
    found = [
        lead,
        *rest,
        cautions.raters(analysis),
        cautions.agreement(analysis),
        _with_bkr(views.with_bkr(analysis)),
        cautions.flagged(analysis),
        cautions.unfinished(analysis),
    ]
    return [sentence for sentence in found if sentence]


def sentence(text: str) -> str:
    """Return a note of a record as a sentence."""
    return words.stop(_capital(quoted(text)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lead(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return the outcome of a study of two systems."""
    first, second, best, who = marked(pair.first), marked(pair.second), best_label(analysis), _who(analysis)
    sums = {row.system: row.very_relevant for row in analysis.systems}
    each = f"{amount(sums[pair.first])} against {amount(sums[pair.second])} per query"
    p = p_sentence(pair.p_permutation)
    if pair.ratio is None:
        note = sentence(pair.ratio_note or "No ratio can be given.")
        if not sums[pair.first] and not sums[pair.second]:
            return f"No suggestion of {first} or {second} was found {best}. {note}"
        if open_(pair):
            return f"No difference is shown, with {each} {best} suggestions ({p}). {note}"
        more = f"found more {best} suggestions with {first} than with {second}"
        return f"{_capital(who)} {more}, {each} ({p}). {note}"
    added = f" {sentence(pair.ratio_note)}" if pair.ratio_note else ""
    none = f"No difference is shown between {first} and {second}: {who} found"
    if pair.ratio == 1 and open_(pair):
        many = (
            f"as many {best} suggestions with one as with the other, {each}, times {views.ratio(pair)} ({p})"
        )
        return f"{none} {many}.{_NOT_EQUAL}{added}"
    much = f"{_times(pair)} as many {best} suggestions with {first} as with {second}"
    if not sums[pair.second]:  # no number of times says it
        much = f"{best} suggestions with {first} only (as a ratio {_times(pair)})"
    much = f"{much}, {each} ({p})."
    if not open_(pair):
        return f"{_capital(who)} found {much}{_at_odds(pair)}{added}"
    return f"{none} {much}{_at_odds(pair) or _NOT_EQUAL}{added}"


def _who(analysis: StudyAnalysis) -> str:
    return "one rater" if analysis.n_raters == 1 else "people"


def _at_odds(pair: PairDifference) -> str:
    """Return a remark where interval and test disagree, which they may near the edge."""
    ci = pair.ratio_ci
    if ci is None or (ci.low <= 1 <= ci.high) == open_(pair):
        return ""
    if open_(pair):
        return " The interval excludes 1, but the test finds no difference, and the test decides."
    return " The interval contains 1, but the test finds a difference, and the test decides."


def _scores(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return the mean scores, and whether they favour the same system."""
    of = {row.system: amount(row.mean_score) for row in analysis.systems}
    less = pair.score_difference
    way = "points the same way" if less < 0 else "points the other way" if less > 0 else "is the same"
    return (
        f"The mean score (lower is better) {way}: {of[pair.first]} with {marked(pair.first)} and "
        f"{of[pair.second]} with {marked(pair.second)}, a difference of "
        f"{views.signed(less, pair.score_ci)} ({p_sentence(pair.p_score)})."
    )


def _wins(pair: PairDifference) -> str:
    total = pair.wins + pair.ties + pair.losses
    if total and pair.ties == total:
        return f"{marked(pair.first)} and {marked(pair.second)} are even on every query."
    even = f", and {pair.ties} {'is' if pair.ties == 1 else 'are'} even" if pair.ties else ""
    return (
        f"Of {counted(total, 'query', 'queries')}, {marked(pair.first)} has the better suggestions on "
        f"{pair.wins} and {marked(pair.second)} on {pair.losses}{even}: a win rate of {views.win_rate(pair)}."
    )


def _order(analysis: StudyAnalysis) -> str:
    """Return the systems of a study of three or more in their order."""
    if len(analysis.systems) < 2:
        return "The study has one system: there is nothing to compare."
    best, *others = ranked(analysis)
    if not best.very_relevant:
        return f"No suggestion of any system was found {best_label(analysis)}."
    amounts = [f"{amount(row.very_relevant)} with {marked(row.system)}" for row in others]
    return (
        f"{_capital(_who(analysis))} found the most {best_label(analysis)} suggestions with "
        f"{marked(best.system)}: {amount(best.very_relevant)} per query ({percent(best.share)} of its "
        f"suggestions), against {in_words(amounts)}."
    )


def _shown_to_differ(pairs: Sequence[PairDifference]) -> list[str]:
    """Return which pairs are shown to differ and which are not."""
    shown, rest = ([pair for pair in pairs if open_(pair) is left] for left in (False, True))
    corrected = f" p is corrected for {len(pairs)} pairs; intervals are not." if len(pairs) > 1 else ""
    if rest and not shown:
        return [f"No difference between two systems is shown: {_listed(rest)}.{corrected}"]
    sentences = [f"Shown to differ: {_listed(shown)}.{corrected}"] if shown else []
    return sentences + ([f"Not shown to differ: {_listed(rest)}."] if rest else [])


def _listed(pairs: Sequence[PairDifference]) -> str:
    texts = [
        f"{marked(pair.first)} from {marked(pair.second)} ({_times(pair)}, {p_sentence(pair.p_adjusted)})"
        for pair in pairs
    ]
    return in_words(texts, MOST_PAIRS)


def _times(pair: PairDifference) -> str:
    """Return "2.1 times [1.3, 3.4]"."""
    value, _, interval = views.ratio(pair).partition(" ")
    return "no ratio" if pair.ratio is None else f"{value} times {interval}".rstrip()


def bkr_name(row: WithBkr) -> str:
    """Return the measure as sentences name it: "BkR R@10"."""
    return row.measure if row.measure.startswith("BkR") else f"BkR {row.measure}"


def _with_bkr(found: Sequence[WithBkr]) -> str:
    """Return whether BkR says the same as people."""
    known = [row for row in found if row.same_direction is not None]
    if len(found) < 2 or not known:
        return " ".join(map(_one_with_bkr, found[:MOST_WITH_BKR]))
    others = [row for row in known if not row.same_direction]
    same = f"{bkr_name(known[0])} on the same queries points the same way for"
    if not others:
        return f"{same} all {len(known)} pairs."
    differences = in_words([_less_with_bkr(row) for row in others], MOST_WITH_BKR)
    others_too = f"and the other way for {len(others)}: {differences}"
    return f"{same} {len(known) - len(others)} of {len(known)} pairs, {others_too}."


def _one_with_bkr(row: WithBkr) -> str:
    if row.same_direction is None:
        why = words.stop(quoted(row.note)) if row.note else "there is no direction to compare."
        return f"Whether {bkr_name(row)} says the same as people is not known: {why}"
    way = "points the same way" if row.same_direction else "points the other way"
    return f"{bkr_name(row)} on the same queries {way}: {_less_with_bkr(row)}{_together(row)}."


def _less_with_bkr(row: WithBkr) -> str:
    luck = " (which may be luck)" if row.ci is not None and row.ci.low <= 0 <= row.ci.high else ""
    return f"{marked(row.first)} less {marked(row.second)} is {numbers.signed(row.difference, row.ci)}{luck}"


def _together(row: WithBkr) -> str:
    """Return whether the differences go together query by query."""
    if row.correlation is None:
        note = f": {quoted(row.note).rstrip('.')}" if row.note else ""
        return f"; whether the two go together query by query is not known{note}"
    how, ci = "are not shown to go together", row.correlation_ci
    if ci is not None and (ci.low > 0 or ci.high < 0):
        how = "go together" if ci.low > 0 else "go against each other"
    value = amount(row.correlation, ci)
    return f"; query by query the two differences {how} (correlation {value})"
