"""The verdict of a study, in plain sentences: what people found, then what to make of it."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import words
from xlingual.report.numbers import in_words, percent
from xlingual.report.study import cautions, with_bkr
from xlingual.report.study.marking import plain, quoted, said
from xlingual.report.study.wording import (
    amount,
    counted,
    ordered_pairs,
    p_is,
    ranked,
    ratio,
    signed,
    wanted,
    win_rate,
)
from xlingual.results.study import PairDifference, StudyAnalysis

MOST_PAIRS = 6  # named in one sentence


def verdict(analysis: StudyAnalysis) -> list[str]:
    """Return the findings as plain sentences, the most important first."""
    return [plain(sentence) for sentence in marked(analysis)]


def marked(analysis: StudyAnalysis) -> list[str]:
    """Return the findings with the names in them marked (see `marking`)."""
    pairs = ordered_pairs(analysis)
    if len(analysis.systems) == 2 and len(pairs) == 1:
        lead, *rest = _lead(analysis, pairs[0]), _scores(analysis, pairs[0]), _wins(pairs[0])
    else:
        lead, *rest = _order(analysis), _told_apart(analysis, pairs), _not_told_apart(analysis, pairs)
    found = [
        lead,
        cautions.look(analysis),
        *rest,
        cautions.raters(analysis),
        cautions.agreement(analysis),
        with_bkr.sentence(analysis),
        cautions.flagged(analysis),
        cautions.unfinished(analysis),
        cautions.needed(analysis),
    ]
    return [sentence for sentence in found if sentence]


def _lead(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return what came out between two systems."""
    first, second = said(pair.first), said(pair.second)
    p = p_is(pair.p_permutation)
    if pair.ratio is None:
        return _without_ratio(analysis, pair, p)
    added = f" {sentence(pair.ratio_note)}" if pair.ratio_note else ""
    if pair.ratio == 1 and cautions.open_(pair):
        return (
            f"No difference is shown between {first} and {second}: {cautions.who(analysis)} found as many "
            f"{wanted(analysis)} suggestions with one as with the other, {_each(analysis, pair)}, times "
            f"{ratio(pair)} ({p}).{_NOT_EQUAL}{added}"
        )
    much = f"{_much(analysis, pair)}, {_each(analysis, pair)} ({p})"
    who = cautions.who(analysis)
    if not cautions.open_(pair):
        return f"{_capital(who)} found {much}.{_at_odds(pair)}{added}"
    if cautions.held_back(analysis, pair) and cautions.early(analysis):
        return f"So far {who} found {much}.{added}"
    why = _at_odds(pair) or _NOT_EQUAL
    return f"No difference is shown between {first} and {second}: {who} found {much}.{why}{added}"


