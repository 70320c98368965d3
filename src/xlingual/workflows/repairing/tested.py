"""The test: what the chosen transform changes on the part that took no part in the choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.comparison.outcome import too_few
from xlingual.evaluation.multilingual_pool.ranks import hubs_among
from xlingual.results import Interval
from xlingual.results.repair import BETTER, UNDECIDED, WORSE, Change, Hubs
from xlingual.stats import Paired, PairedTest, paired_test
from xlingual.stats.simultaneous import Several, max_t
from xlingual.streams import stream
from xlingual.workflows.repairing.parts import CROSSLINGUAL, HUB_PLACES, POOL, Found

ALL, OTHERS = "all", "others"
REPLICATES = 4999


@dataclass(frozen=True)
class Slice:
    """Values of the same questions before and after, in a language or pair of languages."""

    source: str
    target: str
    before: Floats  # [n]
    after: Floats  # [n]
    cluster: Ints  # [n]


@dataclass(frozen=True)
class Tested:
    """All changes."""

    whole: Change
    p: float
    outcome: str
    languages: list[Change]
    pairs: list[Change]
    monolingual: list[Change]
    other: Change | None
    bias: Change | None
    hubs: Hubs

    def fields(self, alpha: float) -> dict[str, Any]:
        """Return the changes as fields of the record, and whether every pair is shown to be unharmed.

        The p of "some pair loses delta or more" is the largest of any pair: an intersection–union test.
        """
        p = max((one.p_harmed for one in self.pairs), default=1.0)
        names = ("whole", "p", "languages", "pairs", "monolingual", "other", "bias", "hubs")
        return {name: getattr(self, name) for name in names} | {"p_harmed": p, "harmless": bool(p <= alpha)}


def tested(before: Found, after: Found, *, criterion: str, delta: float, alpha: float, seed: int) -> Tested:
    """Return what changes from one to the other, with paired intervals.

    The criterion over all questions with a test, and the other criterion beside it, each with an interval of
    its own; by language, by pair of languages and monolingually with intervals that hold together, those of
    all three lists (max-t).
    """
    everything, other = (_whole(before, after, of) for of in _both(criterion))
    assert everything is not None
    test = _test(everything, seed)
    lists = [
        list(_by_language(before, after, criterion)),
        list(_by_pair(before, after, criterion)),
        list(_monolingual(before, after)),
    ]
    languages, pairs, monolingual = _together(lists, delta, alpha, seed)
    return Tested(
        whole=_alone(everything, test, delta, alpha),
        p=1.0 if test is None else test.p,
        outcome=UNDECIDED if test is None or test.p > alpha else BETTER if test.difference > 0 else WORSE,
        languages=languages,
        pairs=pairs,
        monolingual=monolingual,
        other=None if other is None else _alone(other, _test(other, seed), delta, alpha),
        bias=_bias(before, after, delta, alpha, seed),
        hubs=Hubs(HUB_PLACES, _skewness(before), _skewness(after)),
    )


def _both(criterion: str) -> tuple[str, str]:
    return (criterion, POOL if criterion == CROSSLINGUAL else CROSSLINGUAL)


def _values(found: Found, criterion: str) -> tuple[Floats, str]:
    """Return the values of a criterion by question, NaN for none, and what they are searched in."""
    if criterion == CROSSLINGUAL:
        return found.crosslingual, OTHERS
    return found.precision, POOL


def _whole(before: Found, after: Found, criterion: str) -> Slice | None:
    values, target = _values(before, criterion)
    rows = np.flatnonzero(~np.isnan(values))
    if not len(rows):
        return None
    changed = _values(after, criterion)[0]
    return Slice(ALL, target, values[rows], changed[rows], before.ranked.ranks.cluster[rows])


def _by_language(before: Found, after: Found, criterion: str) -> Iterator[Slice]:
    counts = before.ranked.ranks
    values, target = _values(before, criterion)
    changed = _values(after, criterion)[0]
    for code, language in enumerate(counts.languages):
        rows = np.flatnonzero((counts.question_language == code) & ~np.isnan(values))
        if len(rows):
            yield Slice(language, target, values[rows], changed[rows], counts.cluster[rows])


def _by_pair(before: Found, after: Found, criterion: str) -> Iterator[Slice]:
    """Yield the pairs of languages: what a criterion is over, taken apart."""
    counts = before.ranked.ranks
    values, changed = (
        found.alone if criterion == CROSSLINGUAL else found.single for found in (before, after)
    )
    for code, asked in enumerate(counts.languages):
        own = counts.question_language == code
        for column, answered in enumerate(counts.languages):
            if criterion == CROSSLINGUAL and column == code:
                continue  # that is monolingual search
            rows = np.flatnonzero(own & ~np.isnan(values[:, column]))
            if len(rows):
                yield Slice(
                    asked, answered, values[rows, column], changed[rows, column], counts.cluster[rows]
                )


def _monolingual(before: Found, after: Found) -> Iterator[Slice]:
    counts = before.ranked.ranks
    for code, language in enumerate(counts.languages):
        rows = np.flatnonzero((counts.question_language == code) & ~np.isnan(before.monolingual))
        if len(rows):
            values = before.monolingual[rows], after.monolingual[rows]
            yield Slice(language, language, *values, counts.cluster[rows])


def _bias(before: Found, after: Found, delta: float, alpha: float, seed: int) -> Change | None:
    """Return how much better an answer in the own language is found than one in others, before and after."""
    counts = before.ranked.ranks
    own = np.arange(before.single.shape[1]) == counts.question_language[:, None]
    known = ~np.isnan(before.single)
    rows = np.flatnonzero((known & own).any(axis=1) & (known & ~own).any(axis=1))
    if not len(rows):
        return None
    gaps = _gap(before.single[rows], own[rows]), _gap(after.single[rows], own[rows])
    part = Slice(ALL, POOL, *gaps, counts.cluster[rows])
    test = _test(part, seed, span=2.0)
    return _alone(part, test, delta, alpha)


def _gap(single: Floats, own: np.ndarray) -> Floats:
    gap: Floats = np.nanmean(np.where(own, single, np.nan), axis=1) - np.nanmean(
        np.where(own, np.nan, single), axis=1
    )
    return gap


def _together(lists: Sequence[Sequence[Slice]], delta: float, alpha: float, seed: int) -> list[list[Change]]:
    """Return the change of each slice of several lists, with intervals that hold together, all of them."""
    enough = [part for parts in lists for part in parts if _enough(part)]
    several = Several([part.after - part.before for part in enough], [part.cluster for part in enough])
    rng = stream(seed, "repair|max-t")
    cis = iter(max_t(several, rng, level=1 - alpha) if enough else ())
    return [
        [
            _change(part, _test(part, seed), delta, alpha, next(cis) if _enough(part) else None)
            for part in parts
        ]
        for parts in lists
    ]


def _enough(part: Slice) -> bool:
    return not too_few(len(np.unique(part.cluster)))


def _test(part: Slice, seed: int, span: float = 1.0) -> PairedTest | None:
    if not _enough(part):
        return None
    n = len(part.cluster)
    data = Paired(part.after, part.before, np.full(n, 1 / n), part.cluster)
    rng = stream(seed, f"repair|{part.source}|{part.target}")
    return paired_test(data, rng=rng, replicates=REPLICATES, span=span)


def _alone(part: Slice, test: PairedTest | None, delta: float, alpha: float) -> Change:
    """Return the change of a slice with an interval of its own."""
    return _change(part, test, delta, alpha, None if test is None else test.interval(1 - alpha))


def _change(part: Slice, test: PairedTest | None, delta: float, alpha: float, ci: Interval | None) -> Change:
    before, after = float(part.before.mean()), float(part.after.mean())
    return Change(
        source=part.source,
        target=part.target,
        before=before,
        after=after,
        difference=after - before,
        ci=ci,
        least=None if test is None else test.lower(alpha),
        p_harmed=1.0 if test is None else float(test.p_above(-delta)),
        n_questions=len(part.cluster),
        n_clusters=len(np.unique(part.cluster)),
    )


def _skewness(found: Found) -> float:
    assert found.ranked.heads is not None
    return hubs_among(found.ranked.ranks, found.ranked.heads).hubness.skewness
