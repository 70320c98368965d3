"""What a repair says in sentences: what was chosen, what it changes, and who loses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.transforms import repaired_by
from xlingual.results.repair import BETTER, CROSSLINGUAL_MAP, UNCHANGED, UNDECIDED, Change, Repair

_ALL, _POOL, _OTHERS = "all", "pool", "others"
_SEVERAL = 3  # pairs of a language that lose alike: two may by chance


def findings(found: Repair) -> list[str]:
    """Return the verdict, what changes by language, and who loses."""
    if len({one.value for one in found.tried}) == 1 < len(found.tried):
        return [_all_equal(found)]
    if found.outcome == UNCHANGED:
        return [_unchanged(found)]
    sentences = [
        _verdict(found),
        _bias(found),
        _pairs(found),
        *_one_language(found.pairs),
        _monolingual(found),
        _harmless(found),
        _families(found),
    ]
    return [sentence for sentence in sentences if sentence]


def _families(found: Repair) -> str:
    if not found.near_duplicates:
        return ""
    alike = f"{found.near_duplicates:,} clusters have near-equal texts in others"
    return f"{alike}: each such family is one cluster and stands in one part."


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
        f"These data cannot compare repairs: all {len(found.tried) - 1} repairs and the unchanged "
        f"{found.encoder} have {found.criterion} {value} over the {of} for choosing. These are too few, or "
        f"too {too}: use more data, with more candidates."
    )


def _unchanged(found: Repair) -> str:
    return (
        f"None of {len(found.tried) - 1} repairs is better than the unchanged {found.encoder}: "
        f"{found.criterion} {numbers.number(found.whole.before)} over {_tested(found)}. Do not repair it."
    )


def _verdict(found: Repair) -> str:
    whole = found.whole
    values = f"{found.criterion} {numbers.number(whole.before)} → {numbers.number(whole.after)}"
    by = _by(whole)
    said = {
        BETTER: f"{_begun(found)} makes {found.encoder} better",
        UNDECIDED: f"{_begun(found)} was chosen for {found.encoder}, but no benefit is shown by the test",
    }.get(found.outcome, f"{_begun(found)} was chosen for {found.encoder}, and makes it worse")
    ending = {
        BETTER: "The interval excludes zero.",
        UNDECIDED: f"The interval contains zero. {_left('is not shown to help')}, or test on more data.",
    }.get(found.outcome, f"{_left('makes it worse')}.")
    return f"{said}: {values}, {by}, over {_tested(found)}. {ending}"


def _left(why: str) -> str:
    return f"With --out the model is written (model:DIR/model), but it {why}: leave the encoder as it is"


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
        "The advantage of the question's own language goes from "
        f"{numbers.number(bias.before)} to {numbers.number(bias.after)}: {_by(bias)} (mAP of a single answer "
        "in it, less that of one in another)."
    )


def _pairs(found: Repair) -> str | None:
    """Return how many pairs are shown to gain and to lose, and the worst."""
    if len(found.pairs) < 2:
        return None
    gain, lose = shown(found.pairs)
    among = "of the answer's language" if found.criterion == CROSSLINGUAL_MAP else "of all languages"
    counts = (
        f"Of {len(found.pairs)} language pairs (a single answer, among candidates {among}) {len(gain)} "
        f"{'is' if len(gain) == 1 else 'are'} shown to gain and {len(lose)} to lose"
    )
    worst = min(found.pairs, key=lambda one: one.difference)
    if worst.difference >= 0:
        return f"{counts}; none loses anything."
    return f"{counts}; {label(worst)} loses most: {_by(worst)}."


def _one_language(pairs: Sequence[Change]) -> Iterator[str]:
    """Yield the languages whose answers, or questions, lose in every pair, and are shown to in some."""
    for side, sentence in (
        ("target", "Retrieval of answers in {} is worse for questions in every language"),
        ("source", "Questions in {} have worse retrieval of answers in every language"),
    ):
        for tag in dict.fromkeys(getattr(one, side) for one in pairs):
            own = [one for one in pairs if getattr(one, side) == tag]
            n = len(shown(own)[1])
            if n and len(own) >= _SEVERAL and all(one.difference < 0 for one in own):
                yield f"{sentence.format(named(tag))}; in {n} of {len(own)} pairs the interval excludes zero."


def _monolingual(found: Repair) -> str | None:
    if not found.monolingual:
        return None
    _, lose = shown(found.monolingual)
    least, most = (pick(one.difference for one in found.monolingual) for pick in (min, max))
    worst = min(found.monolingual, key=lambda one: one.difference)
    begun = "Search in one language is measured separately, without candidates of other languages:"
    if not lose:
        span = f"{numbers.signed(least)} to {numbers.signed(most)}"
        return f"{begun} no language is shown to lose there ({span})."
    return (
        f"{begun} {len(lose)} of {numbers.counted(len(found.monolingual), 'language')} "
        f"{'is' if len(lose) == 1 else 'are'} shown to lose there, "
        f"{label(worst, alone=True)} most: {_by(worst)}."
    )


def shown(changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Return the changes whose intervals are above zero, and those below."""
    known = [one for one in changes if one.ci is not None]
    return [one for one in known if one.ci and one.ci.low > 0], [
        one for one in known if one.ci and one.ci.high < 0
    ]


def _harmless(found: Repair) -> str:
    if found.harmless:
        return f"Every language pair is shown to lose less than {found.delta:g}."
    return f"It is not shown that every language pair loses less than {found.delta:g}."