def _much(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return how many more there were; where the other system has none, no number of times says it."""
    first, second, best = said(pair.first), said(pair.second), wanted(analysis)
    if not any(row.very_relevant for row in analysis.systems if row.system == pair.second):
        return f"{best} suggestions with {first} only (as a ratio {_times(pair)})"
    return f"{_times(pair)} as many {best} suggestions with {first} as with {second}"


_NOT_EQUAL = " That is not the same as equal: the interval says how large a difference may still be."


def _at_odds(pair: PairDifference) -> str:
    """Return that interval and test differ, where they do: near the edge they may."""
    ci = pair.ratio_ci
    if ci is None or (ci.low <= 1 <= ci.high) == cautions.open_(pair):
        return ""
    if cautions.open_(pair):
        return " The interval leaves 1 out, but the test, which decides, does not find a difference."
    return " The interval holds 1, but the test, which decides, finds a difference."


def _without_ratio(analysis: StudyAnalysis, pair: PairDifference, p: str) -> str:
    first, second, best = said(pair.first), said(pair.second), wanted(analysis)
    note = sentence(pair.ratio_note or "No ratio can be given.")
    if not any(row.very_relevant for row in analysis.systems if row.system in (pair.first, pair.second)):
        return f"No suggestion of {first} or {second} was found {best}. {note}"
    found = f"{best} suggestions with {first} than with {second}, {_each(analysis, pair)} ({p})"
    if cautions.open_(pair):
        return f"No difference is shown, with {_each(analysis, pair)} {best} suggestions ({p}). {note}"
    who = cautions.who(analysis)
    return f"{_capital(who)} found more {found}. {note}"


def _each(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return "2.35 against 1.10 per query"."""
    of = {row.system: amount(row.very_relevant) for row in analysis.systems}
    return f"{of[pair.first]} against {of[pair.second]} per query"


def _scores(analysis: StudyAnalysis, pair: PairDifference) -> str:
    """Return what the mean scores say, and whether they say the same."""
    of = {row.system: amount(row.mean_score) for row in analysis.systems}
    less = signed(pair.score_difference, pair.score_ci)
    way = (
        "is the same"
        if pair.score_difference == 0
        else "points the same way"
        if pair.score_difference < 0
        else "points the other way"
    )
    return (
        f"The mean score, of which lower is better, {way}: {of[pair.first]} with {said(pair.first)} and "
        f"{of[pair.second]} with {said(pair.second)}, a difference of {less} ({p_is(pair.p_score)})."
    )


def _wins(pair: PairDifference) -> str:
    total = pair.wins + pair.ties + pair.losses
    if total and pair.ties == total:
        return f"{said(pair.first)} and {said(pair.second)} are even on every query."
    even = f", and {pair.ties} {'is' if pair.ties == 1 else 'are'} even" if pair.ties else ""
    return (
        f"Of {counted(total, 'query', 'queries')}, {said(pair.first)} has the better suggestions on "
        f"{pair.wins} and {said(pair.second)} on {pair.losses}{even}: a win rate of {win_rate(pair)}."
    )


def _order(analysis: StudyAnalysis) -> str:
    """Return the systems of a study of three or more in their order."""
    if len(analysis.systems) < 2:
        return "The study has one system: there is nothing to compare."
    best, *others = ranked(analysis)
    if not best.very_relevant:
        return f"No suggestion of any system was found {wanted(analysis)}."
    told = [f"{amount(row.very_relevant)} with {said(row.system)}" for row in others]
    who = cautions.who(analysis)
    return (
        f"{_capital(who)} found the most {wanted(analysis)} suggestions with {said(best.system)}: "
        f"{amount(best.very_relevant)} per query ({percent(best.share)} of its suggestions), against "
        f"{in_words(told)}."
    )


def _told_apart(analysis: StudyAnalysis, pairs: Sequence[PairDifference]) -> str:
    shown = [pair for pair in pairs if not cautions.open_(pair)]
    return "" if not shown else f"Told apart: {_listed(shown)}. {_corrected(pairs)}"


def _not_told_apart(analysis: StudyAnalysis, pairs: Sequence[PairDifference]) -> str:
    rest = [pair for pair in pairs if cautions.open_(pair)]
    if not rest:
        return ""
    if len(rest) < len(pairs):
        return f"Not told apart: {_listed(rest)}."
    return f"No two of them are told apart: {_listed(rest)}. {_corrected(pairs)}"


def _listed(pairs: Sequence[PairDifference]) -> str:
    told = [
        f"{said(pair.first)} from {said(pair.second)} ({_times(pair)}, {p_is(pair.p_adjusted)})"
        for pair in pairs
    ]
    return in_words(told, MOST_PAIRS)


def _times(pair: PairDifference) -> str:
    """Return "2.1 times [1.3, 3.4]"."""
    value, _, interval = ratio(pair).partition(" ")
    return "no ratio" if pair.ratio is None else f"{value} times {interval}".rstrip()


def _corrected(pairs: Sequence[PairDifference]) -> str:
    return "" if len(pairs) < 2 else f"p is corrected for {len(pairs)} pairs; intervals are not."


def sentence(text: str) -> str:
    """Return somebody's note as a sentence."""
    return words.stop(_capital(quoted(text)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
