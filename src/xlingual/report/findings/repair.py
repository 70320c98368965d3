"""What a repair says in sentences: what was chosen, what it changes, and who is worse off."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.transforms import repaired_by
from xlingual.results.repair import BETTER, UNCHANGED, UNDECIDED, Change, Repair

_ALL, _POOL, _OTHERS = "all", "pool", "others"


def findings(found: Repair) -> list[str]:
    """Return the verdict, what changes by language, and for whom it is worse."""
    if len({one.value for one in found.tried}) == 1 < len(found.tried):
        return [_all_equal(found)]
    if found.outcome == UNCHANGED:
        return [_unchanged(found)]
    sentences = [_verdict(found), _bias(found), _pairs(found), _monolingual(found), _harmless(found)]
    return [sentence for sentence in sentences if sentence]


def label(change: Change, *, alone: bool = False) -> str:
    """Return the languages of a change in English names; `alone`: question and answer are in one."""
    if alone:
        return named(change.source)
    if change.target in (_POOL, _OTHERS):
        return "all languages" if change.source == _ALL else named(change.source)
    return f"{named(change.source)} → {named(change.target)}"


def _all_equal(found: Repair) -> str:
    value = numbers.number(found.tried[0].value)
    of = numbers.counted(found.choose.questions, "question")
    too = "easy" if found.tried[0].value == 1 else "hard"
    return (
        f"These data cannot tell repairs apart: all {len(found.tried) - 1} that were tried, and "
        f"{found.encoder} as it is, have {found.criterion} {value} over the {of} that the choice goes "
        f"by. They are too few, or too {too}: take more data, with more candidates."
    )


def _unchanged(found: Repair) -> str:
    return (
        f"Nothing does better than {found.encoder} as it is, of {len(found.tried) - 1} repairs that were "
        f"tried: {found.criterion} {numbers.number(found.whole.before)} over {_tested(found)}. Leave it as "
        "it is."
    )


def _verdict(found: Repair) -> str:
    whole = found.whole
    values = f"{found.criterion} {numbers.number(whole.before)} → {numbers.number(whole.after)}"
    by = _by(whole)
    said = {
        BETTER: f"{_begun(found)} makes {found.encoder} better",
        UNDECIDED: f"{_begun(found)} was chosen for {found.encoder}; the test does not show that it helps",
    }.get(found.outcome, f"{_begun(found)} was chosen for {found.encoder}, and makes it worse")
    ending = {
        BETTER: "The interval excludes zero.",
        UNDECIDED: "The interval contains zero: take more data, or leave the encoder as it is.",
    }.get(found.outcome, "Leave the encoder as it is.")
    return f"{said}: {values}, {by}, over {_tested(found)}. {ending}"


def _tested(found: Repair) -> str:
    return f"{numbers.counted(found.whole.n_questions, 'question')} that took no part in the choice"


def _begun(found: Repair) -> str:
    words = repaired_by(found.chosen, found.similarity)
    return words[0].upper() + words[1:]


def _by(change: Change) -> str:
    return numbers.signed(change.difference, change.ci)


def _bias(found: Repair) -> str | None:
    bias = found.bias
    if bias is None:
        return None
    return (
        "An answer in the question's own language has a lead over one in another of "
        f"{numbers.number(bias.after)} in place of {numbers.number(bias.before)} (mAP of a single answer)."
    )


def _pairs(found: Repair) -> str | None:
    """Return how many pairs gain and lose clearly, and the worst."""
    if len(found.pairs) < 2:
        return None
    gain, lose = _clear(found.pairs)
    counts = f"Of {len(found.pairs)} language pairs {len(gain)} gain and {len(lose)} lose clearly"
    worst = min(found.pairs, key=lambda one: one.difference)
    if worst.difference >= 0:
        return f"{counts}; none loses anything."
    return f"{counts}; {label(worst)} loses most: {_by(worst)}."


def _monolingual(found: Repair) -> str | None:
    if not found.monolingual:
        return None
    _, lose = _clear(found.monolingual)
    worst = min(found.monolingual, key=lambda one: one.difference)
    if not lose:
        return "Within no language search becomes clearly worse."
    return (
        f"Search within one language becomes clearly worse in {len(lose)} of {len(found.monolingual)}, "
        f"most in {label(worst, alone=True)}: {_by(worst)}."
    )


def _clear(changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    known = [one for one in changes if one.ci is not None]
    return [one for one in known if one.ci and one.ci.low > 0], [
        one for one in known if one.ci and one.ci.high < 0
    ]


def _harmless(found: Repair) -> str:
    if found.harmless:
        return f"It is shown for every language pair that it loses less than {found.delta:g}."
    return f"It is not shown for every language pair that it loses less than {found.delta:g}."
